"""The analysis of recorded games: its fields, its costs, what it reads and what it refuses."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import carc
from carc.analysis import analyse_game, analyst, summarise
from command_line import carc as run
from command_line import carc_json, error_line

FAST = ("-o", "simulations=64", "-o", "trees=2")
RULES = {
    "two": carc.Rules(),
    "river and abbot": carc.Rules(players=3, river="2021", abbot=True),
    "five": carc.Rules(players=5, farmers=False),
}


def played(rules: carc.Rules, seed: int = 1) -> carc.GameRecord:
    """Return a game of greedy against random players."""
    agents = ["greedy", *["random"] * (rules.players - 1)]
    return carc.GameRecord.from_json(carc.play_game(rules, agents, seed).record)


def first_turns(record: carc.GameRecord, turns: int) -> carc.GameRecord:
    """Return the beginning of a game."""
    out = carc.GameRecord(record.replay(0))
    for action in record.actions:
        if out.state.is_chance_node() and len(out.state.tiles) > turns:
            break
        out.apply(action)
    return out


def fast(name: str = "champion") -> carc.NamedAgent:
    """Return an analysing agent that searches little."""
    return analyst(name, {"simulations": 64, "trees": 2})


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a whole game."""
    path = tmp_path_factory.mktemp("analyse") / "game.jsonl"
    path.write_text(carc.play_game(RULES["two"], ["greedy", "random"], seed=5).record + "\n")
    return path


@pytest.fixture(scope="module")
def document(game: Path) -> Any:
    """Return the analysis of that game."""
    return carc_json("analyse", game, *FAST)


def test_every_turn_is_there_in_order(document: Any) -> None:
    turns = document["turns"]
    assert [turn["turnNumber"] for turn in turns] == list(range(1, 72))
    assert [turn["currentPlayer"] for turn in turns] == [number % 2 for number in range(71)]
    assert (document["agent"], document["agents"]) == (
        "champion:simulations=64,trees=2",
        ["greedy", "random"],
    )


def test_the_played_moves_are_those_of_the_game(document: Any, game: Path) -> None:
    record = carc.GameRecord.from_json(game.read_text())
    lines = [f"{turn['played']} {turn['figure']['played']}" for turn in document["turns"]]
    assert carc.GameRecord.from_text("\n".join(lines), record.rules).actions == record.actions


def decisions_of(document: Any) -> list[Any]:
    """Return all decisions of an analysis."""
    turns = document["turns"]
    return [decision for turn in turns for decision in (turn, turn["figure"]) if decision]


def test_fields_of_a_decision(document: Any) -> None:
    searched = [each for each in decisions_of(document) if each["rootInfo"]["visits"] > 0]
    assert len(searched) > 50
    for decision in searched:
        root, moves = decision["rootInfo"], decision["moveInfos"]
        assert root.keys() == {"visits", "utility", "scoreLead", "scoreMean", "exact"}
        assert root["visits"] == 64
        assert -1 <= root["utility"] <= 1
        assert len(root["scoreMean"]) == 2
        first, second = root["scoreMean"]
        assert abs(root["scoreLead"]) == pytest.approx(abs(first - second), abs=1e-4)
        orders = [move["order"] for move in moves]
        assert orders == sorted(set(orders))
        assert orders[:5] == list(range(min(5, len(moves))))
        assert moves[0]["move"] == decision["best"]
        assert decision["played"] in [move["move"] for move in moves]
        for move in moves:
            assert move["pv"][0] == move["move"]
            assert 0 <= move["prior"] <= 1
            if move["visits"] > 0:
                assert len(move["scoreMean"]) == len(move["scoreStdev"]) == 2


def test_a_turn_costs_what_its_decisions_cost(document: Any) -> None:
    for turn in document["turns"]:
        assert turn["cost"] == pytest.approx(turn["placementCost"] + turn["figure"]["cost"])
    for decision in decisions_of(document):
        if decision["played"] == decision["best"] and "figure" not in decision:
            assert decision["cost"] == 0


def test_a_cost_is_the_difference_of_the_leads(document: Any) -> None:
    for turn in document["turns"]:
        leads = {move["move"]: move["scoreLead"] for move in turn["moveInfos"]}
        if None not in (leads[turn["best"]], leads[turn["played"]]):
            cost = leads[turn["best"]] - leads[turn["played"]]
            assert turn["placementCost"] == pytest.approx(cost, abs=1e-6)


