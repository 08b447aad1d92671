"""Networks with random weights for tests: they need no training, and judge in no time."""

from itertools import pairwise
from pathlib import Path

import numpy as np

import carc


def feature_net(path: Path, *, seed: int = 1, hidden: int = 4) -> str:
    """Write a feature network and return its checksum."""
    rng, tensors = np.random.default_rng(seed), {}
    encoder = carc.feature_encoder()
    sizes = {kind: (len(inputs), 6) for kind, inputs in encoder["kinds"].items()}
    sizes["global"] = (len(encoder["global"]) + 1, 2)
    for kind, (inputs, heads) in sizes.items():
        wide = [inputs, hidden, hidden, heads]
        for layer, (into, out) in enumerate(pairwise(wide)):
            weights = rng.normal(0, 0.5, (out, into)).astype(np.float32)
            tensors[f"{kind}.{layer}.weight"] = weights
            tensors[f"{kind}.{layer}.bias"] = rng.normal(0, 0.1, out).astype(np.float32)
    metadata = {
        "format": "carc-feature-net",
        "encoder": str(encoder["version"]),
        "hidden": str(hidden),
        "hidden_global": str(hidden),
    }
    return carc.write_weights(path, metadata, tensors)


def resnet(path: Path, *, seed: int = 1) -> None:
    """Write a residual network on board planes; needs torch."""
    from carc.learn.resnet import make_resnet, save_resnet
    from carc.learn.resnet_settings import ResnetShape

    save_resnet(make_resnet(ResnetShape(channels=4, blocks=1), seed=seed), path)
