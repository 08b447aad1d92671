// Board planes as an array of NumPy.
#pragma once

#include <pybind11/numpy.h>

#include "carc/neural/planes.hpp"

namespace carc::python {

// [size, kPlanes, height, width] in the memory order of the batch, which PyTorch calls channels_last.
inline pybind11::array planes_array(const PlaneBatch& batch) {
  const pybind11::array_t<float> by_cell({batch.size, batch.height, batch.width, kPlanes}, batch.planes.data());
  return by_cell.attr("transpose")(0, 3, 1, 2);
}

}  // namespace carc::python
