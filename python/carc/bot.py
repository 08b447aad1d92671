"""Serving an agent as a bot: requests and answers of docs/protocol.md, one JSON object a line."""

import json
import math
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeGuard

from carc._core import PROTOCOL_VERSION, Error, GameRecord, GameState, NamedAgent, Rng, Rules
from carc._version import __version__
from carc.agents import GUEST, make_agent, option_names
from carc.errors import ConfigError

LONGEST_LINE = 1 << 20  # bytes
LONGEST_SHOWN = 60  # characters of a value in a message
MOST_INFOS = 10  # moves of which the search says something
TIME_SHARE = 0.8  # of maxTime that a search may take: the rest is for the way there and back
PHASES = ("place", "figure")
ACTIONS = ("hello", "move")


class BotServer:
    """Answers requests for one agent; what is wrong with a request is answered, never raised."""

    def __init__(self, agent: str) -> None:
        """Make the agent; raises ConfigError or OptionError."""
        self._name = agent
        self._agent = make_agent(agent)
        if self._agent.kind == GUEST:
            raise ConfigError(
                f"found {_shown(agent)}, expected an agent of carc: a guest is a bot itself"
            )
        self._known = option_names(self._agent.kind)
        self._limited = lru_cache(maxsize=8)(self._make_limited)

    def answer(self, line: str | bytes) -> str:
        """Return the line that answers this one."""
        identity: str | float | None = None
        try:
            if len(line) > LONGEST_LINE:
                raise ConfigError(f"found a line of more than {LONGEST_LINE} bytes")
            request = _parsed(line)
            found = request.get("id")
            identity = found if isinstance(found, str | int | float) else None
            if not isinstance(found, str):
                raise ConfigError(f"id: found {_shown(found)}, expected a text")
            action = request.get("action")
            if action not in ACTIONS:
                raise ConfigError(f"action: found {_shown(action)}, expected hello or move")
            reply = self._hello(request) if action == "hello" else self._move(request)
        except Error as error:
            reply = {"error": str(error)}
        except Exception as error:  # the next request may be answered well
            reply = {"error": f"{type(error).__name__}: {error}"}
        return json.dumps({"id": identity, **reply}, separators=(",", ":"))

    def _hello(self, request: Mapping[str, Any]) -> dict[str, Any]:
        asked = request.get("protocol", PROTOCOL_VERSION)
        if asked != PROTOCOL_VERSION:
            raise ConfigError(f"protocol: found {_shown(asked)}, expected {PROTOCOL_VERSION}")
        return {"protocol": PROTOCOL_VERSION, "name": self._agent.name, "version": __version__}

    def _move(self, request: Mapping[str, Any]) -> dict[str, Any]:
        state = _position(request)
        rng = Rng(int(_number(request, "seed", 0, 2**64 - 1, 0)))
        legal = state.legal_actions()
        if len(legal) == 1:
            return {"move": state.action_to_string(legal[0])}
        visits = int(_number(request, "maxVisits", 1, 10**12, 10**12))
        seconds = _number(request, "maxTime", 0, math.inf, math.inf)
        agent = self._limited(visits, _rounded_down(TIME_SHARE * 1000 * seconds))
        result = agent.analyse(state, rng)
        if result is None:
            return {"move": state.action_to_string(agent.choose(state, rng))}
        ranked = sorted(result.actions, key=lambda report: (-report.visits, -report.value))
        best = result.best
        ranked.sort(key=lambda report: report.action != best)  # the one that is played comes first
        infos = [
            {
                "move": state.action_to_string(report.action),
                "order": order,
                "visits": report.visits,
                "prior": report.prior,
                "utility": report.value,
                "scoreMean": list(report.points),
            }
            for order, report in enumerate(ranked[:MOST_INFOS])
        ]
        player = state.current_player()
        root = {
            "visits": result.simulations,
            "utility": result.value[player],
            "scoreMean": list(result.points),
            "currentPlayer": player,
        }
        return {"move": infos[0]["move"], "moveInfos": infos, "rootInfo": root}

    def _make_limited(self, visits: int, milliseconds: float) -> NamedAgent:
        """Return the agent with a search that ends at these limits, where it has such options."""
        options = self._agent.options
        limits: dict[str, Any] = {}
        if "simulations" in self._known and visits < 10**12:
            limits["simulations"] = min(visits, options.get("simulations", visits))
        if "time_ms" in self._known and math.isfinite(milliseconds):
            limits["time_ms"] = min(milliseconds, options.get("time_ms") or milliseconds)
        if not limits:
            return self._agent
        try:
            return make_agent(self._name, **limits)
        except Error:  # some searches cannot keep to a time
            limits.pop("time_ms", None)
            return make_agent(self._name, **limits)


