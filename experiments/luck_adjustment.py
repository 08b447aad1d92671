"""How many games do paired decks, common random numbers and the luck of the draws save?

A and B play three games on each deck: A first; A second with the same random numbers turn by turn;
A second with numbers of its own. The margin M is A's points minus B's, the luck l is A's
(cpp/carc/play/luck.hpp), which has mean zero.

What is estimated is A's margin averaged over both seats. With n games on decks of their own, half
of them from each seat, the variance of the estimate is v / n, v = the mean of the variances of M in
the two seats. With n / 2 pairs it is Var(P) / (n / 2), P = the mean of a pair's two margins. So the
factor of a method, which says what part of the games it needs for an equally narrow interval, is
2 Var(P) / v, with M - c l in place of M where luck is taken out. Its interval is a bootstrap over
decks; c is fixed in advance, or fitted on the other half of the decks.

    python experiments/luck_adjustment.py [--pairs N] [--seed S] [--agents A B] [--file FILE]

Games go to FILE (CSV), and those that it holds already are not played again.
"""

import argparse
import csv
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import carc
from carc.ratings import mean_estimate

Array: TypeAlias = NDArray[np.float64]

GAMES = 3  # a deck: A first; A second, same numbers; A second, other numbers
OTHER_NUMBERS = 2  # any index but that of the numbers a game has by itself
CHUNK = 50  # decks between two writes
FIELDS = ("seed", "a", "b", "deck", "game", "margin", "luck")


def games_of(deck: int) -> list[tuple[int, list[int]] | tuple[int, list[int], int]]:
    """Return the games of the deck with this seed."""
    return [(deck, [0, 1]), (deck, [1, 0]), (deck, [1, 0], carc.split_seed(deck, OTHER_NUMBERS))]


