#pragma once

#include <nanobind/nanobind.h>

void bind_fusion(nanobind::module_& module);
