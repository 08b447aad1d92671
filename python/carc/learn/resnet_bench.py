"""What the network `resnet` costs: in C++ and in PyTorch, and how full a search's batches are."""

import copy
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import torch

from carc import _core
from carc._core import GameState, Rng, Rules
from carc.agents import make_agent
from carc.learn.resnet import Resnet, make_resnet, save_resnet
from carc.learn.resnet_settings import ResnetShape

INPUTS = ("planes", "mask", "globals")


def resnet_speed(
    shape: ResnetShape | None = None, *, batch: int = 32, repeats: int = 15, simulations: int = 512
) -> dict[str, float]:
    """Measure a network with random weights on one core.

    Returns medians of a batch of positions of random games, ``resnet_batch_ms`` (C++, positions
    to values and policies) and ``resnet_eager_batch_ms`` (PyTorch eager: `encode_planes`, then the
    module, in the faster of the two layouts of its weights), measured in turn; and of a search by
    the agent resnet-search ``resnet_sims_per_s`` and ``resnet_batch_fill`` (0 to 1).
    """
    net = make_resnet(shape or ResnetShape(), seed=1).eval()
    states = random_positions(batch, seed=1)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
            path = Path(folder) / "net.safetensors"
            save_resnet(net, path)
            in_cpp = _core.Resnet(path)
            other = copy.deepcopy(net).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
            in_cpp_ms, *eager = medians_ms(
                [
                    lambda: in_cpp.evaluate(states),
                    lambda: judge(net, states),
                    lambda: judge(other, states),
                ],
                repeats,
            )
            out = {"resnet_batch_ms": in_cpp_ms, "resnet_eager_batch_ms": min(eager)}
            agent = make_agent("resnet-search", network=str(path), simulations=simulations)
            results = [agent.analyse(state, Rng(1)) for state in states if state.phase == "place"][
                :8
            ]
    finally:
        torch.set_num_threads(threads)
    searched = [result for result in results if result is not None and not result.exact]
    seconds = sum(result.seconds for result in searched)
    out["resnet_sims_per_s"] = sum(result.simulations for result in searched) / seconds
    out["resnet_batch_fill"] = agent.batch_fill or 0.0
    return out


def judge(net: Resnet, states: list[GameState]) -> None:
    """Judge positions in PyTorch."""
    inputs = _core.encode_planes(states)
    net(*(torch.from_numpy(inputs[name]) for name in INPUTS))


def random_positions(count: int, seed: int) -> list[GameState]:
    """Return positions with a tile in hand, spread over random games of two players."""
    rng = Rng(seed)
    out: list[GameState] = []
    while len(out) < count:
        state = GameState(Rules())
        while not state.is_terminal():
            if state.phase == "place" and rng.below(36) == 0:
                out.append(state.clone())
            actions = list(state.legal_actions())
            state.apply_action(actions[rng.below(len(actions))])
    return out[:count]


def medians_ms(calls: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Return the median time of each call in ms, called in turn, after three rounds to warm up."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(3 + repeats):
        for call, own in zip(calls, times, strict=True):
            began = time.perf_counter()
            call()
            own.append(time.perf_counter() - began)
    return [1000 * median(own[3:]) for own in times]
