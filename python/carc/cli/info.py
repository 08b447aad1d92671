"""``carc rules``, ``carc agents``, ``carc networks`` and ``carc version``: what there is."""

import json as json_format
import platform
from pathlib import Path
from typing import Annotated, Any

import typer

from carc._core import STATE_BYTES, Rules, agent_kinds, rules_options, rules_presets
from carc._version import __version__
from carc.agents import agent_settings, agent_table
from carc.cli.terminal import JsonOption, out, plain_table, print_json
from carc.networks import network_file, read_network, shipped


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: carc rules --json")(rules)
    app.command(epilog="Example: carc agents --options champion")(agents)
    app.command(epilog="Example: carc networks --json")(networks)
    app.command(epilog="Example: carc version --json")(version)


def rules(json: JsonOption = False) -> None:
    """List the options of the rules and the presets.

    Rules are given to other commands as --rules family, --rules abbot=true,river=2021, or both:
    family,small_city=2.
    """
    presets = [(name, meaning, changes(name)) for name, meaning in rules_presets()]
    if json:
        print_json(
            {
                "options": [
                    {"name": name, "values": values, "default": values[0], "meaning": meaning}
                    for name, values, meaning in rules_options()
                ],
                "presets": [
                    {"name": name, "meaning": meaning, "options": options}
                    for name, meaning, options in presets
                ],
            }
        )
        return
    table = plain_table("option", "values (default first)", "meaning")
    for name, values, meaning in rules_options():
        table.add_row(
            name, ", ".join(map(_text, values)) + (", a file" if name == "tiles" else ""), meaning
        )
    out().print(table)
    out().print()
    table = plain_table("preset", "changes", "meaning")
    for name, meaning, options in presets:
        table.add_row(
            name,
            "\n".join(f"{key}={_text(value)}" for key, value in options.items()) or "-",
            meaning,
        )
    out().print(table)


def agents(
    options: Annotated[
        str | None,
        typer.Option(metavar="AGENT", help="List the options of this agent or kind of agent."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the agents that can be named, weakest first, or the options of one."""
    if options is not None:
        _print_options(options, json)
        return
    if json:
        print_json(
            {"agents": [{"name": name, "summary": summary} for name, summary in agent_table()]}
        )
        return
    table = plain_table("agent", "how it decides")
    for name, summary in agent_table():
        table.add_row(name, summary)
    out().print(table)


def _print_options(agent: str, json: bool) -> None:
    kinds = {name: options for name, _, options in agent_kinds()}
    kind, own = (agent, {}) if agent in kinds else agent_settings(agent)
    rows = [
        (name, json_format.dumps(own[name]) if name in own else default, accepted, meaning)
        for name, default, accepted, meaning in kinds[kind]
    ]
    if json:
        keys = ("name", "value", "accepted", "meaning")
        print_json({"kind": kind, "options": [dict(zip(keys, row, strict=True)) for row in rows]})
        return
    table = plain_table("option", "value", "accepted", "meaning")
    for row in rows:
        table.add_row(*row)
    out().print(f"{agent}: kind {kind}" + ("" if rows else ", which has no options"))
    if rows:
        out().print(table)


def networks(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[NETWORK]...", help="Names or .safetensors files; without them all that ship."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the networks that ship with carc, or describe files of weights.

    An agent gets one by its option network: a name of this list or the path of a file. The checksum
    stands for the weights in results files.
    """
    found = [read_network(network_file(str(name))) for name in files or shipped()]
    if json:
        print_json({"networks": [network.to_dict() for network in found]})
        return
    table = plain_table("network", "kind", "inputs", "parameters", "bytes", "checksum", "note")
    for network in found:
        numbers = (f"{network.parameters:,}", f"{network.bytes:,}")
        table.add_row(
            network.name, network.format, network.encoder, *numbers, network.checksum, network.note
        )
    out().print(table if found else "no networks")


def version(json: JsonOption = False) -> None:
    """Print the version."""
    python, system = platform.python_version(), platform.platform()
    if json:
        print_json(
            {"carc": __version__, "python": python, "platform": system, "state_bytes": STATE_BYTES}
        )
    else:
        out().print(f"carc {__version__} (Python {python}, {system})", soft_wrap=True)


def changes(preset: str) -> dict[str, Any]:
    """Return the options that a preset sets to something other than the default."""
    usual = Rules().to_dict()
    return {
        option: value
        for option, value in Rules.preset(preset).to_dict().items()
        if value != usual[option]
    }


def _text(value: object) -> str:
    return str(value).lower()