def play(options: argparse.Namespace) -> Array:
    """Play what the file lacks; return margins and luck of A, shape [decks, game, 2]."""
    a, b = options.agents
    known: dict[int, dict[int, tuple[float, float]]] = defaultdict(dict)
    if options.file.exists():
        with options.file.open(newline="") as rows:
            for row in csv.DictReader(rows):
                if (int(row["seed"]), row["a"], row["b"]) == (options.seed, a, b):
                    values = (float(row["margin"]), float(row["luck"]))
                    known[int(row["deck"])][int(row["game"])] = values
    else:
        options.file.parent.mkdir(parents=True, exist_ok=True)
        with options.file.open("w", newline="") as rows:
            csv.writer(rows).writerow(FIELDS)
    missing = [deck for deck in range(options.pairs) if len(known[deck]) < GAMES]
    for start in range(0, len(missing), CHUNK):
        decks = missing[start : start + CHUNK]
        games = [game for deck in decks for game in games_of(carc.split_seed(options.seed, deck))]
        results: dict[int, carc.GameResult] = {}
        carc.play_games(
            carc.Rules(),
            [carc.make_agent(agent) for agent in options.agents],
            games,
            threads=options.threads,
            records=False,
            luck=True,
            on_result=results.__setitem__,
        )
        with options.file.open("a", newline="") as rows:
            for index in sorted(results):
                result, deck = results[index], decks[index // GAMES]
                seat = games[index][1].index(0)
                assert result.luck is not None
                values = (float(result.scores[seat] - result.scores[1 - seat]), result.luck[seat])
                known[deck][index % GAMES] = values
                csv.writer(rows).writerow((options.seed, a, b, deck, index % GAMES, *values))
    return np.array([[known[deck][game] for game in range(GAMES)] for deck in range(options.pairs)])


def cost(games: int = 50) -> float:
    """Return the milliseconds of processor time that measuring the luck of a greedy game takes."""
    agents = [carc.make_agent("greedy")] * 2
    played = [carc.play_game(carc.Rules(), agents, seed).record for seed in range(games)]
    records = [carc.GameRecord.from_json(text) for text in played]
    began = time.process_time()
    for record in records:
        carc.luck_of_record(record)
    return (time.process_time() - began) * 1000 / games


def factor(margins: Array, raw: Array) -> float:
    """Return 2 Var(P) / v.

    margins: of the two games of a pair, shape [decks, 2]. raw: the same as they were played.
    """
    single = raw.var(axis=0, ddof=1).mean()
    return float(2 * margins.mean(axis=1).var(ddof=1) / single)


def slope(y: Array, x: Array) -> float:
    """Return the coefficient of the regression of y on x."""
    return float(np.cov(y, x)[0, 1] / x.var(ddof=1))


def fitted(margins: Array, luck: Array) -> tuple[Array, list[float]]:
    """Take out luck with the coefficient fitted on the other half of the decks."""
    out, coefficients = margins.copy(), []
    half = np.arange(len(margins)) % 2
    for own in (0, 1):
        other = half != own
        coefficients.append(slope(margins[other].mean(axis=1), luck[other].mean(axis=1)))
        out[half == own] -= coefficients[-1] * luck[half == own]
    return out, coefficients


def report(data: Array, seed: int) -> None:
    """Print the factors and the difference that each adjustment makes to the mean."""
    same, apart = data[:, :2], data[:, [0, 2]]
    raw, luck = same[:, :, 0], same[:, :, 1]
    adjusted, coefficients = fitted(raw, luck)
    # Unpaired games of A in both seats, each with its luck taken out.
    fit_single = slope((raw - raw.mean(axis=0)).ravel(), luck.ravel())
    methods: list[tuple[str, Callable[[Any], float]]] = [
        ("pairing alone", lambda i: factor(apart[i, :, 0], apart[i, :, 0])),
        ("pairing + common random numbers", lambda i: factor(raw[i], raw[i])),
        ("  + luck, c = 0.3", lambda i: factor((raw - 0.3 * luck)[i], raw[i])),
        ("  + luck, c = 1", lambda i: factor((raw - luck)[i], raw[i])),
        (
            "  + luck, c fitted on other decks: " + ", ".join(f"{c:.2f}" for c in coefficients),
            lambda i: factor(adjusted[i], raw[i]),
        ),
        (
            "pairing alone + luck, c = 0.3",
            lambda i: factor((apart[:, :, 0] - 0.3 * apart[:, :, 1])[i], apart[i, :, 0]),
        ),
        (
            "luck alone, unpaired, c = 0.3",
            lambda i: float(
                (raw - 0.3 * luck)[i].var(axis=0, ddof=1).mean() / raw[i].var(axis=0, ddof=1).mean()
            ),
        ),
    ]
    rng = np.random.default_rng(seed)
    picks = [rng.integers(0, len(data), len(data)) for _ in range(400)]
    print(f"{'variance relative to unpaired games':50} factor  95 % interval")
    for name, of in methods:
        low, high = np.quantile([of(pick) for pick in picks], (0.025, 0.975))
        print(f"{name:50} {of(slice(None)):6.3f}  {low:.3f} to {high:.3f}")
    print(f"c fitted on single games: {fit_single:.2f}; sd of a game {raw.std(axis=0).mean():.1f}")
    for name, values in (
        ("mean margin, raw", raw),
        ("mean margin, c = 0.3", raw - 0.3 * luck),
        ("mean margin, c fitted", adjusted),
        ("difference of the means, c = 0.3", -0.3 * luck),
        ("difference of the means, c fitted", adjusted - raw),
    ):
        estimate = mean_estimate(values.mean(axis=1))
        assert estimate.low is not None
        half = estimate.value - estimate.low
        holds = "" if abs(estimate.value) <= half or "margin" in name else "  (zero lies outside)"
        print(f"{name:50} {estimate.value:+.3f} ± {half:.3f}{holds}")


def main() -> None:
    """Play and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--agents", nargs=2, default=["greedy", "greedy:noise=0.02"])
    parser.add_argument("--pairs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--file", type=Path, default=Path("runs") / "luck_adjustment.csv")
    options = parser.parse_args()
    print(f"{options.agents[0]} against {options.agents[1]}, {options.pairs} decks")
    report(play(options), options.seed)
    print(f"measuring luck takes {cost():.1f} ms of processor time a game")


if __name__ == "__main__":
    main()
