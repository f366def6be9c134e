# SPDX-License-Identifier: BSD-3-Clause
"""The page of weftd --http in a browser: http_page.py CHROMIUM FOLDER URL [PICTURES]

Each line of standard input is a state that the fabric is in: the page is looked at until it shows it, in words, in
colours, and to those who hear it or have only keys. "ok" goes to standard output. PICTURES is a folder to keep them in.
"""

import os
import re
import sys

from browser import Browser, colours

LINKS = ["link h0.0 to s0.0", "link s0.1 to g0.0", "link s0.2 to g1.0"]
NODES = ["host h0", "switch s0", "gfd g0", "gfd g1"]


class Page(Browser):
    def colour(self, name):
        """How the page's style has it, as a pixel."""
        text = self.value(f"getComputedStyle(document.documentElement).getPropertyValue('--{name}').trim()")
        return tuple(int(text[i:i + 2], 16) for i in (1, 3, 5))

    def label(self, key):
        return self.value(f"[...document.querySelectorAll('g[data-key]')].find(g => g.dataset.key === '{key}').getAttribute('aria-label')")

    def health(self):
        return self.value("document.getElementById('health').textContent")

    def labelled(self, key, text):
        return self.wait(f"[...document.querySelectorAll('g[data-key]')].some(g => g.dataset.key === '{key}' && g.getAttribute('aria-label').includes('{text}'))")

    def focus(self):
        return self.value("document.activeElement.dataset.key || document.activeElement.id")

    def paint(self, state, *there):
        """The picture has just these colours of states."""
        found = colours(self.picture("#picture"))
        for name in ("good", "bad", "refused"):
            n = found.get(self.colour(name), 0)
            assert (n > 30) == (name in there), f"{state}: {n} pixels of --{name}"
        if len(sys.argv) > 4:
            with open(os.path.join(sys.argv[4], state + ".png"), "wb") as f:
                f.write(self.picture())


def healthy(page):
    page.wait("document.getElementById('health').textContent === 'all well'")
    page.labelled(LINKS[2], ": up, ")
    page.labelled("host h0", ": well")
    page.labelled("gfd g1", ": elsewhere")
    page.paint("healthy", "good")
    keys(page)
    roles(page)
    asks(page)
    page.value("document.activeElement.blur()")


def keys(page):
    """Tab comes to each node and link once, Enter opens its counters, Escape goes back."""
    page.press("Tab")
    assert page.value("document.activeElement.className") == "skip"
    order = []
    for _ in NODES + LINKS:
        page.press("Tab")
        order.append(page.focus())
    assert order == NODES + LINKS, order
    for key in (LINKS[2], NODES[0]):
        page.value(f"[...document.querySelectorAll('g[data-key]')].find(g => g.dataset.key === '{key}').focus()")
        page.press("Enter")
        assert page.focus() == "chosen" and page.value("document.getElementById('chosen').textContent") == key
        assert page.value("document.querySelectorAll('#counters td').length") > 4
        before = page.value("document.getElementById('facts').textContent")
        page.wait(f"document.getElementById('facts').textContent !== {before!r}")
        assert page.focus() == "chosen", "a new state takes the focus away"
        page.press("Escape")
        assert page.focus() == key and page.value("document.getElementById('chosen').textContent") == "Details"


def roles(page):
    """What a screen reader is told."""
    page.press("Enter")
    tree = page.tree()
    page.press("Escape")
    there = {(role, name) for role, name, _ in tree}
    for wanted in (("heading", "seen"), ("region", "host h0"), ("region", "Events"), ("table", "Connections"), ("columnheader", "resent"),
                   ("rowheader", "g0"), ("combobox", "from"), ("textbox", "address"), ("button", "Resolve")):
        assert wanted in there, f"no {wanted}: {sorted(there)}"
    assert any(role == "group" and name.startswith("4 nodes, 3 links") for role, name in there)
    opened = [name for role, name, p in tree if role == "button" and p.get("expanded")]
    assert opened == ["host h0: well"], opened
    live = {(role, p.get("live")) for role, _, p in tree if p.get("live")}
    assert live == {("status", "polite"), ("log", "polite")}, live # and not the counters, which change each second


def asks(page):
    """Where an address goes, and the way there in the picture."""
    page.value("document.getElementById('question').requestSubmit()")
    text = page.wait("document.getElementById('answer').textContent")
    assert text.startswith("allowed: ") and "h0:0 > 0:s0:1 > 0:g0" in text, text
    assert page.value("document.querySelectorAll('path.asked').length") == 2


def drained(page):
    page.labelled("host h0", ": drained")
    page.paint("drained", "good")


def silent(page):
    page.labelled(LINKS[2], ": silent")
    page.labelled("switch s0", "in trouble, port s0.2 is silent")
    page.paint("silent", "good", "bad")


def dead(page):
    page.labelled(LINKS[2], ": down")
    page.labelled("host h0", "in trouble, h0: session with g1 is ")
    page.wait("document.getElementById('events').textContent.includes('warning: s0: port 2 (g1): ')")
    assert "port s0.2 is down" in page.health()
    page.paint("dead", "good", "bad")


def refused(page):
    page.labelled("gfd g1", ": refused, elsewhere")
    page.labelled(LINKS[2], ": up")
    page.wait("document.getElementById('health').textContent === 'h0: session with g1 is refused (g1 refuses: mode is cxl there, rxl here)'")
    page.paint("refused", "good", "bad", "refused")


def main():
    page = Page(sys.argv[1], sys.argv[2])
    page.visit(sys.argv[3])
    for line in sys.stdin:
        {"healthy": healthy, "drained": drained, "silent": silent, "dead": dead, "refused": refused}[line.strip()](page)
        print("ok", flush=True)
    wrong = page.value("document.title")
    assert re.match(r"Trouble: seen$", wrong), wrong
    page.close()


if __name__ == "__main__":
    main()
