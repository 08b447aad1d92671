"""Guests: programs that play, what they lose by, and that nothing of them is left."""

import itertools
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import carc
from carc.config import load_tournament
from command_line import ROOT, carc_json, error_line, read_until, start
from command_line import carc as run
from hostile_bots import FAULTS

HOSTILE = ROOT / "tests" / "hostile_bots.py"
SIMPLE = ROOT / "examples" / "simple_bot.py"
MOVE_MS = 400  # the clock of bots that let it run out
PATIENCE = 20.0  # seconds for processes to vanish that are about to
numbers = itertools.count(1)


@pytest.fixture
def mark() -> Iterator[str]:
    """Give a word for the command lines of a test's bots, none of which may be there at its end."""
    word = f"guest-of-{os.getpid()}-{next(numbers)}"
    yield word
    assert left_over(word) == []


def left_over(word: str) -> list[str]:
    """Return the command lines of processes that hold this word; zombies have none."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what other processes do, or fail."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def guest(*words: object, **options: Any) -> carc.NamedAgent:
    """Return the agent that is this Python program."""
    options = {"start_ms": 60_000, "move_ms": 60_000, **options}
    return carc.make_agent("guest", command=[sys.executable, *map(str, words)], **options)


def hostile(fault: str, mark: str, **options: Any) -> carc.NamedAgent:
    """Return a bot that does wrong."""
    slow = FAULTS[fault][1] == "timeout"
    limits = {"memory_mb": 200, "move_ms": MOVE_MS if slow else 60_000}
    return guest(HOSTILE, fault, mark, **{**limits, **options})


def results_of(
    agents: list[carc.NamedAgent | str],
    games: list[tuple[int, list[int]]],
    *,
    players: int = 2,
    threads: int = 2,
    **rules: Any,
) -> list[carc.GameResult]:
    """Play these games and return their results in order."""
    results: dict[int, carc.GameResult] = {}
    carc.play_games(
        carc.Rules(players=players, **rules),
        agents,
        games,
        threads=threads,
        on_result=lambda index, result: results.update({index: result}),
    )
    assert len(results) == len(games)
    return [results[index] for index in range(len(games))]


# --- Hostile bots ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
def test_hostile_bot_loses_every_game_for_its_reason_and_leaves_nothing(
    fault: str, mark: str
) -> None:
    games = [(1, [0, 1]), (2, [1, 0]), (3, [0, 0]), (4, [0, 1])]
    results = results_of(["random", hostile(fault, mark)], games)
    for (_, seats), result in zip(games, results, strict=True):
        if 1 not in seats:
            assert result.forfeit is None
            continue
        assert result.forfeit is not None
        seat, reason, detail = result.forfeit
        assert (seat, reason) == (seats.index(1), FAULTS[fault][1]), detail
        assert Path(sys.executable).name in detail
        assert not carc.GameRecord.from_json(result.record).state.is_terminal()
    assert left_over(mark) == []


def test_one_of_several_hostile_bots_loses_a_game(mark: str) -> None:
    agents = ["random", *(hostile(fault, mark) for fault in ("crash_later", "hang", "wrong_id"))]
    seatings = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]]
    results = results_of(agents, [(7, seats) for seats in seatings], players=4)
    for seats, result in zip(seatings, results, strict=True):
        assert result.forfeit is not None
        seat, reason, _ = result.forfeit
        assert seats[seat] != 0
        assert reason == ("crash", "timeout", "stale")[seats[seat] - 1]


def test_detail_of_a_forfeit_holds_what_the_program_complained_of(mark: str) -> None:
    (result,) = results_of(["random", hostile("crash_at_start", mark)], [(1, [0, 1])])
    assert result.forfeit is not None
    assert "exited with code 1 before it answered hello" in result.forfeit[2]
    assert "RuntimeError: no weights found" in result.forfeit[2]


def test_run_that_is_left_leaves_no_program(mark: str) -> None:
    def leave(index: int, result: carc.GameResult) -> bool:
        raise RuntimeError("enough")

    agents = ["random", hostile("ignore_sigterm", mark, move_ms=3_600_000), "greedy"]
    with pytest.raises(RuntimeError, match="enough"):
        carc.play_games(
            carc.Rules(), agents, [(1, [0, 1]), (2, [0, 2])], threads=2, on_result=leave
        )
    assert left_over(mark) == []


def test_killed_run_leaves_no_program(mark: str, tmp_path: Path) -> None:
    command = f'["{sys.executable}", "{HOSTILE}", "hang", "{mark}"]'
    (tmp_path / "bot.toml").write_text(
        f"kind = 'guest'\ncommand = {command}\nmove_ms = 3_600_000\nstart_ms = 60_000\n"
    )
    with start("match", "bot.toml", "random", "--pairs", 2, cwd=tmp_path) as process:
        wait_until(lambda: left_over(mark) != [])
        process.kill()
        process.wait()
        wait_until(lambda: left_over(mark) == [])


# --- Good bots ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules",
    [
        {"players": 2},
        {"players": 3, "river": "2014"},
        {"players": 4, "abbot": True},
        {"players": 5, "river": "2021", "farmer_recall": True, "abbot": True},
    ],
    ids=str,
)
def test_example_plays_whole_games(rules: dict[str, Any], mark: str) -> None:
    seats = [1] * rules["players"]
    seats[-1] = 0
    results = results_of(["random", guest(SIMPLE, mark)], [(1, seats), (2, seats)], **rules)
    for result in results:
        assert result.forfeit is None
        assert carc.GameRecord.from_json(result.record).state.is_terminal()


def test_guest_plays_the_same_games_on_any_number_of_threads(mark: str) -> None:
    games = [(seed, [seed % 2, 1 - seed % 2]) for seed in range(6)]
    one, two = (
        [result.record for result in results_of(["greedy", bot], games, threads=threads)]
        for bot in [guest(SIMPLE, mark)]
        for threads in (1, 2)
    )
    assert one == two


def test_match_with_a_guest_from_a_file(tmp_path: Path, mark: str) -> None:
    (tmp_path / "bot.toml").write_text(
        f"kind = 'guest'\ncommand = ['{sys.executable}', '{SIMPLE}', '{mark}']\nmove_ms = 60000\n"
    )
    document = carc_json("match", "bot.toml", "random", "--pairs", 2, cwd=tmp_path)
    assert document["games"] == 4
    assert document["options"]["bot.toml"]["move_ms"] == 60_000
    assert document["score_mean"]["bot.toml"] > 0


def test_match_goes_on_after_a_guest_has_lost(tmp_path: Path, mark: str) -> None:
    (tmp_path / "bot.toml").write_text(
        f"kind = 'guest'\ncommand = ['{sys.executable}', '{HOSTILE}', 'ignore_sigterm', '{mark}']\n"
        f"move_ms = {MOVE_MS}\nstart_ms = 60000\n"
    )
    document = carc_json("match", "bot.toml", "random", "--pairs", 2, cwd=tmp_path)
    assert document["games"] == 4
    assert left_over(mark) == []


def test_guest_is_named_with_its_command(tmp_path: Path, mark: str) -> None:
    command = f"guest:command={sys.executable} {SIMPLE} {mark},move_ms=60000"
    result = carc.play_game(carc.Rules(), [command, "random"], 3)
    assert result.forfeit is None
    assert carc.GameRecord.from_json(result.record).agents == [command, "random"]
    document = carc_json("match", command, "random", "--pairs", 1, cwd=tmp_path)
    assert document["games"] == 2


def bot_in_a_folder_with_a_space(folder: Path, mark: str) -> Path:
    """Write the example as a program whose path has a space, and return that path."""
    program = folder / "sp ace" / "bot"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{SIMPLE}' '{mark}'\n")
    program.chmod(0o755)
    return program


def test_space_in_a_path_splits_no_word_of_a_list(tmp_path: Path, mark: str) -> None:
    program = str(bot_in_a_folder_with_a_space(tmp_path, mark))
    for command in ([program], f"'{program}'"):
        bot = carc.make_agent("guest", command=command, start_ms=60_000, move_ms=60_000)
        (result,) = results_of(["random", bot], [(1, [0, 1])])
        assert result.forfeit is None
    with pytest.raises(carc.OptionError, match="expected a program that can be run"):
        carc.make_agent("guest", command=program)


def test_program_named_like_a_value_is_a_program() -> None:
    assert carc.make_agent("guest:command=true").options == {"command": "true"}


def test_table_of_a_tournament_may_hold_any_command(tmp_path: Path) -> None:
    for command in ("cat --list a,b", "true", ["cat", "a,b=[c", '"']):
        (tmp_path / "t.toml").write_text(
            f"agents = ['random', {{agent = 'guest', command = {json.dumps(command)}}}]\n"
        )
        agent = load_tournament(tmp_path / "t.toml").agents[1]
        assert carc.make_agent(agent).options == {"command": command}


def test_program_that_does_not_exist_is_refused_before_the_run(tmp_path: Path) -> None:
    message = error_line(run("match", "guest:command=./no-such-bot", "random", cwd=tmp_path))
    assert "command: found './no-such-bot', expected a program that can be run" in message
    message = error_line(run("match", "guest", "random", cwd=tmp_path))
    assert "command: found none" in message
    message = error_line(run("match", "gust:command=./bot", "random", cwd=tmp_path))
    assert "did you mean 'guest'?" in message


def clocked_games(games: int, mark: str) -> list[carc.GameResult]:
    """Play a correct bot with 100 ms a decision."""
    bot = guest(SIMPLE, mark, move_ms=100)
    return results_of(["random", bot], [(seed, [seed % 2, 1 - seed % 2]) for seed in range(games)])


def test_correct_bot_loses_nothing_by_its_clock(mark: str) -> None:
    assert [result.forfeit for result in clocked_games(50, mark) if result.forfeit] == []


@pytest.mark.long
def test_correct_bot_loses_nothing_by_its_clock_in_2000_games(mark: str) -> None:
    assert [result.forfeit for result in clocked_games(2_000, mark) if result.forfeit] == []


def test_guest_is_not_asked_about_positions_without_their_game() -> None:
    state = carc.GameState(carc.Rules())
    state.draw(carc.Deck(state.rules, seed=1))
    with pytest.raises(carc.Error, match="position without the game"):
        guest(SIMPLE).choose(state, carc.Rng(1))


def test_document_of_the_protocol_holds_the_example_and_every_reason() -> None:
    document = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    code = SIMPLE.read_text(encoding="utf-8").partition('"""\n\n')[2]
    assert f"```python\n{code}```\n" in document
    for _, reason in FAULTS.values():
        assert f"| `{reason}` |" in document
    options = {
        name for kind, _, listed in carc.agent_kinds() if kind == "guest" for name, *_ in listed
    }
    shown = document.partition('kind = "guest"\n')[2].partition("```")[0]
    assert {line.partition(" = ")[0] for line in shown.splitlines()} < options


