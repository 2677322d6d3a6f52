"""The commands of `pressroom`. Exit codes: 0 done, 1 failed, 2 usage, 3 differs, 4 sign-in,
5 waiting for approval, 6 outcome unknown or not known yet.
"""

import argparse
import getpass
import json
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, unquote

import httpx

from .client import (
    FAILED,
    SERVICE,
    TOKEN,
    UNKNOWN,
    USAGE,
    CLIError,
    PressroomServer,
    ServerAwayError,
    base_url,
    key_store,
    logger,
    stored_token,
)

DONE, DIFFERS, WAITING = 0, 3, 5
OUTCOMES = {
    "done": (DONE, "Live"),
    "planned": (DONE, "Planned"),
    "failed": (FAILED, "Not published"),
    "waiting_for_approval": (WAITING, "Waiting for approval"),
    "running": (UNKNOWN, "Publishing"),
    "unknown": (UNKNOWN, "Outcome unknown"),
}
POLL_S = 3.0
Command = Callable[[PressroomServer, argparse.Namespace], int]
IN_ARGUMENT = (
    "A token was an argument, which lists of processes and histories of shells show. "
    "Revoke it, make a new one, and set PRESSROOM_TOKEN."
)


def main(
    arguments: Sequence[str] | None = None, transport: httpx.BaseTransport | None = None
) -> int:
    """Run a command and return its exit code. Tests pass their own transport."""
    arguments = sys.argv[1:] if arguments is None else arguments
    streams: tuple[Any, ...] = (sys.stdout, sys.stderr)
    for stream in streams:
        # Not every terminal and pipe can show every name.
        stream.reconfigure(errors="replace")
    if TOKEN.search(" ".join(arguments)):
        _print(IN_ARGUMENT, file=sys.stderr)
        return USAGE
    options = _parser().parse_args(arguments)
    if options.debug:
        logger.setLevel(logging.INFO)
        logger.addHandler(logging.StreamHandler())
    try:
        server = PressroomServer(transport)
        if options.run is not _login:
            server.sign_in(stored_token())
        return int(options.run(server, options))
    except CLIError as error:
        _print(str(error), file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return UNKNOWN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pressroom", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--debug", action="store_true", help="log requests, without the token")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: Command, summary: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=summary, description=summary)
        command.add_argument("--json", action="store_true", help="print the response as JSON")
        command.set_defaults(run=run)
        return command

    def add_for_plan(name: str, run: Command, summary: str) -> argparse.ArgumentParser:
        command = add(name, run, summary)
        command.add_argument("plan", type=int)
        return command

    find = add("find", _find, "List audiences by words, page or live status.")
    find.add_argument("query", nargs="?", default="")
    find.add_argument("--page", default="", help="a page's ID")
    find.add_argument("--live-status", default="", help="such as changed or not-live")
    diff = add("diff", _diff, "Compare the live version with the latest; 3 if they differ.")
    diff.add_argument("audience", type=_target, metavar="PAGE/AUDIENCE[@VERSION]")
    plan = add("plan", _plan, "Check versions for publishing; nothing is sent.")
    plan.add_argument("audiences", type=_target, nargs="+", metavar="PAGE/AUDIENCE[@VERSION]")
    plan.add_argument("--note", default="", help="why; the approver reads it")
    plan.add_argument("--name", default="")
    asking = add_for_plan("request", _decide, "Ask a person to approve a plan; 5 while it waits.")
    publish = add_for_plan("publish", _decide, "Publish a plan, if no approval rule is on.")
    for decide in (asking, publish):
        decide.add_argument("--digest", default="", help="of the plan that you reviewed")
        decide.add_argument("--confirm", type=int, help="the number of versions with warnings read")
        decide.add_argument("--wait", action="store_true", help="wait for the outcome")
    status = add_for_plan("status", _wait, "Show what became of a plan.")
    status.set_defaults(timeout=0.0)
    wait = add_for_plan("wait", _wait, "Wait until a plan is live or has failed.")
    for waiting in (asking, publish, wait):
        waiting.add_argument("--timeout", type=_seconds, default=3600.0, metavar="SECONDS")
    activity = add("activity", _activity, "List the latest operations, newest first.")
    activity.add_argument("--page", default="")
    add("login", _login, "Read a token from a prompt, and store it in the key store.")
    return parser


def _seconds(text: str) -> float:
    if 0 <= (seconds := float(text)) < math.inf:
        return seconds
    raise ValueError


def _target(text: str) -> dict[str, str]:
    """Return the ids in `PAGE/AUDIENCE[@VERSION]`. Each may be percent-encoded."""
    page_id, _, rest = text.partition("/")
    audience_id, _, version_id = rest.partition("@")
    if not page_id or not audience_id:
        raise argparse.ArgumentTypeError(f"{text} isn’t PAGE/AUDIENCE")
    ids = {"page_id": page_id, "audience_id": audience_id, "version_id": version_id}
    return {name: unquote(value) for name, value in ids.items()}


