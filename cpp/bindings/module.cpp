#include "bindings.hpp"

namespace {

newfunc make_instance = nullptr;

// The base of all bound classes has no instances of its own, but pybind11 ends the interpreter instead of saying so
// when one is made; copyreg does that for pickles of the protocols 0 and 1.
PyObject* make_no_base(PyTypeObject* type, PyObject* arguments, PyObject* options) {
  if (reinterpret_cast<PyObject*>(type) != pybind11::detail::get_internals().instance_base)
    return make_instance(type, arguments, options);
  PyErr_SetString(PyExc_TypeError,
                  "found the base of all classes of an extension module, expected one of them; "
                  "pickles need protocol 2 or later");
  return nullptr;
}

void guard_base() {
  auto* base = reinterpret_cast<PyTypeObject*>(pybind11::detail::get_internals().instance_base);
  if (base->tp_new == make_no_base) return;
  make_instance = base->tp_new;
  base->tp_new = make_no_base;
}

}  // namespace

PYBIND11_MODULE(_core, m) {
  m.doc() = "The engine, agents and matches of Carc, in C++.";
  m.attr("__version__") = CARC_VERSION;
  guard_base();
  carc::python::bind_errors(m);
  carc::python::bind_actions(m);
  carc::python::bind_rules(m);
  carc::python::bind_state(m);
  carc::python::bind_record(m);
  carc::python::bind_search(m);
  carc::python::bind_play(m);
  carc::python::bind_guests(m);
  carc::python::bind_neural(m);
  carc::python::bind_learning(m);
  carc::python::bind_turn_values(m);
  carc::python::bind_resnet(m);
  carc::python::bind_resnet_training(m);
}
