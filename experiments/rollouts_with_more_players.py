"""Does rollout search beat greedy with 3, 4 and 5 players, river and abbot?

Every deck is played in all rotations of the seats; half of the seats (rounded down) search with
uct-rollout, the others are greedy. A group's rank is the mean of its seats' ranks, 1 = best, equal
scores sharing theirs. Intervals are 95 %, clustered by deck.

    python experiments/rollouts_with_more_players.py [--decks N] [--seed S] [--simulations K]
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

import numpy as np

import carc
from carc.ratings import mean_estimate


def ranks(scores: Sequence[int]) -> list[float]:
    """Return the rank of every seat, equal scores sharing theirs."""
    return [
        1 + sum(other > own for other in scores) + (scores.count(own) - 1) / 2 for own in scores
    ]


def compare(players: int, options: argparse.Namespace) -> None:
    """Play one number of players and print a row."""
    rules = carc.Rules.preset("current_river_abbot").replace(players=players)
    searching = players // 2
    table = [0] * searching + [1] * (players - searching)
    games = [
        (carc.split_seed(options.seed, deck), tuple(table[r:] + table[:r]))
        for deck in range(options.decks)
        for r in range(players)
    ]
    by_deck: dict[int, list[tuple[float, float]]] = defaultdict(list)

    def keep(index: int, result: carc.GameResult) -> None:
        place = ranks(result.scores)
        means = [
            fmean(p for p, seat in zip(place, games[index][1], strict=True) if seat == agent)
            for agent in (0, 1)
        ]
        by_deck[index // players].append((means[0], means[1]))

    agents = [carc.make_agent("uct-rollout", simulations=options.simulations), "greedy"]
    carc.play_games(rules, agents, games, threads=options.threads, records=False, on_result=keep)
    decks = np.array([np.mean(by_deck[deck], axis=0) for deck in sorted(by_deck)])
    cells = []
    for column in decks.T:
        estimate = mean_estimate(column)
        assert estimate.high is not None
        cells.append(f"{estimate.value:.2f} ± {estimate.high - estimate.value:.2f}")
    print(f"{players:7}  {len(games):5}  {searching:9}  {cells[0]:>15}  {cells[1]:>15}", flush=True)


def main() -> None:
    """Play with 3, 4 and 5 players."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--decks", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    print("players  games  searching  rank searching      rank greedy")
    for players in (3, 4, 5):
        compare(players, options)


if __name__ == "__main__":
    main()
