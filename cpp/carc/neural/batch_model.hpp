// The seam between the engine and a tensor library: batches of planes in, values and policies out.
//
// carc._core has no tensor library. carc._torch, built where LibTorch is, holds a loader of models and hands it over as
// a capsule; whoever loads a model here needs to know nothing of that. Both modules come from one build.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "carc/core/error.hpp"

namespace carc {

// Rows of a batch; all arrays are row-major and belong to the caller. Sizes and meanings: planes.hpp.
struct BatchInput {
  std::int64_t size = 0, height = 0, width = 0;
  const float* planes = nullptr;   // [size, height, width, kPlanes]
  const float* mask = nullptr;     // [size, 1, height, width]
  const float* globals = nullptr;  // [size, kPlaneGlobals]
};

// Arrays to fill in; null: not wanted. Players are relative, as in planes.hpp.
struct BatchOutput {
  float* value = nullptr;      // [size, kMaxPlayers]: final points beyond PlaneInput::base, in units of kPointsUnit
  float* lead = nullptr;       // [size, kLeadBins]: logits of relative player 0's final lead
  float* cells = nullptr;      // [size, kMaxPlayers, height, width]: points still to come from the tile of each cell
  float* policy = nullptr;     // [size, kPolicyPlanes, height, width]: logits
  float* no_figure = nullptr;  // [size]: logit of setting no figure
};

class BatchModel {
 public:
  virtual ~BatchModel() = default;
  // What a row gets depends on the other rows of the batch only by rounding. Threads may call it at the same time.
  // Throws Error.
  virtual void forward(const BatchInput& in, const BatchOutput& out) const = 0;
};

class BatchModelLoader {
 public:
  virtual ~BatchModelLoader() = default;
  // A model from a file of weights of format kResnetFormat. Throws WeightsError.
  virtual std::shared_ptr<const BatchModel> load(const std::string& path) const = 0;
};

inline constexpr const char* kResnetFormat = "carc-resnet";
// Name of the capsule with a BatchModelLoader: its number changes with the classes above.
inline constexpr const char* kLoaderCapsule = "carc.BatchModelLoader.1";

// From now on `find` is asked for the loader when a model is first loaded; it may throw Error.
void register_batch_model_loader(std::function<const BatchModelLoader*()> find);

// Throws Error where there is no loader, WeightsError for a file that holds no such network.
std::shared_ptr<const BatchModel> load_batch_model(const std::string& path);

}  // namespace carc
