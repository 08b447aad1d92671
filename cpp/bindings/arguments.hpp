// Arguments that know what they accept. A parameter of type Whole<int, "threads", 1, 1024> takes a whole number of that
// range; everything else is refused in one place, before the call, by an error of the carc::Error family that names the
// argument, what was found and what was expected. Values of the bound classes are refused in the same way if their
// constructor never ran, as after X.__new__(X).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "carc/core/error.hpp"

namespace carc {
class Action;
class ActionList;
class GameRecord;
class Rng;
struct Feature;
struct Figure;
struct Findings;
struct GameResult;
struct RandomGames;
struct ActionReport;
struct SearchResult;
struct Solution;
struct TileSet;
}  // namespace carc

namespace carc::python {

namespace py = pybind11;

struct NamedAgent;
struct PyAgent;
struct PyDeck;
struct PyFeatureNet;
struct PyPlaneExamples;
struct PyProgram;
struct PyResnet;
struct PyRules;
struct PyState;
struct PyTile;

// Every class that Python sees: a class that is not listed could be used without having been constructed.
template <class T, class... Classes>
inline constexpr bool kIsAnyOf = (std::is_same_v<T, Classes> || ...);
template <class T>
inline constexpr bool kIsBound =
    kIsAnyOf<T, Action, ActionList, Feature, Figure, Findings, GameRecord, GameResult, NamedAgent, PyAgent, PyDeck,
             PyFeatureNet, PyPlaneExamples, PyProgram, PyResnet, PyRules, PyState, PyTile, RandomGames, Rng, TileSet,
             ActionReport, SearchResult, Solution>;

// Throws Error if `object` is of the bound class but holds no value.
void require_value(const py::handle& object, const py::detail::type_info* type);

// What was found, for messages: "42 (int)". A value that cannot show itself is only named by its type.
std::string found(const py::handle& value);

template <class E>
[[noreturn]] void refuse(const std::string& name, const py::handle& value, const std::string& expected) {
  throw E(name + ": found " + found(value) + ", expected " + expected);
}

// How values are read; nothing if they are of another kind.
std::optional<std::string> as_text(const py::handle& value);  // a str that is valid Unicode, as UTF-8
std::optional<std::string> as_path(const py::handle& value);  // str, bytes or os.PathLike
std::optional<bool> as_flag(const py::handle& value);         // a bool of Python or NumPy
// The bits of an int, or of what has __index__ (NumPy's integers), from `low` to `high`; a bool is no number.
std::optional<std::uint64_t> as_whole(const py::handle& value, std::int64_t low, std::uint64_t high);

// The name of an argument, as a template argument.
template <std::size_t n>
struct Name {
  char text[n]{};
  constexpr Name(const char (&from)[n]) { std::copy_n(from, n, text); }
};

template <class T, Name argument, T low = std::numeric_limits<T>::min(), T high = std::numeric_limits<T>::max(),
          class E = Error>
struct Whole {
  T value{};
  constexpr operator T() const { return value; }
};

template <Name argument, class E = Error>
struct Text {
  std::string value;
  operator const std::string&() const { return value; }
};

template <Name argument, class E = Error>
struct Path {
  std::string value;
};

template <Name argument>
struct Flag {
  bool value = false;
};

// A list or another sequence, but no text.
template <class T, Name argument, class E = Error>
struct Many {
  std::vector<T> items;
  std::vector<std::string> texts() const { return {items.begin(), items.end()}; }
};

// What a pickle holds: a tuple of one item.
template <class Item>
struct Pickled {
  Item item;
};

// copy.copy and copy.deepcopy of a value type.
template <class Class>
void bind_copies(Class& bound) {
  using T = typename Class::type;
  bound.def("__copy__", [](const T& self) { return T(self); });
  bound.def("__deepcopy__", [](const T& self, const py::dict&) { return T(self); }, py::arg("memo"));
}

}  // namespace carc::python

