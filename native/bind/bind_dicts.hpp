#pragma once

#include <nanobind/nanobind.h>

void bind_dicts(nanobind::module_& module);
