// The native module of BerryEval.
#include <nanobind/nanobind.h>

#include "bind_arrays.hpp"
#include "bind_dicts.hpp"
#include "bind_engine.hpp"
#include "bind_fusion.hpp"
#include "bind_resampling.hpp"
#include "bind_tables.hpp"

NB_MODULE(_native, module) {
  module.doc() = "Native twins of BerryEval's Python reference implementations.";
  bind_arrays(module);
  bind_dicts(module);
  bind_engine(module);
  bind_fusion(module);
  bind_resampling(module);
  bind_tables(module);
}
