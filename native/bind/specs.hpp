// Metrics and ranking rules that Python asks for.
#pragma once

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "berryeval/evaluate.hpp"

template <class T>
using ByName = std::map<std::string, T>;
// name, numbers, words and lists by parameter, gains by level
using SpecArrays = std::tuple<std::string, ByName<double>, ByName<std::string>,
                              ByName<std::vector<double>>, std::vector<std::pair<double, double>>>;

std::vector<berryeval::Spec> specs_of(const std::vector<SpecArrays>& named);

berryeval::RankingRule rule_of(const std::string& ties, bool single_precision, std::size_t depth);