def _position(request: Mapping[str, Any]) -> GameState:
    """Return the position to decide, which the request must describe without contradiction."""
    rules = _rules(request)
    lines = _texts(request, "moves")
    if "start" in request:
        lines.insert(0, f"start {_text(request, 'start')}")
    if "first_player" in request:
        lines.insert(0, f"first_player {_number(request, 'first_player', 0, 4, 0)}")
    if "bag" in request:
        lines.insert(0, f"bag {_bag(request['bag'])}")
    phase = _text(request, "phase")
    if phase not in PHASES:
        raise ConfigError(f"phase: found {_shown(phase)}, expected place or figure")
    if phase == "place":
        lines.append(_text(request, "tile"))
    state = GameRecord.from_text("\n".join(lines), rules).state
    if state.phase != phase:
        raise ConfigError(f"phase: found {phase}, expected {state.phase} after these moves")
    return state


def _rules(request: Mapping[str, Any]) -> Rules:
    options = request.get("rules", {})
    if not isinstance(options, dict):
        raise ConfigError(f"rules: found {_shown(options)}, expected an object of options")
    if "players" in request:
        options = {"players": request["players"], **options}
    return _cached_rules(json.dumps(options))


@lru_cache(maxsize=64)
def _cached_rules(text: str) -> Rules:
    return Rules.from_json(text)


def _bag(bag: object) -> str:
    if not isinstance(bag, dict):
        raise ConfigError(f"bag: found {_shown(bag)}, expected an object such as {{'U': 2}}")
    return " ".join(f"{tile}={copies}" for tile, copies in bag.items())


def _texts(request: Mapping[str, Any], key: str) -> list[str]:
    value = request.get(key)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{key}: found {_shown(value)}, expected a list of texts")
    return list(value)


def _text(request: Mapping[str, Any], key: str) -> str:
    value = request.get(key)
    if not isinstance(value, str):
        raise ConfigError(f"{key}: found {_shown(value)}, expected a text")
    return value


def _number(
    request: Mapping[str, Any], key: str, least: float, most: float, usual: float
) -> int | float:
    value = request.get(key, usual)
    if _is_number(value) and least <= value <= most:
        return value
    raise ConfigError(f"{key}: found {_shown(value)}, expected a number from {least} to {most}")


def _is_number(value: object) -> TypeGuard[int | float]:
    """Say whether it is a number that a float can hold."""
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) <= sys.float_info.max
    return isinstance(value, float)


def _rounded_down(milliseconds: float) -> float:
    """Return two digits of it, so that few agents are made while a clock runs out."""
    if not 1 <= milliseconds < math.inf:
        return max(1.0, milliseconds)
    step: float = 10.0 ** (math.floor(math.log10(milliseconds)) - 1)
    return math.floor(milliseconds / step) * step


def _parsed(line: str | bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"found {_shown(line)}, expected one JSON object: {error}") from error
    if not isinstance(request, dict):
        raise ConfigError(f"found {_shown(request)}, expected one JSON object")
    return request


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."