# --- carc bot -------------------------------------------------------------------------------------


def test_served_agent_answers_what_the_agent_decides() -> None:
    from carc.bot import BotServer

    for name in ("greedy", "jcz", "champion:simulations=50"):
        server, agent = BotServer(name), carc.make_agent(name)
        record = carc.GameRecord(carc.GameState(carc.Rules(players=3, abbot=True, river="2021")))
        deck, asked = carc.Deck(record.rules, seed=5), 0
        while not record.state.is_terminal() and asked < 60:
            state = record.state
            if state.is_chance_node():
                record.apply(deck.draw())
                continue
            asked += 1
            expected = state.action_to_string(agent.choose(state, carc.Rng(asked)))
            request = carc.move_request(record, str(asked), 3600.0, asked)
            reply = answer(server, request)
            assert (reply["id"], reply["move"]) == (str(asked), expected)
            record.apply(expected)


def test_served_search_says_what_it_thinks_and_heeds_the_limits() -> None:
    from carc.bot import BotServer

    server = BotServer("champion")
    record = carc.GameRecord(carc.GameState(carc.Rules()))
    record.apply(carc.Deck(record.rules, seed=5).draw())
    request = {**parsed(carc.move_request(record, "a", 3600.0, 1)), "maxVisits": 40}
    reply = answer(server, request)
    assert reply["rootInfo"]["visits"] <= 40
    infos = reply["moveInfos"]
    assert infos[0]["move"] == reply["move"]
    assert [info["order"] for info in infos] == list(range(len(infos)))
    assert sum(info["visits"] for info in infos) <= 40
    hurried = answer(server, {**request, "maxVisits": 10**9, "maxTime": 0.05})
    assert hurried["rootInfo"]["visits"] < 10**8