def test_the_summary_sums_up_the_turns(document: Any) -> None:
    for player in document["players"]:
        own = [t for t in document["turns"] if t["currentPlayer"] == player["player"]]
        assert player["turns"] == len(own)
        assert player["meanLoss"] == pytest.approx(sum(t["cost"] for t in own) / len(own))
        assert player["bestMoves"] <= player["decisions"] <= 2 * len(own)
        mistakes = [each["cost"] for each in player["biggestMistakes"]]
        assert mistakes == sorted((t["cost"] for t in own), reverse=True)[:3]
    greedy, random = document["players"]
    assert greedy["meanLoss"] < random["meanLoss"]


def test_the_last_turn_is_exact(document: Any) -> None:
    last = document["turns"][-1]
    assert last["rootInfo"]["exact"] is True
    assert last["rootInfo"]["scoreLead"] == int(last["rootInfo"]["scoreLead"])
    assert last["cost"] >= 0


def test_a_turn_alone_is_analysed_as_in_the_whole_game(document: Any, game: Path) -> None:
    alone = carc_json("analyse", game, *FAST, "--turn", 40)
    assert alone["turns"] == [document["turns"][39]]


def test_the_same_seed_gives_the_same_analysis(game: Path) -> None:
    words = ("analyse", game, *FAST, "--turn", 20)
    assert carc_json(*words) == carc_json(*words)
    other = carc_json(*words, "--seed", 9)["turns"][0]
    assert other["moveInfos"] != carc_json(*words)["turns"][0]["moveInfos"]


def test_top_limits_the_candidates_and_keeps_the_played_one(game: Path) -> None:
    turns = carc_json("analyse", game, *FAST, "--top", 1)["turns"]
    for turn in turns:
        moves = [move["move"] for move in turn["moveInfos"]]
        assert moves == list(dict.fromkeys([turn["best"], turn["played"]]))


def test_text_shows_turns_players_and_candidates(game: Path) -> None:
    done = run("analyse", game, *FAST)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("71 turns, 2 players, rules current, by champion:")
    assert "decisions: 142 of 142" in done.stderr
    assert "biggest mistakes" in done.stdout
    assert "Turn 30, player 1, lay" not in done.stdout
    done = run("analyse", game, *FAST, "--turn", 30, "--quiet")
    assert "Turn 30, player 1, lay" in done.stdout
    assert "(played)" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_all_rules_and_numbers_of_players(rules: carc.Rules) -> None:
    record = played(rules)
    turns = analyse_game(record, fast(), top=3)
    assert len(turns) == len(record.state.tiles) - 1
    for turn in turns:
        for move in turn.placement.moves:
            assert move.score_mean is None or len(move.score_mean) == rules.players
    assert sum(player.turns for player in summarise(record, turns)) == len(turns)


@pytest.mark.parametrize("agent", ["champion", "uct-rollout", "uct-rave", "flat-mc"])
def test_searching_agents_analyse(agent: str) -> None:
    record = first_turns(played(RULES["two"]), 4)
    options = {"simulations": 64, "trees": 1}
    assert len(analyse_game(record, analyst(agent, options))) == 4


def test_an_agent_that_searches_depths_analyses_exactly() -> None:
    record = first_turns(played(RULES["two"], seed=4), 12)
    agent = analyst("star25", {"depth": 1})
    assert agent.options["pruning"] == "none"
    turns = analyse_game(record, agent, top=1000)
    costs = [decision.cost for turn in turns for decision in turn.decisions]
    assert min(costs) >= -1e-4
    assert max(costs) > 0


def test_a_rotation_that_looks_like_another_is_the_same_move() -> None:
    record = carc.GameRecord(
        carc.GameState(carc.Rules(), carc.Deck(carc.Rules(), tiles=["U", "B"]))
    )
    for action in ("U", "U@0,1r3", "-", "B", "B@0,2r3", "monastery"):
        record.apply(action)
    straight, monastery = analyse_game(record, analyst("champion", {"solve_tiles": 0}), top=1000)
    assert straight.placement.played == "U@0,1r1"
    assert monastery.placement.played == "B@0,2r0"
    for turn in (straight, monastery):
        assert turn.placement.played in [move.move for move in turn.placement.moves]


def test_discards_are_listed_with_the_turn_before_which_they_came() -> None:
    record = next(
        r for r in (played(RULES["two"], seed) for seed in range(200)) if r.state.discarded
    )
    agent = analyst("champion", {"simulations": 2, "trees": 1, "solve_tiles": 0})
    turns = analyse_game(record, agent)
    assert [tile for turn in turns for tile in turn.discarded] == record.state.discarded


def test_an_action_without_visits_is_measured_by_what_follows() -> None:
    record = first_turns(played(RULES["two"], seed=2), 20)
    agent = analyst("champion", {"simulations": 4, "trees": 1})
    for turn in analyse_game(record, agent, top=1000):
        for decision in turn.decisions:
            (move,) = (move for move in decision.moves if move.move == decision.played)
            assert decision.is_forced or move.lead is not None


