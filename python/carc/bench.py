"""How fast the engine is here: after one warm-up, each measure is the best of several runs.

The best run is the one that other work on the machine disturbed least; it is what the code can do,
not an average.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from carc._core import (
    STATE_BYTES,
    Deck,
    GameState,
    Rng,
    Rules,
    measure_clone_ns,
    perft,
    random_games,
)

RUNS = 5
PERFT_TURNS = 4
SEED = 1


@dataclass(frozen=True)
class CoreMeasures:
    """Results of `measure_core` in the units of their names."""

    random_games_per_s: float
    clone_ns: float
    state_bytes: int
    perft_nodes_per_s: float
    python_random_games_per_s: float
    random_games_per_s_2_threads: float
    base_ns_per_tile: float
    river_abbot_5p_ns_per_tile: float


def measure_core(seconds: float, on_measure: Callable[[], None] = lambda: None) -> CoreMeasures:
    """Measure the engine in about seven times `seconds`; `on_measure` is called seven times."""

    def measured(work: Callable[[int], float]) -> float:
        rate = best_rate(work, seconds)
        on_measure()
        return rate

    base, big = Rules(), Rules(players=5, river="2021", abbot=True)
    middle = state_after(36)
    deck = Deck(base, seed=SEED)
    start = GameState(base)
    nodes = perft(start, deck.tiles, PERFT_TURNS)

    def perft_nodes(repeats: int) -> float:
        for _ in range(repeats):
            perft(start, deck.tiles, PERFT_TURNS)
        return float(nodes * repeats)

    return CoreMeasures(
        random_games_per_s=measured(lambda n: float(len(random_games(n, seed=SEED)))),
        clone_ns=1e9 / measured(lambda n: clones(middle, n)),
        state_bytes=STATE_BYTES,
        perft_nodes_per_s=measured(perft_nodes),
        python_random_games_per_s=measured(python_random_games),
        random_games_per_s_2_threads=measured(
            lambda n: float(len(random_games(n, seed=SEED, threads=2)))
        ),
        base_ns_per_tile=1e9 / measured(lambda n: random_tiles(base, n)),
        river_abbot_5p_ns_per_tile=1e9 / measured(lambda n: random_tiles(big, n)),
    )


def best_rate(work: Callable[[int], float], seconds: float) -> float:
    """Return the most units a second that work(repeats) did, which returns their number."""
    repeats = 1
    while True:  # the warm-up, which also finds how many repeats fill a run
        began = time.perf_counter()
        work(repeats)
        took = time.perf_counter() - began
        if took * RUNS >= seconds / 2:
            break
        repeats *= 2
    repeats = max(1, round(repeats * seconds / RUNS / took))
    rates = []
    for _ in range(RUNS):
        began = time.perf_counter()
        units = work(repeats)
        rates.append(units / (time.perf_counter() - began))
    return max(rates)


def clones(state: GameState, repeats: int) -> float:
    """Copy a state in C++; the units are copies."""
    measure_clone_ns(state, repeats)
    return float(repeats)


def random_tiles(rules: Rules, games: int) -> float:
    """Play random games; the units are tiles laid."""
    return float(random_games(games, rules=rules, seed=SEED).turns.sum())


def python_random_games(games: int) -> float:
    """Play random games driven from Python: a call for the legal actions, and one to apply one."""
    rules = Rules()
    rng = random.Random(SEED)
    for seed in range(games):
        deck, state = Deck(rules, seed=seed), GameState(rules)
        while not state.is_terminal():
            if state.is_chance_node():
                state.draw(deck)
            else:
                actions = state.legal_actions()
                state.apply(actions[int(rng.random() * len(actions))])
    return float(games)


def state_after(tiles: int) -> GameState:
    """Return the position of a random game with this many tiles laid."""
    rules = Rules()
    deck, state, rng = Deck(rules, seed=SEED), GameState(rules), Rng(SEED)
    while len(state.tiles) < tiles:
        if state.is_chance_node():
            state.draw(deck)
        else:
            actions = state.legal_actions()
            state.apply(actions[rng.below(len(actions))])
    return state
