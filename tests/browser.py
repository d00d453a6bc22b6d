"""A real Chromium, driven over the pipe of its DevTools protocol: no driver, no socket, no further package.

Its network is off: no name resolves, and every address goes to a proxy that is not there.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

_MIDDLE = """element => {
    element.scrollIntoView({block: 'center', inline: 'center'});
    const {x, y, width, height} = element.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
}"""


class Page:
    """One page: commands go in, `requests` holds the address of everything it has asked for."""

    def __init__(self, commands: int, answers: int) -> None:
        self.requests: list[str] = []
        self._commands, self._answers = commands, os.fdopen(answers, "rb")
        self._numbers = itertools.count(1)
        self._session: str | None = None
        self._loads = 0
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "the browser has gone"
            text += byte
        message = json.loads(text)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        if message.get("method") == "Page.loadEventFired":
            self._loads += 1
        return message

    def open(self, address: str) -> None:
        self._after_load(lambda: self.send("Page.navigate", url=address))

    def _after_load(self, act: Any) -> Any:
        before = self._loads
        result = act()
        while self._loads == before:
            self._read()
        return result

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def press(self, key: str, *, loads: bool = False) -> None:
        """Press a key; `loads`: wait for the page it leads to."""
        code = {"Enter": 13, "ArrowDown": 40, "Escape": 27}.get(key, ord(key[0]))
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}

        def act() -> None:
            self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

        self._after_load(act) if loads else act()

    def type(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click an element with the mouse, and wait for the page it leads to."""
        x, y = self.run(f"({_MIDDLE})(document.querySelector({json.dumps(selector)}))")

        def act() -> None:
            for kind in ("mousePressed", "mouseReleased"):
                self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

        self._after_load(act)


def chromium() -> str:
    """The installed browser. Skips the test where there is none: it is the system's, not a package of ours; CI installs it (.ci/run)."""
    if CHROMIUM is None:  # a system package, which a test run cannot install; CI does
        pytest.skip("no Chromium is installed here: apt-get install chromium")
    return CHROMIUM


@contextmanager
def offline_page() -> Iterator[Page]:
    """A page of a browser without network. Skips the test where there is no browser."""
    program = chromium()
    # A chromium that is ending still writes into its profile.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        commands_out, commands_in = _pipe()
        answers_out, answers_in = _pipe()

        process = subprocess.Popen(
            [
                # The browser takes commands at 3 and answers at 4.
                "bash", "-c", f'exec "$@" 3<&{commands_out} 4>&{answers_in}', "bash", program,
                "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                f"--user-data-dir={profile}", "--window-size=1280,900", "--remote-debugging-pipe",
                "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9",
                "--proxy-bypass-list=<-loopback>", "--disable-extensions",
            ],
            pass_fds=(commands_out, answers_in), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(commands_out)
        os.close(answers_in)
        try:
            yield Page(commands_in, answers_out)
        finally:
            os.close(commands_in)  # the browser ends with its pipe
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _pipe() -> tuple[int, int]:
    """Ends with numbers beyond 4, so that giving the browser its 3 and 4 overwrites none."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high[0], high[1]
