"""The `smith` command: thin, no logic. Results go to standard output, progress and errors to standard error."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Sequence
from typing import Annotated

import tyro

from embodiedsmith.cli.bench import Bench
from embodiedsmith.cli.catalogue import Assets, Robots
from embodiedsmith.cli.common import Command, Outcome
from embodiedsmith.cli.data import Export, Report, Validate
from embodiedsmith.cli.doctor import Doctor
from embodiedsmith.cli.learning import Eval, Spin, Train
from embodiedsmith.cli.lessons import Lessons
from embodiedsmith.cli.make import Collect, Forge, Make, Resume
from embodiedsmith.runtime.errors import Interrupted, SmithError

DESCRIPTION = "From a sentence to verified simulated robot data. `smith COMMAND --help` says more."

Chosen = (
    Annotated[Doctor, tyro.conf.subcommand("doctor")]
    | Annotated[Make, tyro.conf.subcommand("make")]
    | Annotated[Forge, tyro.conf.subcommand("forge")]
    | Annotated[Collect, tyro.conf.subcommand("collect")]
    | Annotated[Resume, tyro.conf.subcommand("resume")]
    | Annotated[Export, tyro.conf.subcommand("export")]
    | Annotated[Validate, tyro.conf.subcommand("validate")]
    | Annotated[Report, tyro.conf.subcommand("report")]
    | Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Eval, tyro.conf.subcommand("eval")]
    | Annotated[Spin, tyro.conf.subcommand("spin")]
    | Annotated[Assets, tyro.conf.subcommand("assets")]
    | Annotated[Robots, tyro.conf.subcommand("robots")]
    | Annotated[Lessons, tyro.conf.subcommand("lessons")]
    | Annotated[Bench, tyro.conf.subcommand("bench")]
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 done, 1 an explained failure, 2 a usage error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show Chinese must not end a run
            stream.reconfigure(errors="backslashreplace")
    try:
        command = parse(given)
    except SystemExit as stop:
        if stop.code and "--json" in given:
            print(json.dumps({"error": "UsageError", "what": "the command line was not understood", "exit_code": 2}))
        return 2 if stop.code else 0
    return execute(command)


def parse(arguments: Sequence[str]) -> Command:
    """The command that `arguments` ask for; raises SystemExit(2) after saying on standard error what is wrong."""
    chosen: Command = tyro.cli(
        Chosen,
        prog="smith",
        description=DESCRIPTION,
        args=list(arguments) or ["--help"],
        config=(tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes, tyro.conf.DisallowNone),
    )
    return chosen


def execute(command: Command) -> int:
    """Run a command and print what came of it."""
    try:
        with contextlib.redirect_stdout(sys.stderr):  # engines print; standard output is for results
            outcome = _run(command)
    except SmithError as error:
        print(f"smith: {error}", file=sys.stderr)
        if command.json:
            print(json.dumps({**error.to_json(), "exit_code": error.exit_code}, ensure_ascii=False), flush=True)
        return error.exit_code
    except Exception as error:  # a fault of ours: the traceback says where, and whoever reads the JSON is told too
        if command.json:
            print(json.dumps({"error": type(error).__name__, "what": str(error), "exit_code": 1}), flush=True)
        raise
    if outcome.text and not command.quiet:
        print(outcome.text, file=sys.stderr if command.json else sys.stdout, flush=True)
    if command.json:
        print(json.dumps({**outcome.data, "exit_code": outcome.exit_code}, ensure_ascii=False, allow_nan=False), flush=True)
    return outcome.exit_code


def _run(command: Command) -> Outcome:
    try:
        return command.run()
    except KeyboardInterrupt:
        raise Interrupted("stopped", remedy="type the command again") from None