def _print(text: str, file: Any = None) -> None:
    """Print text with control characters replaced: names come from the service."""
    printable = "".join(c if c.isprintable() or c == "\n" else "�" for c in text)
    stream = file or sys.stdout
    try:
        print(printable, file=stream, flush=True)
    except BrokenPipeError:
        # The reader has closed it, as `head` does. The exit code still tells the outcome.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _show(options: argparse.Namespace, body: Any, *lines: str) -> None:
    # A line break in a name would forge a line.
    text = "\n".join(" ".join(line.splitlines()) for line in lines)
    _print(json.dumps(body, indent=2) if options.json else text)


def _find(server: PressroomServer, options: argparse.Namespace) -> int:
    params = {"query": options.query, "page_id": options.page, "live_status": options.live_status}
    body = server.get_all("audiences", "items", limit=100, **params)
    lines = []
    for row in body["items"]:
        target = "/".join(quote(row[name], safe="") for name in ("page_id", "audience_id"))
        lines.append(f"{target}  {row['live_status']}  {row['audience_name']}")
    _show(options, body, *(lines or ["No audiences match."]))
    return DONE


def _diff(server: PressroomServer, options: argparse.Namespace) -> int:
    params = dict(options.audience)
    params["to_version"] = params.pop("version_id") or "latest"
    body = server.get_all("diff", "changes", **params)
    changes = []
    for change in body["changes"]:
        end = "…" if change["is_cut"] else ""
        changes += [f"- {change['old'].rstrip()}{end}", f"+ {change['new'].rstrip()}{end}"]
    counts = f"{body['words_added']} words added, {body['words_removed']} removed"
    _show(options, body, *changes, counts if body["differs"] else "Nothing differs.")
    return DIFFERS if body["differs"] else DONE


def _plan(server: PressroomServer, options: argparse.Namespace) -> int:
    body = {"versions": options.audiences, "note": options.note, "name": options.name}
    state = server.get_all(f"plans/{server.post('plans', body)['plan']}", "items")
    _show(options, state, *_described(state))
    findings = [finding for item in state["items"] for finding in item["findings"]]
    return FAILED if any(finding["severity"] == "stop" for finding in findings) else DONE


def _described(state: dict[str, Any]) -> list[str]:
    lines = [f"Plan {state['plan']}: {OUTCOMES[state['outcome']][1]}. {state['url']}"]
    for item in state["items"]:
        name = f"version {item['version_number']} of {item['audience_name']}"
        lines.append(f"  {item['state']}: {name} {item['reason']}".rstrip())
        lines += [f"    {entry['severity']}: {entry['headline']}" for entry in item["findings"]]
    if state["confirm"]:
        lines.append(f"Review the warnings, then add: --confirm {state['confirm']}")
    return lines


def _decide(server: PressroomServer, options: argparse.Namespace) -> int:
    digest = options.digest or server.get(f"plans/{options.plan}")["digest"]
    body = {"digest": digest, "confirm": options.confirm}
    server.post(f"plans/{options.plan}/{options.command}", body)
    options.timeout = options.timeout if options.wait else 0.0
    return _wait(server, options)


def _wait(server: PressroomServer, options: argparse.Namespace) -> int:
    """Wait for an outcome or the timeout; return the exit code of the state reached."""
    ends_at, before = time.monotonic() + options.timeout, ""
    while True:
        is_last = time.monotonic() >= ends_at
        try:
            state = server.get_all(f"plans/{options.plan}", "items")
        except ServerAwayError as error:
            if is_last:
                raise CLIError(str(error), UNKNOWN) from None
        else:
            outcome = state["outcome"]
            is_open = outcome in ("waiting_for_approval", "running", "unknown")
            if is_last or not is_open:
                _show(options, state, *_described(state))
                return OUTCOMES[outcome][0]
            if outcome != before and sys.stderr.isatty():
                _print(f"{OUTCOMES[outcome][1]}…", file=sys.stderr)
            before = outcome
        time.sleep(min(POLL_S, max(0.0, ends_at - time.monotonic())))


def _activity(server: PressroomServer, options: argparse.Namespace) -> int:
    body = server.get("activity", page_id=options.page, limit=50)
    lines = [
        f"{line['at'][:19]}  {' '.join([line['person'], line['by']]).strip()}  "
        f"{', '.join(filter(None, (line['title'], line['target'])))}: {line['outcome']}"
        for line in body["items"]
    ]
    _show(options, body, *(lines or ["No operations yet."]))
    return DONE


def _login(server: PressroomServer, _options: argparse.Namespace) -> int:
    with key_store(USAGE) as store:
        try:
            token = getpass.getpass(f"Token for {base_url()}: ").strip()
        except EOFError:
            raise CLIError("No token was entered.", USAGE) from None
        server.sign_in(token)
        server.get("activity", limit=1)
        store.set_password(SERVICE, base_url(), token)
    _print("Stored.")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
