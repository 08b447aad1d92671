// How Python values are read and shown, and how errors turn over.
#include <cmath>

#include "bindings.hpp"
#include "carc/core/error.hpp"
#include "carc/core/notation.hpp"
#include "carc/core/options.hpp"
#include "carc/neural/weights.hpp"

namespace carc::python {
namespace {

constexpr int kDeepest = 32;

// Drops the exception that is set, unless it is one that ends the program, such as KeyboardInterrupt.
void drop_exception() {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw py::error_already_set();
  PyErr_Clear();
}

std::optional<py::object> checked(PyObject* made) {
  if (made) return py::reinterpret_steal<py::object>(made);
  drop_exception();
  return std::nullopt;
}

std::string type_name(const PyTypeObject* type) {
  const std::string full_name = type->tp_name;
  return full_name.substr(full_name.find_last_of('.') + 1);
}

std::string bytes_of(const py::object& bytes) {
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

Json convert(const py::handle& value, int depth) {
  constexpr const char* kExpected = ", expected a value that JSON can hold";
  if (depth > kDeepest) throw Error("found a value nested deeper than " + std::to_string(kDeepest) + " levels");
  if (value.is_none()) return nullptr;
  if (const auto flag = as_flag(value)) return *flag;
  if (PyIndex_Check(value.ptr())) {
    constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
    const auto bits = as_whole(value, kLow, std::numeric_limits<std::uint64_t>::max());
    if (!bits) throw Error("found " + found(value) + ", expected an integer of 64 bits");
    if (as_whole(value, kLow, std::numeric_limits<std::int64_t>::max())) return static_cast<std::int64_t>(*bits);
    return *bits;
  }
  if (PyFloat_Check(value.ptr())) {
    const double number = PyFloat_AS_DOUBLE(value.ptr());
    if (!std::isfinite(number)) throw Error("found " + found(value) + kExpected);
    return number;
  }
  if (PyUnicode_Check(value.ptr())) {
    const auto text = as_text(value);
    if (!text) throw Error("found " + found(value) + ", expected a text in valid Unicode");
    return *text;
  }
  if (PyDict_Check(value.ptr())) {
    Json out = Json::object();
    // A copy, as reading a value may run code of Python that changes the dict.
    const auto items = py::reinterpret_steal<py::dict>(PyDict_Copy(value.ptr()));
    for (const auto& [k, v] : items) {
      const auto key = as_text(k);
      if (!key) throw Error("found the key " + found(k) + ", expected a text in valid Unicode");
      out[*key] = convert(v, depth + 1);
    }
    return out;
  }
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    Json out = Json::array();
    for (const auto& item : value) out.push_back(convert(item, depth + 1));
    return out;
  }
  throw Error("found " + found(value) + kExpected);
}

}  // namespace

void require_value(const py::handle& object, const py::detail::type_info* type) {
  if (!object || !type || !PyType_IsSubtype(Py_TYPE(object.ptr()), type->type)) return;
  auto* instance = reinterpret_cast<py::detail::instance*>(object.ptr());
  bool holds = true;
  if (instance->simple_layout) {
    holds = instance->simple_value_holder[0] != nullptr;
  } else {
    for (const auto& part : py::detail::values_and_holders(instance)) holds &= static_cast<bool>(part);
  }
  if (!holds) {
    throw Error("found an uninitialised " + type_name(type->type) + ", expected one whose __init__ has run");
  }
}

std::string found(const py::handle& value) {
  constexpr std::size_t kLongest = 60;
  const std::string type = type_name(Py_TYPE(value.ptr()));
  const auto shown = checked(PyObject_Repr(value.ptr()));
  const auto bytes =
      shown ? checked(PyUnicode_AsEncodedString(shown->ptr(), "utf-8", "backslashreplace")) : std::nullopt;
  if (!bytes) return "a value without repr (" + type + ")";
  const std::string text = bytes_of(*bytes);
  return (text.size() > kLongest ? text.substr(0, kLongest) + "..." : text) + " (" + type + ")";
}

std::optional<std::string> as_text(const py::handle& value) {
  if (!PyUnicode_Check(value.ptr())) return std::nullopt;
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &length);
  if (text) return std::string(text, static_cast<std::size_t>(length));
  drop_exception();
  return std::nullopt;
}