BAD_LINES = {
    "no JSON": ("move please", "expected one JSON object"),
    "half a line": ('{"id":"1","action":', "expected one JSON object"),
    "a list": ("[1]", "expected one JSON object"),
    "deep": ("[" * 100_000, "expected one JSON object"),
    "no id": ('{"action":"hello"}', "id: found None"),
    "id of a number": ('{"id":1,"action":"hello"}', "id: found 1"),
    "no action": ('{"id":"1"}', "action: found None, expected hello or move"),
    "other protocol": ('{"id":"1","action":"hello","protocol":9}', "protocol: found 9, expected 1"),
}
BAD_CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "rules": ({"rules": {"playrs": 2}}, "players"),
    "rules of a list": ({"rules": []}, "rules: found []"),
    "moves": ({"moves": "D@0,1r0"}, "moves: found"),
    "illegal moves": ({"moves": ["D@50,50r0 -"]}, "line 1"),
    "tile": ({"tile": "QQ"}, "QQ"),
    "no tile": ({"tile": None}, "tile: found None"),
    "phase": ({"phase": "draw"}, "phase: found 'draw', expected place or figure"),
    "wrong phase": ({"phase": "figure"}, "phase: found figure, expected draw"),
    "seed": ({"seed": -1}, "seed: found -1"),
    "time": ({"maxTime": "soon"}, "maxTime: found 'soon'"),
    "visits": ({"maxVisits": 0}, "maxVisits: found 0"),
    "start": ({"start": "D@x"}, "start: found"),
    "bag": ({"bag": {"U": -2}}, "bag: found"),
}


