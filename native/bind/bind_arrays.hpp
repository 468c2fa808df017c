#pragma once

#include <nanobind/nanobind.h>

void bind_arrays(nanobind::module_& module);
