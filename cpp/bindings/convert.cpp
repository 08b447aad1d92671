#include <cmath>

#include "bindings.hpp"
#include "carc/core/error.hpp"
#include "carc/core/notation.hpp"

namespace carc::python {
namespace {

constexpr int kDeepest = 32;

Json convert(const py::handle& value, int depth) {
  if (depth > kDeepest) throw Error("found a value nested deeper than " + std::to_string(kDeepest) + " levels");
  if (value.is_none()) return nullptr;
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) return number;
    const unsigned long long large = PyLong_AsUnsignedLongLong(value.ptr());
    if (!PyErr_Occurred()) return large;
    PyErr_Clear();
    throw Error("found an integer outside 64 bits");
  }
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (py::isinstance<py::str>(value)) {
    Py_ssize_t length = 0;
    const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &length);
    if (text == nullptr) {
      PyErr_Clear();
      throw Error("found a text that is not valid Unicode");
    }
    return std::string(text, static_cast<std::size_t>(length));
  }
  if (py::isinstance<py::dict>(value)) {
    Json out = Json::object();
    for (const auto& [k, v] : py::reinterpret_borrow<py::dict>(value)) {
      if (!py::isinstance<py::str>(k)) throw Error("found the key " + found(k) + ", expected a text");
      out[convert(k, depth + 1).get<std::string>()] = convert(v, depth + 1);
    }
    return out;
  }
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    Json out = Json::array();
    for (const auto& item : value) out.push_back(convert(item, depth + 1));
    return out;
  }
  throw Error("found " + found(value) + ", expected a value that JSON can hold");
}

}  // namespace

std::string found(const py::handle& value) {
  std::string text = py::cast<std::string>(py::repr(value));
  if (text.size() > 60) text = text.substr(0, 60) + "...";
  return text + " (" + py::cast<std::string>(py::type::handle_of(value).attr("__name__")) + ")";
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
  if (py::isinstance<py::str>(action)) return string_to_action(state, to_json_value(action).get<std::string>());
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
  py::register_exception<RulesError>(m, "RulesError", error).attr("__doc__") =
      "An unknown rules option, value or preset.";
  py::register_exception<TileSetError>(m, "TileSetError", error).attr("__doc__") =
      "A tile set that describes no playable tiles.";
  py::register_exception<DeckError>(m, "DeckError", error).attr("__doc__") = "A deck that does not fit its game.";
}

}  // namespace carc::python
