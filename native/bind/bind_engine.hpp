#pragma once

#include <nanobind/nanobind.h>

void bind_engine(nanobind::module_& module);