BAD_CHANGES |= {
    "endless time": ({"maxTime": 10**400}, "maxTime: found 1000"),
    "endless visits": ({"maxVisits": 10**400}, "maxVisits: found 1000"),
    "endless seed": ({"seed": -(10**400)}, "seed: found -1000"),
    "time that is no number": ({"maxTime": math.nan}, "maxTime: found nan"),
}


def first_request() -> dict[str, Any]:
    """Return the request for the first decision of a game."""
    record = carc.GameRecord(carc.GameState(carc.Rules()))
    record.apply(carc.Deck(record.rules, seed=5).draw())
    return parsed(carc.move_request(record, "1", 3600.0, 1))


@pytest.mark.parametrize("case", BAD_LINES)
def test_bad_line_gets_an_error(case: str) -> None:
    from carc.bot import BotServer

    line, message = BAD_LINES[case]
    server = BotServer("greedy")
    assert message in answer(server, line)["error"]
    assert "move" in answer(server, first_request())


@pytest.mark.parametrize("case", BAD_CHANGES)
def test_bad_request_gets_an_error_with_its_id(case: str) -> None:
    from carc.bot import BotServer

    change, message = BAD_CHANGES[case]
    server, request = BotServer("greedy"), first_request()
    reply = answer(server, {**request, **change})
    assert message in reply["error"]
    assert reply["id"] == "1"
    assert "move" in answer(server, request)


def test_unforeseen_error_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    from carc import bot

    def fail(request: object) -> carc.GameState:
        raise ZeroDivisionError("found 0")

    server = bot.BotServer("greedy")
    monkeypatch.setattr(bot, "_position", fail)
    reply = answer(server, first_request())
    assert reply == {"id": "1", "error": "ZeroDivisionError: found 0"}


def test_start_and_bag_of_a_request_are_heeded() -> None:
    from carc.bot import BotServer

    text = "start D@0,0r1\nfirst_player 1\nbag U=2 V=3 C=1\nU@0,1r0 -\nV"
    record = carc.GameRecord.from_text(text, carc.Rules())
    reply = answer(BotServer("greedy"), carc.move_request(record, "1", 1.0, 1))
    record.apply(reply["move"])


def test_bot_serves_until_its_input_ends() -> None:
    lines = [carc.hello_request("0"), "rubbish", "", "x" * 3_000_000, dumped(first_request())]
    done = run("bot", "greedy", stdin="\n".join(lines))
    assert done.returncode == 0, done.stderr
    hello, rubbish, longest, move = map(parsed, done.stdout.splitlines())
    assert (hello["id"], hello["protocol"], hello["name"]) == ("0", 1, "greedy")
    assert "error" in rubbish
    assert "more than" in longest["error"]
    assert move["id"] == "1"
    assert done.stderr == ""


def test_bot_ends_with_sigterm() -> None:
    with start("bot", "greedy") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(carc.hello_request("0") + "\n")
        process.stdin.flush()
        read_until(process.stdout, "\n")
        process.terminate()
        assert process.wait(PATIENCE) != 0


