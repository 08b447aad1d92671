// The network `resnet` on board planes: its inputs, and what it says of positions.
#include <pybind11/numpy.h>

#include "bindings.hpp"
#include "carc/neural/batch_model.hpp"
#include "carc/neural/batching.hpp"
#include "carc/neural/planes.hpp"
#include "plane_arrays.hpp"

namespace carc::python {

// A network that Python asks about positions.
struct PyResnet {
  std::shared_ptr<const BatchModel> model;
};

namespace {

// carc._torch links LibTorch, which lies beside the installed package; elsewhere the process must have it loaded.
const BatchModelLoader* find_torch_loader() {
  const py::gil_scoped_acquire lock;
  try {
    py::object module;
    try {
      module = py::module_::import("carc._torch");
    } catch (const py::error_already_set& first) {
      if (!first.matches(PyExc_ImportError) || first.matches(PyExc_ModuleNotFoundError)) throw;
      py::module_::import("torch");
      module = py::module_::import("carc._torch");
    }
    const py::object capsule = module.attr("loader");
    void* loader = PyCapsule_GetPointer(capsule.ptr(), kLoaderCapsule);
    if (!loader) throw py::error_already_set();
    return static_cast<const BatchModelLoader*>(loader);
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    throw Error("networks of format " + std::string(kResnetFormat) + " need carc._torch, which could not be loaded (" +
                std::string(py::str(error.value())) +
                "), expected a build with PyTorch installed (CARC_BUILD_TORCH=ON)");
  }
}

using States = Many<PyState, "states">;
using ArrayDict = py::typing::Dict<py::str, py::array>;

template <class T>
py::array_t<T> array_of(const std::vector<py::ssize_t>& shape, const T* data) {
  return py::array_t<T>(shape, data);
}

std::vector<PlaneInput> encode_all(const std::vector<PyState>& states) {
  std::vector<PlaneInput> out(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) encode_planes(states[i].state, out[i]);
  return out;
}

void require_open(const States& states, const std::string& what) {
  if (states.items.empty()) throw Error(what + ": found no states, expected one at least");
  for (std::size_t i = 0; i < states.items.size(); ++i) {
    if (states.items[i].state.is_terminal())
      throw Error(what + ": states[" + std::to_string(i) + "]: found a finished game, expected one that goes on");
  }
}

ArrayDict planes_of(const States& states) {
  require_open(states, "encode_planes");
  const std::vector<PlaneInput> inputs = encode_all(states.items);
  PlaneBatch batch;
  std::vector<const PlaneInput*> pointers;
  std::vector<float> base;
  std::vector<std::uint8_t> perspective;
  std::vector<std::int16_t> origin;
  for (const PlaneInput& input : inputs) {
    pointers.push_back(&input);
    base.insert(base.end(), input.base.begin(), input.base.end());
    perspective.push_back(static_cast<std::uint8_t>(input.perspective));
    origin.insert(origin.end(), {input.origin.x, input.origin.y});
  }
  batch.assign(pointers);
  const auto n = static_cast<py::ssize_t>(inputs.size());
  const py::ssize_t height = batch.height, width = batch.width;
  ArrayDict out;
  out["planes"] = planes_array(batch);
  out["mask"] = array_of<float>({n, 1, height, width}, batch.mask.data());
  out["globals"] = array_of<float>({n, kPlaneGlobals}, batch.globals.data());
  out["base"] = array_of<float>({n, kMaxPlayers}, base.data());
  out["perspective"] = array_of<std::uint8_t>({n}, perspective.data());
  out["origin"] = array_of<std::int16_t>({n, 2}, origin.data());
  return out;
}

// (plane, y, x) of every legal action in its position's own window; plane -1: no figure.
py::array_t<std::int16_t> policy_places(const PyState& state) {
  if (state.state.is_terminal() || state.state.is_chance_node())
    throw IllegalAction("policy_places: found a position where nobody decides, expected phase place or figure");
  PlaneInput input;
  encode_planes(state.state, input);
  ActionList actions;
  state.state.legal_actions(actions);
  py::array_t<std::int16_t> out({static_cast<py::ssize_t>(actions.size()), py::ssize_t{3}});
  auto rows = out.mutable_unchecked<2>();
  for (int i = 0; i < actions.size(); ++i) {
    const PolicyPlace place = policy_place(state.state, input, actions[i]);
    rows(i, 0) = place.plane, rows(i, 1) = place.y, rows(i, 2) = place.x;
  }
  return out;
}

using Judgement = py::typing::Tuple<py::array_t<float>, py::array_t<float>, py::typing::List<py::array_t<float>>>;

Judgement judge(const PyResnet& net, const States& states) {
  require_open(states, "evaluate");
  const std::vector<PyState> copies = states.items;
  const std::size_t n = copies.size();
  std::vector<Values> values(n);
  std::vector<float> leads(n * kLeadBins);
  std::vector<std::vector<float>> priors(n);
  {
    const py::gil_scoped_release release;
    const std::vector<PlaneInput> inputs = encode_all(copies);
    std::vector<std::vector<PolicyPlace>> places(n);
    std::vector<Question> questions;
    ActionList actions;
    for (std::size_t i = 0; i < n; ++i) {
      if (!copies[i].state.is_chance_node()) {
        copies[i].state.legal_actions(actions);
        for (const Action a : actions) places[i].push_back(policy_place(copies[i].state, inputs[i], a));
      }
      priors[i].resize(places[i].size());
      questions.push_back({&inputs[i], &values[i], places[i], priors[i].data(), leads.data() + i * kLeadBins});
    }
    BatchMemory memory;
    answer(*net.model, questions, memory);
  }
  py::typing::List<py::array_t<float>> policies;
  for (const std::vector<float>& p : priors)
    policies.append(array_of<float>({static_cast<py::ssize_t>(p.size())}, p.data()));
  const auto rows = static_cast<py::ssize_t>(n);
  return py::make_tuple(array_of<float>({rows, kMaxPlayers}, values.data()->data()),
                        array_of<float>({rows, kLeadBins}, leads.data()), policies);
}

}  // namespace

void bind_resnet(py::module_& m) {
  register_batch_model_loader(&find_torch_loader);
  m.def(
      "plane_encoder",
      [] {
        py::typing::Dict<py::str, py::object> out;
        out["version"] = kPlaneEncoder;
        out["planes"] = plane_names();
        out["globals"] = plane_global_names();
        out["policy_planes"] = kPolicyPlanes;
        out["players"] = kMaxPlayers;
        out["lead_bins"] = kLeadBins;
        out["lead_lowest"] = kLeadLowest;
        out["lead_bin_points"] = kLeadBinPoints;
        out["points_unit"] = kPointsUnit;
        return out;
      },
      "What the network `resnet` reads and says: version of the encoder; names of the planes and of the numbers of the "
      "whole position; planes of the policy; seats; bins of the distribution of the final lead, the first one's lead "
      "and their width in points; points that a value of 1 stands for.");
  m.def("encode_planes", &planes_of, py::arg("states"),
        "The inputs of the network `resnet` for positions that are not over, in one window [H, W]: float32 `planes` "
        "[N, planes, H, W], `mask` [N, 1, H, W], `globals` [N, numbers], `base` [N, 5] (points if the game ended now, "
        "which the network's values are added to), uint8 `perspective` [N] (the player whom all else counts from), "
        "int16 `origin` [N, 2] (x, y of the window's north-west cell).");
  m.def("policy_places", &policy_places, py::arg("state"),
        "Where the policy of the network `resnet` has each legal action: int16 [actions, 3] of plane, y, x in the "
        "position's window; plane -1 is the number for no figure.");
  py::class_<PyResnet>(m, "Resnet",
                       "A network on board planes from a file of weights, computed by LibTorch on one core. Needs "
                       "carc._torch; raises WeightsError for a file that holds no such network.")
      .def(py::init([](const Path<"path">& path) { return PyResnet{load_batch_model(path.value)}; }), py::arg("path"))
      .def("evaluate", &judge, py::arg("states"),
           "Judge positions that are not over in one batch: float32 values [N, 5] (expected final points of each "
           "player), float32 leads [N, bins] (probabilities of the final lead of the player who decides), and for each "
           "position the probabilities of its legal actions (none where a tile is to be drawn).");
}

}  // namespace carc::python
