"""``./carc`` asks for what its command needs, and no more."""

import subprocess

import pytest

from command_line import ROOT

# Stands in for what looks at the system: nothing is there but a compiler and Python.
BARE_SYSTEM = """
has_compiler() { :; }
venv_fits() { :; }
has_header() { false; }
"""


def missing_packages(command: str) -> set[str]:
    """Return the Debian packages that a command of ./carc asks for on a bare system."""
    source = (ROOT / "carc").read_text(encoding="utf-8")
    begin = source.index("find_missing() {")
    function = source[begin : source.index("\n}\n", begin) + 3]
    script = f"{BARE_SYSTEM}{function}command=$1 long=no; find_missing; echo $missing"
    done = subprocess.run(
        ["/bin/sh", "-euc", script, "sh", command], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("command", ["tournament", "bench", "verify", ""])
def test_commands_need_no_libraries_of_the_tests(command: str) -> None:
    assert missing_packages(command) == {"nlohmann-json3-dev"}


def test_tests_need_their_libraries() -> None:
    libraries = {"libgtest-dev", "libgmock-dev", "libbenchmark-dev"}
    assert missing_packages("test") == {"nlohmann-json3-dev", *libraries}