namespace pybind11::detail {

template <class T>
class type_caster<T, std::enable_if_t<carc::python::kIsBound<T>>> : public type_caster_base<T> {
 public:
  bool load(handle source, bool convert) {
    carc::python::require_value(source, this->typeinfo);
    return type_caster_base<T>::load(source, convert);
  }
};

template <class T, carc::python::Name argument, T low, T high, class E>
class type_caster<carc::python::Whole<T, argument, low, high, E>> {
  using Value = carc::python::Whole<T, argument, low, high, E>;

 public:
  PYBIND11_TYPE_CASTER(Value, const_name("typing.SupportsIndex"));
  bool load(handle source, bool) {
    const auto bits = carc::python::as_whole(source, static_cast<std::int64_t>(low), static_cast<std::uint64_t>(high));
    if (!bits) {
      carc::python::refuse<E>(argument.text, source,
                              "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    }
    value.value = static_cast<T>(*bits);
    return true;
  }
  static handle cast(const Value& source, return_value_policy, handle) { return int_(source.value).release(); }
};

template <carc::python::Name argument, class E>
class type_caster<carc::python::Text<argument, E>> {
  using Value = carc::python::Text<argument, E>;

 public:
  PYBIND11_TYPE_CASTER(Value, const_name("str"));
  bool load(handle source, bool) {
    auto text = carc::python::as_text(source);
    if (!text) carc::python::refuse<E>(argument.text, source, "a text in valid Unicode");
    value.value = std::move(*text);
    return true;
  }
  static handle cast(const Value& source, return_value_policy, handle) { return str(source.value).release(); }
};

template <carc::python::Name argument, class E>
class type_caster<carc::python::Path<argument, E>> {
  using Value = carc::python::Path<argument, E>;

 public:
  PYBIND11_TYPE_CASTER(Value, const_name("str | os.PathLike[str]"));
  bool load(handle source, bool) {
    auto path = carc::python::as_path(source);
    if (!path) carc::python::refuse<E>(argument.text, source, "the path of a file");
    value.value = std::move(*path);
    return true;
  }
};

template <carc::python::Name argument>
class type_caster<carc::python::Flag<argument>> {
  using Value = carc::python::Flag<argument>;

 public:
  PYBIND11_TYPE_CASTER(Value, const_name("bool"));
  bool load(handle source, bool) {
    const auto flag = carc::python::as_flag(source);
    if (!flag) carc::python::refuse<carc::Error>(argument.text, source, "True or False");
    value.value = *flag;
    return true;
  }
  static handle cast(const Value& source, return_value_policy, handle) { return bool_(source.value).release(); }
};

template <class T, carc::python::Name argument, class E>
class type_caster<carc::python::Many<T, argument, E>> {
  using Value = carc::python::Many<T, argument, E>;

 public:
  PYBIND11_TYPE_CASTER(Value, const_name("collections.abc.Sequence[") + make_caster<T>::name + const_name("]"));
  bool load(handle source, bool) {
    if (!isinstance<sequence>(source) || PyUnicode_Check(source.ptr()) || PyBytes_Check(source.ptr()) ||
        PyByteArray_Check(source.ptr())) {
      carc::python::refuse<E>(argument.text, source, "a list");
    }
    for (const handle item : reinterpret_borrow<object>(source)) value.items.push_back(item.cast<T>());
    return true;
  }
  static handle cast(const Value& source, return_value_policy, handle) {
    list out;
    for (const T& item : source.items) out.append(item);
    return out.release();
  }
};

template <class Item>
class type_caster<carc::python::Pickled<Item>> {
  using Value = carc::python::Pickled<Item>;

 public:
  PYBIND11_TYPE_CASTER(Value, const_name("tuple[") + make_caster<Item>::name + const_name("]"));
  bool load(handle source, bool) {
    if (!PyTuple_Check(source.ptr()) || PyTuple_GET_SIZE(source.ptr()) != 1)
      carc::python::refuse<carc::Error>("pickle", source, "a tuple of one value");
    value.item = handle(PyTuple_GET_ITEM(source.ptr(), 0)).cast<Item>();
    return true;
  }
  static handle cast(const Value& source, return_value_policy, handle) {
    return pybind11::make_tuple(source.item).release();
  }
};

}  // namespace pybind11::detail