std::optional<std::string> as_path(const py::handle& value) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(value.ptr(), &bytes)) return bytes_of(py::reinterpret_steal<py::object>(bytes));
  drop_exception();
  return std::nullopt;
}

std::optional<bool> as_flag(const py::handle& value) {
  const std::string type = Py_TYPE(value.ptr())->tp_name;
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
  if (type == "numpy.bool" || type == "numpy.bool_") return PyObject_IsTrue(value.ptr()) == 1;
  return std::nullopt;
}

std::optional<std::uint64_t> as_whole(const py::handle& value, std::int64_t low, std::uint64_t high) {
  if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr())) return std::nullopt;
  const auto number = checked(PyNumber_Index(value.ptr()));
  if (!number) return std::nullopt;
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(number->ptr(), &overflow);
  const auto bits = static_cast<std::uint64_t>(small);
  if (overflow == 0) return small < low || (small >= 0 && bits > high) ? std::nullopt : std::optional(bits);
  if (overflow < 0) return std::nullopt;
  const unsigned long long large = PyLong_AsUnsignedLongLong(number->ptr());
  if (!PyErr_Occurred()) return large > high ? std::nullopt : std::optional<std::uint64_t>(large);
  drop_exception();
  return std::nullopt;
}

Json to_json_value(const py::handle& value) { return convert(value, 0); }

py::object from_json_value(const Json& value) {
  switch (value.type()) {
    case Json::value_t::boolean:
      return py::bool_(value.get<bool>());
    case Json::value_t::number_integer:
      return py::int_(value.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return py::int_(value.get<std::uint64_t>());
    case Json::value_t::number_float:
      return py::float_(value.get<double>());
    case Json::value_t::string:
      return py::str(value.get<std::string>());
    case Json::value_t::array: {
      py::list out;
      for (const Json& item : value) out.append(from_json_value(item));
      return out;
    }
    case Json::value_t::object: {
      py::dict out;
      for (const auto& [key, item] : value.items()) out[py::str(key)] = from_json_value(item);
      return out;
    }
    default:
      return py::none();
  }
}

PointsDict points_dict(const Points& points, int players) {
  PointsDict out;
  for (std::size_t k = 0; k < kScoringKinds; ++k) {
    py::list list;
    for (std::size_t p = 0; p < static_cast<std::size_t>(players); ++p) list.append(points.by_kind[k][p]);
    out[kFeatureKindNames[k]] = list;
  }
  return out;
}

Action to_action(const GameState& state, const py::object& action) {
  if (py::isinstance<Action>(action)) return action.cast<Action>();
  if (const auto text = as_text(action)) return string_to_action(state, *text);
  if (py::isinstance<py::str>(action))
    throw NotationError("found " + found(action) + ", expected the text of an action");
  throw IllegalAction("found " + found(action) + ", expected an Action or its text");
}

void bind_errors(py::module_& m) {
  static const auto error = py::register_exception<Error>(m, "Error");
  error.attr("__doc__") = "Base of all errors for bad input; the message names what was found and what was expected.";
  py::register_exception<IllegalAction>(m, "IllegalAction", error).attr("__doc__") =
      "An action that the rules do not allow here.";
  py::register_exception<NotationError>(m, "NotationError", error).attr("__doc__") = "Text that is no action.";
  py::register_exception<RecordError>(m, "RecordError", error).attr("__doc__") =
      "A damaged or contradictory record or state.";
  py::register_exception<OptionError>(m, "OptionError", error).attr("__doc__") =
      "An unknown option of an agent, or a value out of its range.";
  py::register_exception<RulesError>(m, "RulesError", error).attr("__doc__") =
      "An unknown rules option, value or preset.";
  py::register_exception<TileSetError>(m, "TileSetError", error).attr("__doc__") =
      "A tile set that describes no playable tiles.";
  py::register_exception<DeckError>(m, "DeckError", error).attr("__doc__") = "A deck that does not fit its game.";
  py::register_exception<WeightsError>(m, "WeightsError", error).attr("__doc__") =
      "Weights of a network that are damaged, or of another network than expected.";
}

}  // namespace carc::python
