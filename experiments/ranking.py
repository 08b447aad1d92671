"""How well do the evaluators rank the complete turns of a position?

Positions: a turn with a choice, drawn at random from each of N games of the policy with noise.
Value of a turn: the mean final margin of the mover (points minus the mean of the others') over K
games played on from it by the policy in all seats. The K games of all turns of a position share
the order of the undrawn tiles and the random numbers (cpp/carc/play/turn_values.hpp).

An evaluator gives every turn a number. Reported for each, as means over the positions with 95 %
intervals:
    tau      Kendall's tau-b between these numbers and the values
    pearson  the correlation of the two
    regret   points that the turn it likes best is worth less than the best one. The best of noisy
             values is worth less than it seems, so this is too large by the same for all.
    cross    the same against the turn that is best in one half of the playouts, both valued by the
             other half: without that bias, but less than the true regret
The ceiling of the measurement is the line `halves`: one half of the playouts as an evaluator of the
other. A perfect evaluator has about the tau of `halves` or somewhat more, as the values of all
playouts have less noise than those of a half; for Pearson's correlation the reliability of all
playouts is 2 r / (1 + r) (Spearman and Brown) and the ceiling its square root, `r max`.

    python experiments/ranking.py [--positions N] [--playouts K] [--seed S] [--policy AGENT]
        [--players P] [--evaluators E ...] [--folder FOLDER] [--output FILE]

An evaluator E is `heuristic` (of the agent champion), the name or file of a feature net, or
`module:function`, whose function gives an object with `turn_values(state) -> (turns, values)` as
`carc.heuristic_turn_values` returns them: so a network in PyTorch can be ranked too. Values of
positions are kept in FOLDER, and those that it holds already are not played again.
"""

import argparse
import hashlib
import importlib
import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import carc
from carc import _core
from carc.agents import resolved_options
from carc.cli.terminal import progress
from carc.files import write_atomically
from carc.networks import network_file, read_network
from carc.ratings import mean_estimate

Array: TypeAlias = NDArray[np.float64]
Turns: TypeAlias = list[tuple[carc.Action, carc.Action]]
Evaluator: TypeAlias = Callable[[carc.GameState], tuple[Turns, NDArray[Any]]]

NOISE = 0.1  # probability of a random decision in the games that the positions are from
GAMES, CHOICE, PLAYOUTS = 0, 1, 2  # streams of a position's seed
LEFT = 2  # tiles in the bag at least: the value of the last turn is no question


@dataclass(frozen=True)
class Position:
    """A position and what its turns are worth.

    margins: of the mover, shape [turn, playout].
    """

    state: carc.GameState
    turns: Turns
    margins: Array


def policy_of(name: str | None) -> str:
    """Return the policy: the one that is asked for, else the best one-ply agent there is."""
    if name is not None:
        return name
    return "feature-net" if "feature-net" in dict(carc.agent_table()) else "greedy"


def choose_position(rules: carc.Rules, seed: int) -> carc.GameState:
    """Return a random position with a choice between turns from a game of its own."""
    noisy = f"greedy:noise={NOISE}"
    rng = carc.Rng(carc.split_seed(seed, CHOICE))
    game = carc.play_game(rules, [noisy] * rules.players, carc.split_seed(seed, GAMES))
    record = carc.GameRecord.from_json(game.record)
    while True:
        state = record.replay(rng.below(len(record.actions)))
        if state.phase == "place" and state.tiles_left >= LEFT:
            turns, _ = carc.heuristic_turn_values(state)
            if len(turns) > 1:
                return state


def position(options: argparse.Namespace, rules: carc.Rules, index: int) -> Position:
    """Return a position, from the folder or played now."""
    seed = carc.split_seed(options.seed, index)
    state = choose_position(rules, seed)
    turns, _ = carc.heuristic_turn_values(state)
    file = options.folder / f"{index:04}.npz"
    key = state.to_json()
    if file.exists():
        with np.load(file) as stored:
            if str(stored["state"]) != key:
                raise SystemExit(f"{file}: holds another position; name another --folder")
            return Position(state, turns, stored["margins"].astype(np.float64))
    ((played, margins),) = carc.playout_turn_values(
        [state],
        carc.make_agent(options.policy),
        options.playouts,
        seed=carc.split_seed(seed, PLAYOUTS),
        threads=options.threads,
    )
    assert played == turns
    data = io.BytesIO()
    np.savez_compressed(data, state=np.array(key), margins=margins)
    write_atomically(file, data.getvalue())
    return Position(state, turns, margins.astype(np.float64))


def positions(options: argparse.Namespace, rules: carc.Rules) -> list[Position]:
    """Return all positions; a folder of other options is refused."""
    config = {
        "policy": resolved_options(options.policy),
        "rules": rules.to_dict(),
        "seed": options.seed,
        "playouts": options.playouts,
        "noise": NOISE,
    }
    text = json.dumps(config, sort_keys=True)
    file = options.folder / "config.json"
    if not file.exists():
        write_atomically(file, text.encode())
    elif file.read_text() != text:
        raise SystemExit(f"{file}: holds values of other options; name another --folder")
    done = len(list(options.folder.glob("*.npz")))
    out = []
    total = options.positions
    with progress(total, min(done, total), "positions", quiet=False) as advance:
        for index in range(total):
            is_new = not (options.folder / f"{index:04}.npz").exists()
            out.append(position(options, rules, index))
            if is_new:
                advance()
    return out


