"""Drives a headless Chromium through the DevTools protocol over a pipe: what tests of the page and its screenshot need."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# the browser reads commands from file 3 and writes answers to file 4
_ONTO_3_AND_4 = (
    "import fcntl, os, sys; a, b = (fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3]); "
    "os.dup2(a, 3); os.dup2(b, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_OPTIONS = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--mute-audio",
    "--window-size=1200,900",
]


def found() -> str | None:
    """The program, where the machine has one."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A browser with one page. Console errors and exceptions of the page are kept in `complaints`."""

    def __init__(self, program: str, timeout: float = 20.0) -> None:
        self._timeout = timeout
        self._home = tempfile.mkdtemp(prefix="kinhash-browser-")
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        command = [sys.executable, "-c", _ONTO_3_AND_4, str(commands), str(answers), program]
        command += [*_OPTIONS, f"--user-data-dir={self._home}", "about:blank"]
        self._process = subprocess.Popen(
            command, pass_fds=(commands, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(commands)
        os.close(answers)
        os.set_blocking(self._read, False)
        self._buffer = b""
        self._number = 0
        self.complaints: list[str] = []
        self._session: str | None = None
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.do(f"{domain}.enable")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._home, ignore_errors=True)

    # ---- the protocol -------------------------------------------------------------------------------

    def do(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command and its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self._timeout
        while True:
            answer = self._message(until, method)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._overheard(answer)

    def _message(self, until: float, method: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if time.monotonic() > until:
                raise TimeoutError(f"the browser did not answer {method}")
            try:
                self._buffer += os.read(self._read, 1 << 20)
            except BlockingIOError:
                time.sleep(0.002)
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _overheard(self, event: dict[str, Any]) -> None:
        details = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(details["exceptionDetails"].get("exception", {}).get("description")))
        elif event.get("method") == "Log.entryAdded" and details["entry"]["level"] == "error":
            self.complaints.append(f"{details['entry']['text']} {details['entry'].get('url', '')}")

    # ---- the page -----------------------------------------------------------------------------------

    def open(self, url: str) -> None:
        """Go to an address and wait until its document is there."""
        self.do("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.do("Page.navigate", url=url)
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are waited for."""
        answer = self.do("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", script))
        return answer["result"].get("value")

    def wait(self, script: str) -> Any:
        """The value of an expression as soon as it is true; while a page changes, it may fail."""
        until = time.monotonic() + self._timeout
        while True:
            failed: RuntimeError | None = None
            try:
                if value := self.run(script):
                    return value
            except RuntimeError as error:
                failed = error
            if time.monotonic() > until:
                shown = self.run("document.body.innerText")
                raise TimeoutError(f"never true: {script}\n{shown[:1000]}\n{self.complaints}") from failed
            time.sleep(0.02)

    def press(self, key: str, text: str = "") -> None:
        """A key, held for no time."""
        for kind in ("keyDown", "keyUp"):
            self.do(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, **({"text": text} if text else {})
            )

    def click(self, selector: str) -> None:
        """The mouse on the middle of an element."""
        box = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}}); "
            "const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.do("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def give_files(self, selector: str, files: Sequence[Path]) -> None:
        """Files into an input, as the file dialogue does."""
        root = self.do("DOM.getDocument")["root"]["nodeId"]
        node = self.do("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.do("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])

    def screenshot(self) -> bytes:
        """The window as png."""
        return base64.b64decode(self.do("Page.captureScreenshot", format="png")["data"])
