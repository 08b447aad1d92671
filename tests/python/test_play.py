"""Games in bulk and between agents: threads, agents written in Python, errors and interruptions."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import carc


class FirstAgent(carc.Agent):
    """Take the first legal action."""

    name = "first"

    def choose(self, state: carc.GameState, rng: carc.Rng) -> carc.Action:
        return state.legal_actions()[0]


class DrawingAgent(carc.Agent):
    """Take a uniformly random action, drawn from the generator that the game hands in."""

    def choose(self, state: carc.GameState, rng: carc.Rng) -> carc.Action:
        actions = state.legal_actions()
        return actions[rng.below(len(actions))]


class AfterSomeTurns(carc.Agent):
    """Play legally for a number of decisions, then do something else."""

    name = "odd one"

    def __init__(self, good: int, then: Callable[[carc.GameState], Any]) -> None:
        super().__init__()
        self.good = good
        self.then = then

    def choose(self, state: carc.GameState, rng: carc.Rng) -> Any:
        self.good -= 1
        return state.legal_actions()[0] if self.good >= 0 else self.then(state)


def raises(error: BaseException) -> Callable[[carc.GameState], Any]:
    def then(state: carc.GameState) -> Any:
        raise error

    return then


# Random games in bulk


@pytest.mark.parametrize(
    "rules", [carc.Rules(), carc.Rules(players=5, river="2021", abbot=True)], ids=repr
)
def test_random_games_do_not_depend_on_the_threads(rules: carc.Rules) -> None:
    one = carc.random_games(700, rules=rules, seed=3, threads=1)
    for threads in (2, 3):
        many = carc.random_games(700, rules=rules, seed=3, threads=threads)
        for name in ("scores", "turns", "discards", "placements", "figures"):
            np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


def test_random_games_are_arrays_with_one_row_a_game() -> None:
    games = carc.random_games(20, rules=carc.Rules(players=3), seed=1)
    assert len(games) == 20
    assert games.scores.shape == (20, 3)
    assert games.scores.dtype == games.turns.dtype == games.discards.dtype == np.int16
    assert games.placements.dtype == games.figures.dtype == np.int32
    np.testing.assert_array_equal(games.turns + games.discards, np.full(20, 71))
    assert (games.scores >= 0).all()
    assert carc.random_games(0).scores.shape == (0, 2)


def test_arrays_outlive_their_games_and_can_be_changed() -> None:
    games = carc.random_games(50, seed=2)
    scores = games.scores
    before = scores.copy()
    scores[0, 0] = 999
    assert games.scores[0, 0] == before[0, 0]
    scores[0, 0] = before[0, 0]
    del games
    gc.collect()
    np.testing.assert_array_equal(scores, before)


def test_random_games_survive_every_way() -> None:
    for games in (carc.random_games(9, rules=carc.Rules(players=3), seed=1), carc.random_games(0)):
        for other in (copy.copy(games), copy.deepcopy(games), pickle.loads(pickle.dumps(games))):
            for name in ("scores", "turns", "discards", "placements", "figures"):
                expected = getattr(games, name)
                np.testing.assert_array_equal(getattr(other, name), expected, strict=True)


def test_random_games_are_base_games_unless_told_otherwise() -> None:
    default = carc.random_games(30, seed=4)
    np.testing.assert_array_equal(
        default.scores, carc.random_games(30, rules=carc.Rules(), seed=4).scores
    )


# Games between agents


def results(
    rules: carc.Rules,
    agents: list[Any],
    games: list[tuple[int, list[int]]],
    threads: int = 1,
) -> dict[int, carc.GameResult]:
    out: dict[int, carc.GameResult] = {}

    def keep(index: int, result: carc.GameResult) -> bool:
        out[index] = result
        return True

    assert carc.play_games(rules, agents, games, threads=threads, on_result=keep) == len(games)
    return out


def test_named_and_python_agents_play_together_on_any_number_of_threads() -> None:
    rules = carc.Rules(players=3, abbot=True)
    games = [(seed, [seed % 3, (seed + 1) % 3, (seed + 2) % 3]) for seed in range(6)]
    agents = [DrawingAgent(), "greedy", carc.make_agent("random")]
    one = results(rules, agents, games)
    for threads in (2, 3):
        many = results(rules, agents, games, threads)
        assert {i: r.record for i, r in many.items()} == {i: r.record for i, r in one.items()}
    record = carc.GameRecord.from_json(one[1].record)
    assert record.agents == ["greedy", "random", "DrawingAgent"]
    assert record.seed == 1
    assert record.state.scores == one[1].scores
    assert record.state.points == one[1].points
    assert record.state.final_count == one[1].final_count


def test_object_with_a_choose_method_is_an_agent() -> None:
    class Duck:
        def choose(self, state: carc.GameState, rng: carc.Rng) -> str:
            action = state.legal_actions()[-1]
            return state.action_to_string(action)  # text will do

    result = carc.play_game(carc.Rules(), [Duck(), FirstAgent()], seed=5)
    assert carc.GameRecord.from_json(result.record).agents == ["Duck", "first"]


def test_agent_asks_named_agents_for_advice() -> None:
    class Advised(carc.Agent):
        def __init__(self) -> None:
            super().__init__()
            self.adviser = carc.make_agent("greedy")

        def choose(self, state: carc.GameState, rng: carc.Rng) -> carc.Action:
            return self.adviser.choose(state, rng)

    rules = carc.Rules()
    advised = carc.play_game(rules, [Advised(), "random"], seed=6)
    named = carc.play_game(rules, ["greedy", "random"], seed=6)
    assert advised.scores == named.scores


def test_what_an_agent_does_to_its_copy_of_the_state_changes_nothing() -> None:
    class Dreamer(carc.Agent):
        def choose(self, state: carc.GameState, rng: carc.Rng) -> carc.Action:
            first = state.legal_actions()[0]
            while not state.is_terminal():
                state.apply(state.legal_actions()[0])
            return first

    rules = carc.Rules()
    dreamt = carc.play_game(rules, [Dreamer(), Dreamer()], seed=7)
    assert dreamt.scores == carc.play_game(rules, [FirstAgent(), FirstAgent()], seed=7).scores


def test_caller_stops_the_run() -> None:
    seen: list[int] = []

    def stop_after_two(index: int, result: carc.GameResult) -> bool:
        seen.append(index)
        return len(seen) < 2

    games = [(seed, [0, 1]) for seed in range(200)]
    finished = carc.play_games(carc.Rules(), ["random"] * 2, games, on_result=stop_after_two)
    assert 2 <= finished == len(seen) < 200


def test_no_game_begins_after_the_caller_said_stop() -> None:
    asked_again = threading.Event()
    answers: list[bool] = []

    def stopped() -> bool:
        if answers:  # the first answer has taken effect
            asked_again.set()
        answers.append(True)
        return True

    class Waiting(FirstAgent):
        def choose(self, state: carc.GameState, rng: carc.Rng) -> carc.Action:
            assert asked_again.wait(60)
            return super().choose(state, rng)

    seen: list[int] = []
    games = [(seed, [0, 1]) for seed in range(10)]
    finished = carc.play_games(
        carc.Rules(),
        [Waiting(), "random"],
        games,
        on_result=lambda index, result: seen.append(index),
        stopped=stopped,
    )
    assert finished == 1
    assert seen == [0]


def test_exception_of_stopped_reaches_the_caller() -> None:
    def fail() -> bool:
        raise OwnError("no terminal")

    with pytest.raises(OwnError, match="no terminal"):
        carc.play_games(carc.Rules(), ["random"] * 2, [(1, [0, 1])] * 20, stopped=fail)


def test_base_agent_must_be_overridden() -> None:
    with pytest.raises(NotImplementedError, match="must define choose"):
        carc.play_game(carc.Rules(), [carc.Agent(), "random"])


# Agents that fail


class OwnError(Exception):
    pass


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("good", [0, 37])
def test_exception_of_an_agent_reaches_the_caller(threads: int, good: int) -> None:
    error = OwnError("I give up")
    agents = [AfterSomeTurns(good, raises(error)), "random"]
    games = [(seed, [0, 1]) for seed in range(8)]
    with pytest.raises(OwnError, match="I give up") as caught:
        carc.play_games(carc.Rules(), agents, games, threads=threads)
    assert caught.value is error
    names = [entry.name for entry in caught.traceback]
    assert "then" in names  # where it was raised


@pytest.mark.parametrize(
    "bad",
    [
        None,
        3,
        "nonsense",
        "D@100,100r0",
        "",
        b"-",
        carc.Action.place(100, 100, 0),
        carc.Action.meeple(13),
        carc.Action.from_int(2**32 - 1),
        object(),
        ["-"],
    ],
    ids=str,
)
def test_illegal_choice_of_an_agent_is_refused_by_name(bad: Any) -> None:
    for threads in (1, 2):
        agents = [AfterSomeTurns(20, lambda state: bad), "random"]
        games = [(1, [0, 1]), (2, [1, 0])]
        with pytest.raises(carc.Error, match=r"^agent 'odd one': (found|unknown tile)"):
            carc.play_games(carc.Rules(), agents, games, threads=threads)


def test_stale_choice_of_an_agent_is_refused() -> None:
    kept: list[carc.Action] = []

    def stale(state: carc.GameState) -> carc.Action:
        kept.append(state.legal_actions()[0])
        return kept[0]

    with pytest.raises(carc.IllegalAction, match="'odd one'"):
        carc.play_game(carc.Rules(), [AfterSomeTurns(0, stale), "random"])


def test_exception_of_the_callback_reaches_the_caller() -> None:
    def full(index: int, result: carc.GameResult) -> bool:
        raise OwnError("disk full")

    for threads in (1, 3):
        with pytest.raises(OwnError, match="disk full"):
            carc.play_games(
                carc.Rules(),
                ["random"] * 2,
                [(seed, [0, 1]) for seed in range(20)],
                threads=threads,
                on_result=full,
            )


def test_callback_that_returns_no_truth_value_is_an_error() -> None:
    def wordy(index: int, result: carc.GameResult) -> Any:
        return "go on"

    with pytest.raises((carc.Error, TypeError), match="on_result"):
        carc.play_games(carc.Rules(), ["random"] * 2, [(1, [0, 1])], on_result=wordy)


# Interruptions


@contextmanager
def interrupt_soon() -> Iterator[None]:
    """Let a KeyboardInterrupt come every twentieth of a second, until it has been raised."""

    def raise_interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, raise_interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("threads", [1, 2])
def test_interruption_ends_random_games(threads: int) -> None:
    with interrupt_soon(), pytest.raises(KeyboardInterrupt):
        carc.random_games(3_000_000, seed=1, threads=threads)


@pytest.mark.parametrize("agents", [["random", "random"], [FirstAgent(), "random"]], ids=str)
def test_interruption_ends_games_between_agents(agents: list[Any]) -> None:
    games = [(seed, [0, 1]) for seed in range(200_000)]
    with interrupt_soon(), pytest.raises(KeyboardInterrupt):
        carc.play_games(carc.Rules(), agents, games, threads=2)


def test_interruption_raised_in_an_agent_reaches_the_caller() -> None:
    with pytest.raises(KeyboardInterrupt):
        carc.play_game(carc.Rules(), [AfterSomeTurns(5, raises(KeyboardInterrupt())), "random"])


@pytest.mark.parametrize("threads", [1, 2])
def test_interruption_does_not_wait_for_the_end_of_slow_games(threads: int) -> None:
    interrupted = threading.Event()

    class Slow(FirstAgent):
        decisions = 0

        def choose(self, state: carc.GameState, rng: carc.Rng) -> carc.Action:
            self.decisions += 1
            if self.decisions == 10:
                signal.raise_signal(signal.SIGALRM)
                interrupted.wait(20)
            elif self.decisions > 10:
                threading.Event().wait(0.05)  # a slow thinker
            return super().choose(state, rng)

    def raise_interrupt(*_: object) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    slow = Slow()
    before = signal.signal(signal.SIGALRM, raise_interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            carc.play_games(
                carc.Rules(), [slow], [(1, [0, 0]), (2, [0, 0])], threads=threads, records=False
            )
    finally:
        signal.signal(signal.SIGALRM, before)
    assert slow.decisions < 60  # a game takes more than 140


def test_caller_may_give_any_sequence() -> None:
    rules = carc.Rules()
    one = carc.play_game(rules, ("random", FirstAgent()), seed=np.int64(1))
    assert one.scores == carc.play_game(rules, ["random", FirstAgent()], seed=1).scores
    games = np.array([[1, 0], [2, 0]])
    with pytest.raises(carc.Error, match="games: found array"):
        carc.play_games(rules, ["random"] * 2, list(games))
    assert carc.play_games(rules, ("random",) * 2, ((1, (0, 1)), [2, [1, 0]])) == 2


def test_other_threads_run_while_games_are_played() -> None:
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        before = ticks
        carc.random_games(5_000, seed=1)  # without the interpreter lock
        carc.play_games(carc.Rules(), ["greedy"] * 2, [(seed, [0, 1]) for seed in range(3)])
        assert ticks > before
    finally:
        done.set()
        thread.join()


def test_results_are_written_as_records_or_left_out() -> None:
    seen: list[str] = []

    def keep(index: int, result: carc.GameResult) -> bool:
        seen.append(result.record)
        return True

    games = [(1, [0, 1])]
    carc.play_games(carc.Rules(), ["random"] * 2, games, records=False, on_result=keep)
    carc.play_games(carc.Rules(), ["random"] * 2, games, on_result=keep)
    assert seen[0] == ""
    assert json.loads(seen[1])["format"] == "carc-record"
