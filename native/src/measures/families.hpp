// Every native measure, family by family; table.cpp gives each its name.
#pragma once

#include "berryeval/measures.hpp"

namespace berryeval::formulas {

// precision.cpp
double precision(const JudgedRanking& judged, const Params& params);
double success(const JudgedRanking& judged, const Params& params);

// ndcg.cpp
double ndcg(const JudgedRanking& judged, const Params& params);

// average_precision.cpp
double average_precision(const JudgedRanking& judged, const Params& params);

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
