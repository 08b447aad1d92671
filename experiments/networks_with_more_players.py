"""Is the network trained for all players better than greedy and the hand-made evaluation?

One seat is the feature network one turn deep, the others are all greedy, or all the search over the
hand-made evaluation with few simulations; every deck is played with the network in every seat.
Rank 1 = best, equal scores sharing theirs; a first place shared by k counts 1 / k. Chance is
1 / players. Intervals are 95 %, clustered by deck.

    python experiments/networks_with_more_players.py [--decks N] [--seed S] [--network NAME]
"""

import argparse
from collections import defaultdict

import numpy as np

import carc
from carc.ratings import mean_estimate

CHAMPION = "champion:simulations=200"


def place(scores: list[int], seat: int) -> tuple[float, float]:
    """Return the rank of a seat, and its share of the first place."""
    own = scores[seat]
    ties = scores.count(own)
    above = sum(other > own for other in scores)
    return 1 + above + (ties - 1) / 2, (1 / ties if above == 0 else 0.0)


def compare(rules: carc.Rules, what: str, network: str, others: str, decks: int, seed: int) -> None:
    """Play one kind of table and print a row."""
    players = rules.players
    games = [
        (carc.split_seed(seed, deck), tuple(int(seat != own) for seat in range(players)))
        for deck in range(decks)
        for own in range(players)
    ]
    by_deck: dict[int, list[tuple[float, float]]] = defaultdict(list)

    def keep(index: int, result: carc.GameResult) -> None:
        by_deck[index // players].append(place(list(result.scores), games[index][1].index(0)))

    agents = [carc.make_agent("feature-net", network=network), carc.make_agent(others)]
    carc.play_games(rules, agents, games, threads=2, records=False, on_result=keep)
    means = np.array([np.mean(by_deck[deck], axis=0) for deck in sorted(by_deck)])
    rank, first = mean_estimate(means[:, 0]), mean_estimate(means[:, 1])
    assert rank.high is not None
    assert first.high is not None
    print(
        f"{what:22}  {others:24}  {len(games):5}  {rank.value:.2f} ± {rank.high - rank.value:.2f}"
        f"  {100 * first.value:5.1f} ± {100 * (first.high - first.value):.1f} %"
        f"  {100 / players:5.1f} %",
        flush=True,
    )


def main() -> None:
    """Play with 2 to 5 players, river and abbot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--decks", type=int, default=200)
    parser.add_argument("--champion-decks", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20261150)
    parser.add_argument("--network", default="all-1")
    options = parser.parse_args()
    head = f"{'rules':22}  {'others':24}"
    print(f"{head}  games  rank         first          chance")
    for players in (2, 3, 4, 5):
        for preset in ("current", "current_river_abbot"):
            rules = carc.Rules.preset(preset).replace(players=players)
            what = f"{players}, {preset.replace('current_', '').replace('current', 'base')}"
            compare(rules, what, options.network, "greedy", options.decks, options.seed)
    for players in (3, 4, 5):
        rules = carc.Rules(players=players)
        decks = options.champion_decks
        compare(rules, f"{players}, base", options.network, CHAMPION, decks, options.seed)


if __name__ == "__main__":
    main()