def test_unknown_agent_cannot_be_served() -> None:
    assert "did you mean 'greedy'" in error_line(run("bot", "gredy"))


def test_guest_cannot_be_served(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text("kind = 'guest'\ncommand = 'cat'\n")
    for name in ("guest:command=cat", "bot.toml"):
        message = error_line(run("bot", name, cwd=tmp_path))
        assert f"found '{name}', expected an agent of carc" in message


def test_served_agents_play_each_other(mark: str) -> None:
    bots = [guest("-m", "carc", "bot", name) for name in ("greedy", "random")]
    results = results_of([*bots], [(1, [0, 1]), (2, [1, 0])], river="2021", abbot=True)
    assert [result.forfeit for result in results] == [None, None]
    assert results[0].scores[0] > results[0].scores[1]
    assert results[1].scores[1] > results[1].scores[0]


def answer(server: Any, request: dict[str, Any] | str) -> dict[str, Any]:
    """Return what the server answers."""
    return parsed(server.answer(request if isinstance(request, str) else dumped(request)))


def parsed(line: str) -> dict[str, Any]:
    """Return the object in a line."""
    value = json.loads(line)
    assert isinstance(value, dict)
    return value


def dumped(value: object) -> str:
    """Return the line of an object."""
    return json.dumps(value)


# --- carc bot-check -------------------------------------------------------------------------------


def test_good_bots_pass_the_check(mark: str) -> None:
    for command in ([SIMPLE, mark], ["-m", "carc", "bot", "greedy"]):
        words = ["--move-ms", 60_000, "--start-ms", 60_000, sys.executable, *command]
        done = run("bot-check", *words)
        assert done.returncode == 0, done.stdout
        assert "FAILED" not in done.stdout
        assert "a game: 5 players" in done.stdout
        assert done.stdout.splitlines()[-1].endswith("it can play as guest:command=...")


COMPLAINTS = {
    "crash_at_start": "RuntimeError: no weights found",
    "crash_later": "it exited with code 1, expected an answer",
    "exit_0": "it exited with code 0, expected an answer",
    "hang": "no answer within 400 ms: is the output flushed after each line?",
    "ignore_sigterm": "no answer within 400 ms",
    "illegal_move": "is not legal",
    "stale_move": "the id of the request",
    "garbage_line": "b'thinking about it ...' is no JSON",
    "half_a_line": "has no end: is the output flushed after each line?",
    "flood": "wrote a line of more than 1048576 bytes",
    "wrong_id": 'expected "check-',
}


@pytest.mark.parametrize("fault", COMPLAINTS)
def test_check_says_what_is_wrong(fault: str, mark: str) -> None:
    slow = FAULTS[fault][1] == "timeout"
    words = ["--start-ms", 60_000, "--move-ms", MOVE_MS if slow else 60_000]
    done = run("bot-check", *words, "--json", sys.executable, HOSTILE, fault, mark)
    assert done.returncode == 1, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document["passed"] is False
    failed = [check["detail"] for check in document["checks"] if not check["passed"]]
    assert len(failed) == 1
    assert COMPLAINTS[fault] in failed[0]


def test_check_of_what_is_no_program_says_so() -> None:
    done = run("bot-check", "./no-such-bot")
    assert done.returncode == 1
    assert "FAILED  start: found './no-such-bot', expected a program that can be run" in done.stdout


def test_check_takes_a_path_with_a_space(tmp_path: Path, mark: str) -> None:
    program = bot_in_a_folder_with_a_space(tmp_path, mark)
    done = run("bot-check", "--move-ms", 60_000, "--start-ms", 60_000, program)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout


def test_error_in_a_whole_game_is_a_failed_check(monkeypatch: pytest.MonkeyPatch) -> None:
    from carc import bot_check

    def refuse(*agents: object, **options: object) -> carc.NamedAgent:
        raise carc.OptionError("command: found './sp'")

    monkeypatch.setattr(bot_check, "make_agent", refuse)
    command = [sys.executable, str(SIMPLE)]
    checks = list(bot_check.check_bot(command, start_ms=60_000, move_ms=60_000))
    failed = [check.detail for check in checks if not check.passed]
    assert failed == ["cannot be played: command: found './sp'"] * len(bot_check.GAMES)
