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

}  // namespace berryeval::formulas
