"""``./carc`` asks for what its command needs, and no more."""

import subprocess
import sys
from pathlib import Path

import pytest

from command_line import ROOT

# Stands in for what looks at the system: nothing is there but a compiler and Python.
BARE_SYSTEM = """
has_compiler() { :; }
venv_fits() { :; }
has_header() { false; }
"""


def run_function(name: str, script: str, *arguments: object) -> list[str]:
    """Run a script of the shell that knows functions of ./carc, and return the words printed."""
    source = (ROOT / "carc").read_text(encoding="utf-8")
    function = ""
    for each in name.split():
        begin = source.index(f"\n{each}() {{")
        function += source[begin : source.index("\n}\n", begin) + 3]
    done = subprocess.run(
        ["/bin/sh", "-euc", function + script, "sh", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def missing_packages(command: str) -> set[str]:
    """Return the Debian packages that a command of ./carc asks for on a bare system."""
    script = f"{BARE_SYSTEM}command=$1 long=no; find_missing; echo $missing"
    return set(run_function("find_missing", script, command))


def extras(*arguments: str) -> list[str]:
    """Return the extras of pyproject.toml that ./carc installs for a command."""
    return run_function("extras_of", 'extras_of "$@"', *arguments)


@pytest.mark.parametrize("command", ["tournament", "bench", "verify", ""])
def test_commands_need_no_libraries_of_the_tests(command: str) -> None:
    assert missing_packages(command) == {"nlohmann-json3-dev"}


def test_tests_need_their_libraries() -> None:
    libraries = {"libgtest-dev", "libgmock-dev", "libbenchmark-dev"}
    assert missing_packages("test") == {"nlohmann-json3-dev", *libraries}


def test_commands_need_their_extras_and_no_others() -> None:
    assert extras() == []
    assert extras("test") == ["test", "data", "report", "ray", "train"]
    assert extras("test", "-h") == extras("test")
    assert extras("report", "a.sqlite") == ["report"]
    assert extras("train", "a.toml", "--run", "a") == extras("fit", "games") == ["train"]
    assert extras("selfplay", "games") == ["data"]
    assert extras("gate", "a.safetensors", "b.safetensors") == []
    assert extras("train", "a.toml", "--cluster", "local") == ["train", "ray"]
    assert extras("selfplay", "games", "--cluster=local") == ["data", "ray"]
    assert extras("results", "export", "a.sqlite", "a.parquet") == ["data"]
    assert extras("verify", "a.parquet") == []
    for command in ("match", "tournament"):
        assert extras(command, "--cluster", "local") == ["ray"]
        assert extras(command, "--cluster=local") == ["ray"]
    assert extras("match", "resnet-search:network=a.safetensors", "greedy") == ["train"]
    assert extras("selfplay", "games", "--kind", "resnet") == ["data", "train"]
    assert (
        extras("match", "feature-net", "greedy")
        == extras("agents", "--options", "resnet-search")
        == []
    )
    assert extras("bot-check", "./bot", "--cluster") == []
    for flag in ("--help", "-h"):
        assert extras("report", flag) == extras("match", "--cluster", "local", flag) == []


@pytest.mark.parametrize(
    ("arguments", "installed", "expected"),
    [
        (["tournament"], "", "OFF"),
        (["tournament"], "report", "OFF"),
        (["tournament"], "report train", "ON"),  # the package is not built again for each command
        (["fit", "games"], "", "ON"),
        (["test"], "", "ON"),
    ],
)
def test_the_package_is_built_with_torch_where_it_is_installed(
    arguments: list[str], installed: str, expected: str, tmp_path: Path
) -> None:
    if installed:
        (tmp_path / "carc-extras").write_text(installed.replace(" ", "\n") + "\n")
    script = """
    root=$1 venv=$2 state=; shift 2
    find() { :; }
    needed=$(extras_of "$@" | tr ' ' '\n')
    fingerprint | sed -n 's/^torch: //p'
    """
    names = "extras_of has_torch fingerprint"
    assert run_function(names, script, ROOT, tmp_path, *arguments) == [expected]


def test_extras_that_are_no_more_are_passed_over(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    script = 'venv=$1 root=$2; shift 2; requirements "$@"'
    requirements = run_function("requirements", script, tmp_path, ROOT, "gone", "report")
    assert any(word.startswith("matplotlib") for word in requirements)