def test_one_legal_action_costs_nothing_and_is_not_searched(document: Any) -> None:
    forced = [each for each in decisions_of(document) if len(each["moveInfos"]) == 1]
    forced = [each for each in forced if each["rootInfo"]["scoreLead"] is None]
    assert forced
    assert all(each["rootInfo"]["visits"] == 0 for each in forced)
    assert all(each["best"] == each["played"] for each in forced)


@pytest.mark.parametrize("actions", range(6))
def test_an_unfinished_game_is_analysed_as_far_as_it_goes(actions: int) -> None:
    whole = played(RULES["two"])
    record = carc.GameRecord(whole.replay(0))
    for action in whole.actions[:actions]:
        record.apply(action)
    turns = analyse_game(record, fast())
    assert [len(turn.decisions) for turn in turns] == [2] * (actions // 3) + [1] * (
        actions % 3 == 2
    )
    assert all(turn.to_dict()["turnNumber"] == i for i, turn in enumerate(turns, 1))


def test_files_streams_and_moves_are_read_alike(game: Path, tmp_path: Path) -> None:
    record = carc.GameRecord.from_json(game.read_text())
    begun = first_turns(record, 3)
    text = begun.to_text()
    sources = {"moves.txt": text.encode(), "game.jsonl.gz": gzip.compress(begun.to_json().encode())}
    sources["two.jsonl"] = f"{game.read_text()}{begun.to_json()}\n".encode()
    sources["game.json"] = json.dumps(json.loads(begun.to_json()), indent=1).encode()
    for name, data in sources.items():
        (tmp_path / name).write_bytes(data)
    words = [["moves.txt"], ["game.jsonl.gz"], ["two.jsonl", "--game", "2"], ["game.json"]]
    words += [[text], [text.strip().replace("\n", ";")]]
    analyses = [carc_json("analyse", *each, *FAST, cwd=tmp_path)["turns"] for each in words]
    stream = run("analyse", "-", *FAST, "--json", stdin=text)
    analyses.append(json.loads(stream.stdout)["turns"])
    assert all(turns == analyses[0] for turns in analyses)
    assert len(analyses[0]) == 3


def test_moves_are_read_by_the_rules_given() -> None:
    rules = carc.Rules(players=3, abbot=True)
    text = first_turns(played(rules), 3).to_text()
    document = carc_json("analyse", text, *FAST, "--rules", "players=3,abbot=true")
    assert [turn["currentPlayer"] for turn in document["turns"]] == [0, 1, 2]
    assert len(document["players"]) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.jsonl"], "none.jsonl: No such file or directory"),
        (["bad.jsonl"], "bad.jsonl: line 1: "),
        (["bad.txt"], "bad.txt: line 1: "),
        (["bad.jsonl.gz"], "bad.jsonl.gz: the compressed data is damaged"),
        (["latin.txt"], "latin.txt: found byte 0xe9 at 0, expected UTF-8"),
        (["empty.txt"], "empty.txt: found nothing, expected a record or moves"),
        (["Z@0,-1r2 -"], "moves: line 1: "),
        (["game.jsonl", "--turn", "72"], "--turn: found 72, but the game has 71 turns"),
        (["game.jsonl", "--game", "2"], "found 1 games, expected a game 2 (--game)"),
        (["game.jsonl", "--game", "0"], "found 0, expected a whole number from 1"),
        (["game.jsonl", "--agent", "greedy"], "which does not search, expected an agent such as"),
        (["game.jsonl", "--agent", "jcz"], "which does not search"),
        (["game.jsonl", "--agent", "champoin"], "did you mean 'champion'?"),
        (["game.jsonl", "-o", "tree=1"], "unknown option 'tree', did you mean 'trees'?"),
        (["game.jsonl", "--agent", "star25", "-o", "utility=win"], "expected utility=linear"),
        (["game.jsonl", "--rules", "family"], "has its own rules, expected no --rules"),
        (["game.jsonl", "--top", "0"], "found 0, expected a whole number from 1"),
    ],
)
def test_what_cannot_be_analysed_is_one_error_line(
    words: list[str], message: str, game: Path, tmp_path: Path
) -> None:
    (tmp_path / "game.jsonl").write_bytes(game.read_bytes())
    (tmp_path / "bad.jsonl").write_text('{"format": "carc-record"}\n')
    (tmp_path / "bad.txt").write_text("V@9,9r0 -\n")
    (tmp_path / "bad.jsonl.gz").write_bytes(gzip.compress(game.read_bytes())[:100])
    (tmp_path / "latin.txt").write_bytes(b"\xe9\n")
    (tmp_path / "empty.txt").write_text("\n")
    assert message in error_line(run("analyse", *words, cwd=tmp_path))
