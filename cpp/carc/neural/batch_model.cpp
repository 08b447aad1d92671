#include "carc/neural/batch_model.hpp"

#include <mutex>

namespace carc {
namespace {

// The one loader of this process; what is registered at import is asked when a model is first loaded.
struct Registry {
  std::mutex mutex;
  std::function<const BatchModelLoader*()> find;
};

Registry& registry() {
  static Registry the_registry;
  return the_registry;
}

}  // namespace

void register_batch_model_loader(std::function<const BatchModelLoader*()> find) {
  const std::lock_guard lock(registry().mutex);
  registry().find = std::move(find);
}

std::shared_ptr<const BatchModel> load_batch_model(const std::string& path) {
  std::function<const BatchModelLoader*()> find;
  {
    const std::lock_guard lock(registry().mutex);
    find = registry().find;
  }
  const BatchModelLoader* loader = find ? find() : nullptr;
  if (!loader) {
    throw Error("network " + quote(path) +
                ": found no carc._torch, which computes such networks, expected a build with PyTorch installed "
                "(CARC_BUILD_TORCH=ON)");
  }
  return loader->load(path);
}

}  // namespace carc
