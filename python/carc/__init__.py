"""Carcassonne for research: a fast rules engine, agents, and matches between them.

Quick start::

    import carc

    rules = carc.Rules(players=2)
    deck, state = carc.Deck(rules, seed=7), carc.GameState(rules)
    agent, rng = carc.make_agent("greedy"), carc.Rng(1)
    while not state.is_terminal():
        if state.is_chance_node():
            state.draw(deck)
        else:
            state.apply(agent.choose(state, rng))
    print(state)

An action can be chosen from ``state.legal_actions()`` or given in text,
``state.apply("D@0,-1r2")``. Everything raises ``carc.Error`` or one of its subclasses for bad
input.
"""

from carc._core import (
    PROTOCOL_VERSION,
    STATE_BYTES,
    Action,
    ActionList,
    ActionReport,
    Agent,
    ChildProcess,
    Deck,
    DeckError,
    Error,
    Feature,
    Figure,
    Findings,
    GameRecord,
    GameResult,
    GameState,
    IllegalAction,
    NamedAgent,
    NotationError,
    OptionError,
    RandomGames,
    RecordError,
    Rng,
    Rules,
    RulesError,
    SearchResult,
    Solution,
    Tile,
    TileSet,
    TileSetError,
    WeightsError,
    agent_kinds,
    hello_request,
    heuristic_turn_values,
    luck_of_record,
    measure_clone_ns,
    move_request,
    perft,
    playout_turn_values,
    random_games,
    read_weights,
    rules_options,
    rules_presets,
    solve,
    split_seed,
    verify_document,
    write_weights,
)
from carc._version import __version__
from carc.agents import agent_table, make_agent, play_game, play_games
from carc.errors import ConfigError, ForfeitError, GamesError, ResultsError, TrainingError

__all__ = [
    "PROTOCOL_VERSION",
    "STATE_BYTES",
    "Action",
    "ActionList",
    "ActionReport",
    "Agent",
    "ChildProcess",
    "ConfigError",
    "Deck",
    "DeckError",
    "Error",
    "Feature",
    "Figure",
    "Findings",
    "ForfeitError",
    "GameRecord",
    "GameResult",
    "GameState",
    "GamesError",
    "IllegalAction",
    "NamedAgent",
    "NotationError",
    "OptionError",
    "RandomGames",
    "RecordError",
    "ResultsError",
    "Rng",
    "Rules",
    "RulesError",
    "SearchResult",
    "Solution",
    "Tile",
    "TileSet",
    "TileSetError",
    "TrainingError",
    "WeightsError",
    "__version__",
    "agent_kinds",
    "agent_table",
    "hello_request",
    "heuristic_turn_values",
    "luck_of_record",
    "make_agent",
    "measure_clone_ns",
    "move_request",
    "perft",
    "play_game",
    "play_games",
    "playout_turn_values",
    "random_games",
    "read_weights",
    "rules_options",
    "rules_presets",
    "solve",
    "split_seed",
    "verify_document",
    "write_weights",
]
