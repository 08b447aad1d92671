// carc._torch: the networks that need a tensor library, computed by LibTorch (the one inside pip's torch).
//
// The only file with torch's headers, and none of pybind11's: torch brings its own copy of those, so the module is
// written against Python's C API, which is all that one capsule needs. Python: carc.learn.resnet holds the same
// network.
#include <array>
#include <map>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <Python.h>
#include <c10/core/InferenceMode.h>

#include "carc/neural/batch_model.hpp"
#include "carc/neural/planes.hpp"
#include "carc/neural/weights.hpp"

namespace carc {
namespace {

constexpr int kMostChannels = 1024, kMostBlocks = 256;
constexpr double kPoolScale = 64;  // cells that count as 1 where planes are summed

struct Layer {
  at::Tensor weight, bias;
};

struct Block {
  Layer first, second, pool;  // pool: every second block
};

class Resnet final : public BatchModel {
 public:
  explicit Resnet(const Weights& weights);
  void forward(const BatchInput& in, const BatchOutput& out) const override;

 private:
  // Mean, sum / kPoolScale and maximum over a position's cells; x >= 0, and zero beyond them.
  static at::Tensor pooled(const at::Tensor& x, const at::Tensor& cells) {
    const at::Tensor sum = x.sum({2, 3});
    return at::cat({sum / cells, sum / kPoolScale, x.amax({2, 3})}, 1);
  }
  static at::Tensor conv(const Layer& layer, const at::Tensor& x) {
    const auto padding = layer.weight.size(2) / 2;
    return at::conv2d(x, layer.weight, layer.bias, {1, 1}, {padding, padding});
  }
  static at::Tensor linear(const Layer& layer, const at::Tensor& x) { return at::linear(x, layer.weight, layer.bias); }
  static at::Tensor over_cells(const at::Tensor& x) { return x.unsqueeze(2).unsqueeze(3); }

  Layer stem_, globals_, policy_, policy_pool_, policy_out_, hidden_, outputs_, cells_;
  std::vector<Block> blocks_;
};

Resnet::Resnet(const Weights& weights) {
  const int channels = weights.whole("channels", 1, kMostChannels), blocks = weights.whole("blocks", 0, kMostBlocks);
  std::vector<std::string> names;
  const auto take = [&](const std::string& name, std::vector<std::int64_t> shape) {
    const auto read = [&](const std::string& part, const std::vector<std::int64_t>& size) {
      names.push_back(name + part);
      const Tensor& tensor = weights.tensor(name + part, size);
      return at::from_blob(const_cast<float*>(tensor.values.data()), size, at::kFloat).clone();
    };
    Layer layer{read(".weight", shape), read(".bias", {shape[0]})};
    if (shape.size() == 4) layer.weight = layer.weight.contiguous(at::MemoryFormat::ChannelsLast);
    return layer;
  };
  const std::int64_t c = channels;
  stem_ = take("stem", {c, kPlanes, 1, 1});
  globals_ = take("stem_globals", {c, kPlaneGlobals});
  for (int b = 0; b < blocks; ++b) {
    const std::string name = "blocks." + std::to_string(b) + ".";
    Block block{take(name + "first", {c, c, 3, 3}), take(name + "second", {c, c, 3, 3}), {}};
    if (b % 2 == 1) block.pool = take(name + "pool", {c, 3 * c});
    blocks_.push_back(std::move(block));
  }
  policy_ = take("policy", {c, c, 1, 1});
  policy_pool_ = take("policy_pool", {c, 3 * c});
  policy_out_ = take("policy_out", {kPolicyPlanes, c, 1, 1});
  hidden_ = take("hidden", {2 * c, 3 * c});
  outputs_ = take("outputs", {kMaxPlayers + kLeadBins + 1, 2 * c});
  cells_ = take("cells", {kMaxPlayers, c, 1, 1});
  weights.expect_tensors(names);
}

void copy_out(const at::Tensor& from, float* to) {
  if (!to) return;
  const at::Tensor rows = from.contiguous();
  std::copy_n(rows.const_data_ptr<float>(), rows.numel(), to);
}

void Resnet::forward(const BatchInput& in, const BatchOutput& out) const try {
  const c10::InferenceMode inference;
  thread_local const bool on_one_core = (at::set_num_threads(1), true);
  static_cast<void>(on_one_core);
  const auto view = [](const float* data, std::initializer_list<std::int64_t> shape) {
    return at::from_blob(const_cast<float*>(data), shape, at::kFloat);
  };
  const at::Tensor mask = view(in.mask, {in.size, 1, in.height, in.width});
  const at::Tensor planes = view(in.planes, {in.size, in.height, in.width, kPlanes}).permute({0, 3, 1, 2});
  const at::Tensor cells = mask.sum({2, 3});

  at::Tensor x = conv(stem_, planes);
  x.add_(over_cells(linear(globals_, view(in.globals, {in.size, kPlaneGlobals})))).mul_(mask);
  for (const Block& block : blocks_) {
    const at::Tensor before = at::relu(x);
    at::Tensor h = conv(block.first, before);
    if (block.pool.weight.defined()) h.add_(over_cells(linear(block.pool, pooled(before, cells))));
    h.relu_().mul_(mask);
    x.add_(conv(block.second, h).mul_(mask));
  }
  x.relu_();
  const at::Tensor summary = pooled(x, cells);
  if (out.policy) {
    at::Tensor p = conv(policy_, x);
    p.add_(over_cells(linear(policy_pool_, summary))).relu_();
    copy_out(conv(policy_out_, p), out.policy);
  }
  if (out.cells) copy_out(conv(cells_, x), out.cells);
  const at::Tensor numbers = linear(outputs_, linear(hidden_, summary).relu_());
  copy_out(numbers.narrow(1, 0, kMaxPlayers), out.value);
  copy_out(numbers.narrow(1, kMaxPlayers, kLeadBins), out.lead);
  copy_out(numbers.narrow(1, kMaxPlayers + kLeadBins, 1), out.no_figure);
} catch (const c10::Error& error) {
  throw Error(std::string("LibTorch: ") + error.what_without_backtrace());
}

class Loader final : public BatchModelLoader {
 public:
  std::shared_ptr<const BatchModel> load(const std::string& path) const override {
    const Weights weights = read_weights(path, kResnetFormat, kPlaneEncoder);
    try {
      return std::make_shared<Resnet>(weights);
    } catch (const WeightsError& error) {
      throw WeightsError(path + ": " + error.what());
    }
  }
};

const Loader kLoader;

PyModuleDef kModule = {PyModuleDef_HEAD_INIT,
                       "_torch",
                       "Networks of Carc computed by LibTorch. `loader` is a capsule that carc._core takes.",
                       -1,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace
}  // namespace carc

PyMODINIT_FUNC PyInit__torch() {
  PyObject* module = PyModule_Create(&carc::kModule);
  if (!module) return nullptr;
  const carc::BatchModelLoader* loader = &carc::kLoader;
  PyObject* capsule = PyCapsule_New(const_cast<carc::BatchModelLoader*>(loader), carc::kLoaderCapsule, nullptr);
  if (!capsule || PyModule_AddObject(module, "loader", capsule) != 0) {
    Py_XDECREF(capsule);
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
