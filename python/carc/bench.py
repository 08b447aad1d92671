"""How fast the engine is here: after one warm-up, each measure is the best of several runs.

The best run is the one that other work on the machine disturbed least; it is what the code can do,
not an average.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from carc._core import (
    STATE_BYTES,
    Deck,
    FeatureNet,
    GameState,
    Rng,
    Rules,
    measure_clone_ns,
    perft,
    random_games,
    self_play,
)
from carc.agents import make_agent, resolved_options
from carc.networks import network_file

RUNS = 5
RESNET_BATCH_S = 0.15  # about what 32 positions cost in C++ and twice in PyTorch
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


@dataclass(frozen=True)
class SearchMeasures:
    """Results of `measure_search` in the units of their names.

    champion_*: over the champion's decisions in a whole game against greedy.
    nodes_bytes: mean memory of a node in the champion's trees.
    two_threads_ratio: how many times as fast the champion is on two threads, with a tree on each.
    """

    rollouts_per_s_opening: float
    rollouts_per_s_middle: float
    champion_sims_per_s: float
    champion_sims_per_s_two_threads: float
    two_threads_ratio: float
    nodes_bytes: float


def measure_search(
    seconds: float, on_measure: Callable[[], None] = lambda: None, champion: str = "champion"
) -> SearchMeasures:
    """Measure searches; `on_measure` is called four times.

    A rollout is a simulation of uct-rollout, its tree included. The champion's rates are those of
    the best of as many games as fit into `seconds`, two at least.
    """

    def rollouts(state: GameState) -> float:
        agent, rng = make_agent("uct-rollout"), Rng(SEED)

        def search(repeats: int) -> float:
            simulations = 0
            for _ in range(repeats):
                result = agent.analyse(state.clone(), rng)
                simulations += result.simulations if result else 0
            return float(simulations)

        rate = best_rate(search, seconds)
        on_measure()
        return rate

    def best_game(threads: int) -> ChampionGame:
        games: list[ChampionGame] = []
        began = time.perf_counter()
        while len(games) < 2 or (time.perf_counter() - began < seconds and len(games) < RUNS):
            games.append(champion_game(champion, threads))
        on_measure()
        return max(games, key=lambda game: game.sims_per_s)

    opening, middle = rollouts(turn_after(1)), rollouts(turn_after(36))
    one, two = best_game(1), best_game(2)
    return SearchMeasures(
        rollouts_per_s_opening=opening,
        rollouts_per_s_middle=middle,
        champion_sims_per_s=one.sims_per_s,
        champion_sims_per_s_two_threads=two.sims_per_s,
        two_threads_ratio=two.sims_per_s / one.sims_per_s,
        nodes_bytes=one.node_bytes,
    )


@dataclass(frozen=True)
class NeuralMeasures:
    """Results of `measure_neural` in the units of their names, on one thread.

    feature_net_turn_us: all turns of a position with 30 to 42 tiles left, in games of the network.
    feature_net_sims_per_s: of feature-net-search over its decisions in a game against greedy.
    selfplay_games_per_s: one turn ahead, with the usual exploration.
    resnet_*_ms_batch32: 32 positions of random games, to values and policies, in C++ and by PyTorch
    eager; resnet_batch_fill: mean share of a batch that a search of resnet-search fills (0 to 1).
    None of these where PyTorch or carc._torch is not there.
    """

    feature_net_turn_us: float
    feature_net_sims_per_s: float
    selfplay_games_per_s: float
    resnet_cpp_ms_batch32: float | None
    resnet_torch_ms_batch32: float | None
    resnet_batch_fill: float | None


def measure_neural(
    seconds: float,
    on_measure: Callable[[], None] = lambda: None,
    search: str = "feature-net-search",
) -> NeuralMeasures:
    """Measure the networks; `on_measure` is called four times."""

    def measured(work: Callable[[int], float]) -> float:
        rate = best_rate(work, seconds)
        on_measure()
        return rate

    path = str(network_file(resolved_options("feature-net")["network"]))
    net, states = FeatureNet(path), middle_positions("feature-net")
    options = {"network": path}

    def judged(repeats: int) -> float:
        net.measure_turns(states, repeats)
        return float(len(states) * repeats)

    turns = measured(judged)
    games = measured(lambda n: float(len(self_play(Rules(), options, SEED, 0, n)["game_turns"])))
    simulations = max(champion_game(search, 1).sims_per_s for _ in range(RUNS))
    on_measure()
    resnet = measure_resnet(seconds)
    on_measure()
    return NeuralMeasures(
        feature_net_turn_us=1e6 / turns,
        feature_net_sims_per_s=simulations,
        selfplay_games_per_s=games,
        resnet_cpp_ms_batch32=resnet.get("resnet_batch_ms"),
        resnet_torch_ms_batch32=resnet.get("resnet_eager_batch_ms"),
        resnet_batch_fill=resnet.get("resnet_batch_fill"),
    )


def measure_resnet(seconds: float) -> dict[str, float]:
    """Measure a network on board planes as `resnet_speed` does; nothing where it cannot be run.

    All batches together take about `seconds`, each at least one; three rounds of warm-up are apart.
    """
    try:
        from carc.learn.resnet_bench import resnet_speed

        import_module("carc._torch")
    except ImportError:
        return {}
    repeats = max(1, round(seconds / RESNET_BATCH_S))
    return resnet_speed(batch=32, repeats=repeats, simulations=min(512, 32 * repeats))


def middle_positions(agent: str, games: int = 20) -> list[GameState]:
    """Return the positions with 30 to 42 tiles left, tile drawn, of an agent's games."""
    out, player, rules, rng = [], make_agent(agent), Rules(), Rng(SEED)
    for seed in range(games):
        deck, state = Deck(rules, seed=seed), GameState(rules)
        while state.tiles_left >= 30 and not state.is_terminal():
            if state.is_chance_node():
                state.draw(deck)
                continue
            if state.phase == "place" and state.tiles_left <= 42:
                out.append(state.clone())
            state.apply(player.choose(state, rng))
    return out


@dataclass(frozen=True)
class ChampionGame:
    """What the searches of one game came to."""

    sims_per_s: float
    node_bytes: float


def champion_game(champion: str, threads: int) -> ChampionGame:
    """Play the champion against greedy; what it solves or has no choice in does not count."""
    rules = Rules()
    deck, state, rng = Deck(rules, seed=SEED), GameState(rules), Rng(SEED)
    options = {"threads": threads, "trees": threads} if threads > 1 else {}
    agent, greedy = make_agent(champion, **options), make_agent("greedy")
    simulations, nodes, size, seconds = 0, 0, 0, 0.0
    while not state.is_terminal():
        if state.is_chance_node():
            state.draw(deck)
        elif state.current_player() == 1 or state.num_legal_actions() == 1:
            state.apply(greedy.choose(state, rng))
        else:
            result = agent.analyse(state, rng)
            assert result is not None
            state.apply(result.best)
            if not result.exact:
                simulations += result.simulations
                nodes += result.nodes
                size += result.bytes
                seconds += result.seconds
    return ChampionGame(simulations / seconds, size / nodes)


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


def turn_after(tiles: int) -> GameState:
    """Return the position of a random game with this many tiles laid and the next one drawn."""
    state = state_after(tiles)
    deck = Deck(state.rules, tiles=Deck(state.rules, seed=SEED).tiles)
    for _ in range(tiles - 1 + len(state.discarded)):
        deck.draw()
    while state.phase != "place":
        if state.is_chance_node():
            state.draw(deck)
        else:
            state.apply(state.legal_actions()[0])
    return state


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
