# SPDX-License-Identifier: BSD-3-Clause
"""Chromium without a screen, moved by its own protocol over two pipes: for tests of pages.

Keys are those that a person presses, and roles and names those that a screen reader is given.
"""

import base64
import collections
import json
import os
import select
import struct
import subprocess
import time
import zlib

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe")
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27}
PATIENCE_S = 60


class Browser:
    """A page of @width; @folder is new, for what Chromium keeps and says."""

    def __init__(self, program, folder, width=1280, height=900):
        theirs, self.to = os.pipe()
        self.come, theirs_out = os.pipe()
        # Chromium reads descriptor 3 and writes 4: a shell puts them there, whatever their numbers are here.
        script = f'exec "$@" 3<&{theirs} 4>&{theirs_out}'
        with open(folder + ".log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                ["bash", "-c", script, "sh", program, *FLAGS, f"--user-data-dir={folder}"],
                pass_fds=(theirs, theirs_out), stdout=log, stderr=log)
        os.close(theirs)
        os.close(theirs_out)
        self.left = b""
        self.last = 0
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def receive(self, end):
        while b"\0" not in self.left:
            if not select.select([self.come], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("Chromium does not answer")
            more = os.read(self.come, 1 << 20)
            if not more:
                raise EOFError("Chromium has ended")
            self.left += more
        line, self.left = self.left.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.last += 1
        request = {"id": self.last, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        end = time.monotonic() + PATIENCE_S
        while True:
            answer = self.receive(end)
            if answer.get("id") == self.last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def value(self, expression):
        """Of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, f"{expression}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def wait(self, expression):
        """Until it is true; its value."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            value = self.value(expression)
            if value:
                return value
            time.sleep(0.2)
        raise TimeoutError(f"never true: {expression}: {self.value('document.body.innerText')}")

    def visit(self, url):
        self.call("Page.navigate", url=url)
        self.wait(f"location.href.startsWith({json.dumps(url)}) && document.readyState === 'complete'")

    def press(self, key):
        for kind in ("rawKeyDown", "char", "keyUp") if key == "Enter" else ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key],
                      **({"text": "\r"} if kind == "char" else {}))

    def tree(self):
        """[(role, name, properties)] of what a screen reader is given."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(n["role"]["value"], n.get("name", {}).get("value", ""),
                 {p["name"]: p["value"].get("value") for p in n.get("properties", [])})
                for n in nodes if not n.get("ignored")]

    def picture(self, selector=None):
        """PNG of the page, or of one element."""
        clip = {}
        if selector:
            box = self.value(f"(b => [b.x, b.y, b.width, b.height])(document.querySelector('{selector}').getBoundingClientRect())")
            clip = {"clip": dict(zip(("x", "y", "width", "height"), box), scale=1)}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", **clip)["data"])

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(PATIENCE_S)


def colours(png):
    """{(red, green, blue): how many pixels} of a PNG of 8 bits a channel."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, form, *_ = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            data += body
        at += 12 + size
    assert depth == 8 and form in (2, 6)
    data, step, found = zlib.decompress(data), 3 if form == 2 else 4, collections.Counter()
    stride = width * step
    before = bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        before = unfilter(data[start], bytearray(data[start + 1:start + 1 + stride]), before, step)
        found.update(zip(before[::step], before[1::step], before[2::step]))
    return found


def unfilter(kind, row, before, step):
    """A row of a PNG as it was before its filter."""
    for i in range(len(row) if kind else 0):
        left, up, corner = (row[i - step], before[i], before[i - step]) if i >= step else (0, before[i], 0)
        if kind == 4:
            guess = left + up - corner
            near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
        else:
            near = (left, up, (left + up) // 2)[kind - 1]
        row[i] = (row[i] + near) & 255
    return row
