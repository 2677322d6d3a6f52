"""A tab of Firefox or WebKit, driven by WebDriver, as Playwright drives only its own builds.

WebKit's driver speaks WebDriver over HTTP. Firefox has the same commands built in, over a socket
(Marionette).
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.support.processes import free_port

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
WEBKIT = shutil.which("WebKitWebDriver")
DISPLAY = shutil.which("Xvfb")
"""WebKit's MiniBrowser has no headless mode."""
MINI_BROWSERS = "/usr/lib/*/webkit2gtk-4.1/MiniBrowser"
PATIENCE_S = 30
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key of a reference to an element, from the WebDriver standard."""
FIND = """const [selector, words] = arguments;
  return [...document.querySelectorAll(selector)].find((element) =>
    element.checkVisibility({visibilityProperty: true}) && element.textContent.includes(words))"""
PREFERENCES = {
    "marionette.port": 0,
    # Ten frames a second, no start page and no preloaded process save a third of the work.
    "layout.frame_rate": 10,
    "browser.startup.page": 0,
    "browser.newtab.preload": False,
    "dom.ipc.processPrelaunch.enabled": False,
}
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Tab": "\ue004"}
HTTP_COMMANDS = {
    "NewSession": ("POST", ""),
    "Navigate": ("POST", "/url"),
    "Back": ("POST", "/back"),
    "Forward": ("POST", "/forward"),
    "ExecuteScript": ("POST", "/execute/sync"),
    "ElementClick": ("POST", "/element/{id}/click"),
    "ElementSendKeys": ("POST", "/element/{id}/value"),
    "PerformActions": ("POST", "/actions"),
    "SetWindowRect": ("POST", "/window/rect"),
}

Send = Callable[[str, dict[str, Any]], Any]


class Tab:
    """A browser tab for the pages of one server."""

    def __init__(self, send: Send, url: str) -> None:
        self._send, self._url = send, url

    def go(self, path: str) -> None:
        """Open a page. WebKit's driver may respond while the previous page is still there."""
        self.run("window.isLeft = true")
        self._send("Navigate", {"url": self._url + path})
        self.until("return !window.isLeft && document.readyState === 'complete'")

    def back(self) -> None:
        self._send("Back", {})

    def forward(self) -> None:
        self._send("Forward", {})

    def run(self, script: str, *values: Any) -> Any:
        """Run a function body with `values` as its `arguments`; return its result."""
        return self._send("ExecuteScript", {"script": script, "args": values})

    def until(self, script: str, *values: Any) -> Any:
        """Run a script until its result is true, and return that; fail if it never is."""
        end = time.monotonic() + PATIENCE_S
        while not (result := self.run(script, *values)):
            assert time.monotonic() < end, f"it never came true: {script} {values}"
            time.sleep(0.02)
        return result

    def find(self, selector: str, words: str = "") -> str:
        """Return the first visible element that matches the selector and contains the words."""
        element: str = self.until(FIND, selector, words)[ELEMENT]
        return element

    def click(self, selector: str, words: str = "") -> None:
        self._send_to("ElementClick", selector, words)

    def type(self, selector: str, text: str) -> None:
        self._send_to("ElementSendKeys", selector, text=text)

    def _send_to(self, name: str, selector: str, words: str = "", **values: str) -> None:
        """Send a command to an element; find it again if a poll has just replaced it."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._send(name, {"id": self.find(selector, words), **values})
            except AssertionError as error:
                if "stale element" not in str(error) or time.monotonic() > end:
                    raise
            else:
                return

    def press(self, key: str) -> None:
        value = KEYS.get(key, key)
        actions = [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")]
        self._send("PerformActions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def resize(self, width: int, height: int = 900) -> None:
        self._send("SetWindowRect", {"width": width, "height": height})


@contextmanager
def _process(command: list[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, start_new_session=True, **options) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def firefox(folder: Path) -> Iterator[Send]:
    """Run Firefox with a new profile."""
    preferences = "".join(
        f"user_pref({json.dumps(name)}, {json.dumps(value)});"
        for name, value in PREFERENCES.items()
    )
    (folder / "user.js").write_text(preferences)
    command = [str(FIREFOX), "--headless", "--marionette", "--profile", str(folder)]
    with _process(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        port_file = folder / "MarionetteActivePort"
        end = time.monotonic() + PATIENCE_S
        while not (port_file.exists() and port_file.read_text()):
            assert time.monotonic() < end, "Firefox did not start"
            time.sleep(0.05)
        address = ("127.0.0.1", int(port_file.read_text()))
        with (
            socket.create_connection(address, timeout=PATIENCE_S) as connection,
            connection.makefile("rb") as stream,
        ):

            def receive() -> Any:
                length = b""
                while (byte := stream.read(1)) != b":":
                    assert byte, "Firefox has closed the connection"
                    length += byte
                return json.loads(stream.read(int(length)))

            def send(name: str, values: dict[str, Any]) -> Any:
                message = json.dumps([0, 1, f"WebDriver:{name}", values]).encode()
                connection.sendall(b"%d:%s" % (len(message), message))
                _type, _id, error, result = receive()
                assert error is None, error
                return result["value"] if set(result) == {"value"} else result

            receive()
            send("NewSession", {})
            yield send


@contextmanager
def webkit(folder: Path) -> Iterator[Send]:
    """Run WebKit's MiniBrowser with an empty profile, on its own display."""
    port = free_port()
    screen = [str(DISPLAY), "-displayfd", "1", "-screen", "0", "1600x1000x24"]
    with _process(screen, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as x_server:
        assert x_server.stdout is not None
        display = x_server.stdout.readline().decode().strip()
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "DISPLAY": f":{display}",
            # A container has no user namespaces, and often runs as root.
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            # Without a graphics card, passing frames by DMA-BUF is a third of the work.
            "WEBKIT_DISABLE_DMABUF_RENDERER": "1",
        }
        command = [str(WEBKIT), f"--port={port}"]
        with (
            _process(command, env=env, stderr=subprocess.DEVNULL) as driver,
            httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client,
        ):
            session = "/session"

            def send(name: str, values: dict[str, Any]) -> Any:
                method, path = HTTP_COMMANDS[name]
                path = session + path.format_map(values)
                try:
                    response = client.request(method, path, json=values)
                except httpx.TimeoutException:
                    # It hangs. Kill it, so that further commands of this session fail at once.
                    os.killpg(driver.pid, signal.SIGKILL)
                    raise
                value = response.json()["value"]
                assert response.is_success, value
                return value

            browser = next(Path("/").glob(MINI_BROWSERS.removeprefix("/")))
            options = {"binary": str(browser), "args": ["--automation"]}
            wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
            end = time.monotonic() + PATIENCE_S
            while True:
                try:
                    started = send("NewSession", {"capabilities": wanted})
                    break
                except httpx.ConnectError:
                    assert time.monotonic() < end, "WebKitWebDriver did not start"
                    time.sleep(0.05)
            session = f"/session/{started['sessionId']}"
            yield send
