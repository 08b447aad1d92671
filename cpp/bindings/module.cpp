#include "bindings.hpp"

PYBIND11_MODULE(_core, m) {
  m.doc() = "The engine, agents and matches of Carc, in C++.";
  m.attr("__version__") = CARC_VERSION;
  carc::python::bind_errors(m);
  carc::python::bind_actions(m);
  carc::python::bind_rules(m);
  carc::python::bind_state(m);
  carc::python::bind_record(m);
  carc::python::bind_play(m);
}