def make_evaluator(name: str) -> Evaluator:
    """Return the evaluator of this name."""
    if name == "heuristic":
        return carc.heuristic_turn_values
    if ":" in name:
        module, _, function = name.partition(":")
        evaluate: Evaluator = getattr(importlib.import_module(module), function)().turn_values
        return evaluate
    path = network_file(name)
    kind = read_network(path).format
    if kind != "carc-feature-net" or not hasattr(_core, "FeatureNet"):
        raise SystemExit(f"{name}: found a {kind}, expected a carc-feature-net; see --help")
    net: Evaluator = _core.FeatureNet(str(path)).turn_values
    return net


def scores(evaluate: Evaluator, where: Position) -> Array:
    """Return the mover's lead after each turn as the evaluator sees it."""
    turns, values = evaluate(where.state)
    if turns != where.turns:
        raise SystemExit("evaluator: found other turns than carc.heuristic_turn_values lists")
    values = np.asarray(values, dtype=np.float64)
    mover, players = where.state.current_player(), values.shape[1]
    return np.asarray(values[:, mover] - (values.sum(axis=1) - values[:, mover]) / (players - 1))


def agreement(given: Array, values: Array) -> tuple[float, float]:
    """Return Kendall's tau-b and Pearson's correlation; 0 where one of the two is constant."""
    if np.ptp(given) == 0 or np.ptp(values) == 0:
        return 0.0, 0.0
    return (
        float(stats.kendalltau(given, values).statistic),
        float(stats.pearsonr(given, values).statistic),
    )


def halves_of(where: Position) -> tuple[Array, Array]:
    """Return the values of the turns by every second playout, and by the others."""
    return where.margins[:, ::2].mean(axis=1), where.margins[:, 1::2].mean(axis=1)


def measure(given: Array, where: Position) -> dict[str, float]:
    """Measure an evaluator's numbers against the values of a position."""
    values = where.margins.mean(axis=1)
    tau, pearson = agreement(given, values)
    pick = int(given.argmax())
    one, other = halves_of(where)
    cross = (other[one.argmax()] - other[pick] + one[other.argmax()] - one[pick]) / 2
    regret = float(values.max() - values[pick])
    return {"tau": tau, "pearson": pearson, "regret": regret, "cross": float(cross)}


def summary(rows: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    """Return the mean and the half width of its 95 % interval for each number."""
    out = {}
    for key in rows[0]:
        estimate = mean_estimate(np.array([row[key] for row in rows]))
        low = estimate.value if estimate.low is None else estimate.low
        out[key] = [round(estimate.value, 4), round(estimate.value - low, 4)]
    return out


def reliability(found: Sequence[Position]) -> tuple[dict[str, list[float]], float]:
    """Return the agreement of the two halves of the playouts, and the ceiling of Pearson's r."""
    rows = []
    for where in found:
        one, other = halves_of(where)
        tau, pearson = agreement(one, other)
        rows.append({"tau": tau, "pearson": pearson})
    line = summary(rows)
    r = max(0.0, line["pearson"][0])
    return line, float(np.sqrt(2 * r / (1 + r)))


def report(
    options: argparse.Namespace, evaluators: Mapping[str, Evaluator], found: Sequence[Position]
) -> dict[str, Any]:
    """Measure all evaluators and print the table."""
    halves, ceiling = reliability(found)
    table = {
        name: summary([measure(scores(evaluate, where), where) for where in found])
        for name, evaluate in evaluators.items()
    }
    turns = float(np.mean([len(where.turns) for where in found]))
    error = float(
        np.mean(
            [(w.margins.std(axis=1, ddof=1) / np.sqrt(w.margins.shape[1])).mean() for w in found]
        )
    )
    print(f"{len(found)} positions, {turns:.1f} turns each; standard error of a value {error:.2f}")
    keys = ("tau", "pearson", "regret", "cross")
    print(f"{'':24}" + "".join(f"{key:>18}" for key in keys))
    for name, line in {**table, "halves": halves}.items():
        shown = [f"{line[key][0]:.3f} ± {line[key][1]:.3f}" if key in line else "" for key in keys]
        print(f"{name:24}" + "".join(f"{text:>18}" for text in shown))
    print(f"r max {ceiling:.3f}")
    return {
        "positions": len(found),
        "playouts": options.playouts,
        "policy": options.policy,
        "players": options.players,
        "seed": options.seed,
        "turns": round(turns, 2),
        "standard_error": round(error, 4),
        "evaluators": table,
        "halves": halves,
        "r_max": round(ceiling, 4),
    }


def main() -> None:
    """Play what is missing and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--playouts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--policy", help="default: feature-net, where there is one, else greedy")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--evaluators", nargs="+", default=["heuristic"])
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--folder", type=Path, help="default: a folder in runs/ranking")
    parser.add_argument("--output", type=Path, help="write the table there as JSON")
    options = parser.parse_args()
    options.policy = policy_of(options.policy)
    evaluators = {name: make_evaluator(name) for name in options.evaluators}
    if options.playouts < 2 or options.positions < 1:
        parser.error("expected a position and two playouts at least")
    if options.folder is None:
        named = f"{resolved_options(options.policy)} {options.players}"
        digest = hashlib.sha256(named.encode()).hexdigest()[:8]
        name = f"{options.seed}-{options.playouts}-{digest}"
        options.folder = Path("runs") / "ranking" / name
    print(f"values by {options.playouts} playouts of {options.policy}, seed {options.seed}")
    found = positions(options, carc.Rules(players=options.players))
    result = report(options, evaluators, found)
    if options.output is not None:
        write_atomically(options.output, (json.dumps(result, indent=2) + "\n").encode())


if __name__ == "__main__":
    try:
        main()
    except carc.Error as error:
        sys.exit(str(error))
