// Weights of networks as files.
#include <cstring>
#include <optional>

#include <pybind11/numpy.h>

#include "bindings.hpp"
#include "carc/neural/weights.hpp"

namespace carc::python {
namespace {

using Array = py::array_t<float>;
using MetadataDict = py::typing::Dict<py::str, py::str>;
using TensorsDict = py::typing::Dict<py::str, Array>;
using WeightsPath = Path<"path", WeightsError>;
using Encoder = Whole<int, "encoder", 0, std::numeric_limits<int>::max(), WeightsError>;

std::string name_in(const py::handle& key, const std::string& what) {
  auto name = as_text(key);
  if (!name) refuse<WeightsError>(what, key, "a text in valid Unicode");
  return std::move(*name);
}

std::map<std::string, std::string> metadata_of(const py::dict& given) {
  std::map<std::string, std::string> out;
  // A copy, as reading a value may run code of Python that changes the dict.
  const auto items = py::reinterpret_steal<py::dict>(PyDict_Copy(given.ptr()));
  for (const auto& [key, value] : items) {
    const std::string name = name_in(key, "metadata: key");
    out[name] = name_in(value, "metadata: " + quote(name));
  }
  return out;
}

Tensor tensor_of(const std::string& name, const py::handle& value) {
  // Other types are refused rather than rounded.
  if (!py::isinstance<py::array>(value) || !py::isinstance<Array>(value)) {
    const std::string type = py::isinstance<py::array>(value) ? " of " + std::string(py::str(value.attr("dtype"))) : "";
    throw WeightsError("tensor " + quote(name) + ": found " + found(value) + type +
                       ", expected a NumPy array of float32");
  }
  const auto array = py::array_t < float, py::array::c_style | py::array::forcecast > ::ensure(value);
  if (!array) throw py::error_already_set();
  Tensor out{{array.shape(), array.shape() + array.ndim()}, {}};
  out.values.assign(array.data(), array.data() + array.size());
  return out;
}

py::str write(const WeightsPath& path, const MetadataDict& metadata, const TensorsDict& tensors) {
  Weights weights;
  weights.metadata = metadata_of(metadata);
  const auto items = py::reinterpret_steal<py::dict>(PyDict_Copy(tensors.ptr()));
  for (const auto& [key, value] : items) {
    const std::string name = name_in(key, "name of a tensor");
    weights.tensors[name] = tensor_of(name, value);
  }
  std::string checksum;
  {
    const py::gil_scoped_release release;
    checksum = write_weights(path.value, std::move(weights));
  }
  return checksum;
}

py::typing::Tuple<MetadataDict, TensorsDict> read(const WeightsPath& path,
                                                  const std::optional<Text<"format", WeightsError>>& format,
                                                  const std::optional<Encoder>& encoder) {
  if (format.has_value() != encoder.has_value())
    throw WeightsError("found one of format and encoder, expected both or neither");
  Weights weights;
  {
    const py::gil_scoped_release release;
    weights = format ? read_weights(path.value, format->value, *encoder) : read_weights(path.value);
  }
  MetadataDict metadata;
  for (const auto& [key, value] : weights.metadata) metadata[py::str(key)] = py::str(value);
  TensorsDict tensors;
  for (const auto& [name, tensor] : weights.tensors) {
    Array array(std::vector<py::ssize_t>(tensor.shape.begin(), tensor.shape.end()));
    std::memcpy(array.mutable_data(), tensor.values.data(), tensor.values.size() * sizeof(float));
    tensors[py::str(name)] = std::move(array);
  }
  return py::make_tuple(std::move(metadata), std::move(tensors));
}

}  // namespace

void bind_neural(py::module_& m) {
  m.def(
      "read_weights", &read, py::arg("path"), py::arg("format") = std::nullopt, py::arg("encoder") = std::nullopt,
      "Read a safetensors file of weights: (metadata, float32 array by name). With `format` and `encoder`, weights of "
      "another kind of network or another version of its inputs are refused. Raises WeightsError naming what is "
      "wrong with a file; one is read completely and its checksum compared.");
  m.def(
      "write_weights", &write, py::arg("path"), py::arg("metadata"), py::arg("tensors"),
      "Write weights as a safetensors file, completely or not at all, and return the checksum, which the metadata "
      "gets as \"checksum\". `metadata` holds texts, \"format\" (the kind of network) and \"encoder\" (the version of "
      "its inputs, a whole number) among them. Raises WeightsError for what could not be read again.");
}

}  // namespace carc::python
