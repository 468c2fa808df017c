#pragma once

#include <nanobind/nanobind.h>

void bind_resampling(nanobind::module_& module);
