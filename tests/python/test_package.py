"""The package as it is installed: its names, version, types, quick start and weight."""

import copy
import importlib.metadata
import inspect
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import carc
import carc._core
from carc._version import __version__

ROOT = Path(__file__).resolve().parents[2]


def test_every_public_name_of_the_extension_is_exported() -> None:
    public = {name for name in dir(carc._core) if not name.startswith("_")}
    assert public <= set(carc.__all__)
    assert all(hasattr(carc, name) for name in carc.__all__)
    assert sorted(carc.__all__) == sorted(set(carc.__all__))


def test_version_has_one_source() -> None:
    assert carc.__version__ == __version__ == carc._core.__version__


def test_installed_version_is_the_source_version() -> None:
    try:
        installed = importlib.metadata.version("carc")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("carc runs from a folder that was not installed")
    assert installed == carc.__version__


def test_package_is_typed() -> None:
    folder = Path(inspect.getfile(carc)).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_core.pyi").exists()


def test_stubs_are_fresh() -> None:
    pytest.importorskip("pybind11_stubgen")
    pytest.importorskip("ruff")
    command = [sys.executable, str(ROOT / "scripts" / "make_stubs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def quick_start() -> str:
    """Return the code block of the package's docstring."""
    assert carc.__doc__ is not None
    block = carc.__doc__.split("Quick start::\n")[1].split("\n\nAn action")[0]
    return textwrap.dedent(block)


def test_quick_start_of_the_docstring_plays_a_game(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    exec(quick_start(), names)
    state = names["state"]
    assert isinstance(state, carc.GameState)
    assert state.is_terminal()
    assert "phase over" in capsys.readouterr().out


def test_errors_are_one_family() -> None:
    for error in (
        carc.ConfigError,
        carc.ResultsError,
        carc.IllegalAction,
        carc.RulesError,
        carc.RecordError,
    ):
        assert issubclass(error, carc.Error)


def test_command_line_starts_without_numpy_and_scipy() -> None:
    code = "import sys, carc.cli; print(sorted({'numpy', 'scipy', 'sqlite3'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "[]"


def test_an_agent_can_be_written_in_python() -> None:
    class Last(carc.Agent):
        name = "last"

        def choose(self, state: carc.GameState, rng: carc.Rng) -> carc.Action:
            return state.legal_actions()[-1]

    result = carc.play_game(carc.Rules(), [Last(), "greedy"], seed=3)
    record = carc.GameRecord.from_json(result.record)
    assert record.agents == ["last", "greedy"]
    assert record.state.scores == result.scores


def test_states_and_rules_survive_pickle_and_deepcopy() -> None:
    rules = carc.Rules(players=3, river="2021", abbot=True)
    state = carc.GameState(rules)
    state.draw(carc.Deck(rules, seed=5))
    assert pickle.loads(pickle.dumps(state)) == state
    assert copy.deepcopy(state) == state
    assert pickle.loads(pickle.dumps(rules)) == rules
