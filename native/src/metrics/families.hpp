// Every native metric, family by family; table.cpp gives each its name.
#pragma once

#include "berryeval/metrics.hpp"

namespace berryeval::formulas {

// precision.cpp
double precision(const JudgedRanking& judged, const Params& params);
double success(const JudgedRanking& judged, const Params& params);

// recall.cpp
double recall(const JudgedRanking& judged, const Params& params);
double relative_precision(const JudgedRanking& judged, const Params& params);
double f1(const JudgedRanking& judged, const Params& params);
double r_precision(const JudgedRanking& judged, const Params& params);
double r_precision_multiple(const JudgedRanking& judged, const Params& params);

// sets.cpp
double set_precision(const JudgedRanking& judged, const Params& params);
double set_relative_precision(const JudgedRanking& judged, const Params& params);
double set_recall(const JudgedRanking& judged, const Params& params);
double set_f(const JudgedRanking& judged, const Params& params);
double set_average_precision(const JudgedRanking& judged, const Params& params);

// reciprocal_rank.cpp
double reciprocal_rank(const JudgedRanking& judged, const Params& params);

// average_precision.cpp
double average_precision(const JudgedRanking& judged, const Params& params);
double geometric_average_precision(const JudgedRanking& judged, const Params& params);
double yet_another_average_precision(const JudgedRanking& judged, const Params& params);

// interpolated.cpp
double interpolated_precision(const JudgedRanking& judged, const Params& params);
double average_interpolated_precision(const JudgedRanking& judged, const Params& params);

// bpref.cpp
double bpref(const JudgedRanking& judged, const Params& params);
double geometric_bpref(const JudgedRanking& judged, const Params& params);
double inferred_average_precision(const JudgedRanking& judged, const Params& params);

// ndcg.cpp
double ndcg(const JudgedRanking& judged, const Params& params);
double discounted_gain(const JudgedRanking& judged, const Params& params);
double ideal_gain(const JudgedRanking& judged, const Params& params);
double ndcg_at_relevant(const JudgedRanking& judged, const Params& params);
double ndcg_at_changes(const JudgedRanking& judged, const Params& params);

// gain_ratio.cpp
double binary_g(const JudgedRanking& judged, const Params& params);
double g(const JudgedRanking& judged, const Params& params);

// rbp.cpp
double rank_biased_precision(const JudgedRanking& judged, const Params& params);
double rbp_residual(const JudgedRanking& judged, const Params& params);

// counts.cpp
double number_of_queries(const JudgedRanking& judged, const Params& params);
double number_retrieved(const JudgedRanking& judged, const Params& params);
double number_relevant(const JudgedRanking& judged, const Params& params);
double number_relevant_retrieved(const JudgedRanking& judged, const Params& params);
double number_nonrelevant_retrieved(const JudgedRanking& judged, const Params& params);
double unjudged(const JudgedRanking& judged, const Params& params);
double utility(const JudgedRanking& judged, const Params& params);

// err.cpp
double expected_reciprocal_rank(const JudgedRanking& judged, const Params& params);

// judged.cpp
double judged_share(const JudgedRanking& judged, const Params& params);
double accuracy(const JudgedRanking& judged, const Params& params);

// compat.cpp
double compatibility(const JudgedRanking& judged, const Params& params);

// cwl.cpp
double scaled_dcg(const JudgedRanking& judged, const Params& params);
double bejeweled_player(const JudgedRanking& judged, const Params& params);
double insq(const JudgedRanking& judged, const Params& params);
double inst(const JudgedRanking& judged, const Params& params);
double nerr8(const JudgedRanking& judged, const Params& params);
double nerr9(const JudgedRanking& judged, const Params& params);
double nerr10(const JudgedRanking& judged, const Params& params);
double nerr11(const JudgedRanking& judged, const Params& params);

}  // namespace berryeval::formulas
