#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Citations of the specification and links between pages lead somewhere.

Looked at is every text of the tree. A citation names a file of doc/spec and its sections: "fabric.md
section 1.9", "ats.md 2.1 to 2.4", "fabric.md (c)", "reliability.md S16"; in code it may go on behind a
line's end. The section must be a heading there, the letter and number the first cell of a row. A page
of doc/ with the name of a specification is called by its path, doc/ats.md, or by a link. In a file
that is or cites one specification alone, "section 1.9" is of that one ("the paper's section" is not).
Links of pages must lead to a file, and to a heading if they say which. Each page of doc/ is listed in doc/README.md and
begins with what its reader wants: "You ...". Rules ("FRAME-3") are defined once, in
bold, and cited only if defined.

--rules lists the rules that no code and that no test cites; --list the citations. Before all that the
checks are tried on a small tree whose faults are known.
"""

import argparse
import os
import re
import sys
import tempfile
import unicodedata

FOLDERS = ("app", "doc", "drivers", "examples", "lib", "plugins", "test", "usertools")
NOT = {os.path.join("test", "vectors"), os.path.join("test", "fuzz", "corpus")}
# Files that programs write, and files of other projects.
NOT_OURS = {"report.md"}

# Between two words: blanks, or a line's end with what begins and ends the lines of a comment, or of a
# string that goes on.
GAP = r'(?:[ \t]|\\?"?[ \t]*\r?\n[ \t]*(?:\*(?!/)|//|#|--)?[ \t]*"?)+'
NAME = re.compile(r"(?P<before>[\w./-]*/)?(?P<name>[a-z][\w-]*\.md)\b`?(?P<link>\]\([^)\s]*\))?")
ITEM = r"(?:\d+(?:\.\d+)*|\([a-z]\)|[A-Z]\d+)(?![\w(]|\.\d)"
SECTIONS = re.compile(rf"(?:,?{GAP}(?P<word>sections?|parts?))?,?{GAP}(?P<first>{ITEM})")
BARE = re.compile(rf"\b(?P<word>sections?){GAP}(?P<first>{ITEM})")
NOT_BARE = re.compile(r"(?:\.md`?(?:\]\([^)]*\))?,?|paper's|CXL(?: \d\.\d)?,?|RFC \d+,?)[\s*/#\"-]*$")
MORE = re.compile(rf"(?:,{GAP}|,?{GAP}(?:and|to|or){GAP}|-)(?P<item>{ITEM})")
HEADING = re.compile(r"#{1,6}\s+(?P<text>.*?)\s*#*\s*$")
NUMBER = re.compile(r"(?P<number>\d+(?:\.\d+)*|\([a-z]\))\.?(?:\s|$)")
ROW = re.compile(r"\|\s*(?P<id>[A-Z]\d+)\s*\|")
RULE = re.compile(r"\b(?P<id>(?:FRAME|ISN|SESS|RETRY)-[1-9]\d*)\b")
RULES = re.compile(rf"\b(?P<kind>FRAME|ISN|SESS|RETRY)-(?P<first>\d+){GAP}to{GAP}(?P=kind)-(?P<last>\d+)\b")
DEFINED = re.compile(r"\*\*(?P<id>[A-Z]+-[1-9]\d*)\*\*")
LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")


class Page:
    """What can be cited of a Markdown file."""

    def __init__(self, text):
        self.sections = set()
        self.anchors = set()
        self.rules = []
        for line in prose(text).split("\n"):
            heading = HEADING.match(line)
            if heading:
                number = NUMBER.match(heading["text"])
                if number:
                    self.sections.add(number["number"])
                self.anchors.add(self.new_anchor(slug(heading["text"])))
            row = ROW.match(line)
            if row:
                self.sections.add(row["id"])
            self.rules += [m["id"] for m in DEFINED.finditer(line)]

    def new_anchor(self, name):
        n, anchor = 0, name
        while anchor in self.anchors:
            n += 1
            anchor = f"{name}-{n}"
        return anchor


def prose(text):
    """Text of a page without what stands in fences; lines stay where they are."""
    out, fence = [], None
    for line in text.split("\n"):
        mark = re.match(r"\s*(```|~~~)", line)
        if mark and fence in (None, mark[1]):
            fence = None if fence else mark[1]
            line = ""
        out.append("" if fence else line)
    return "\n".join(out)


def slug(heading):
    """The anchor that a heading gets: small letters, digits, hyphens."""
    heading = re.sub(r"\]\([^)]*\)", "", heading.lower())
    kept = [c for c in heading if c in " -_" or unicodedata.category(c)[0] in "LN"]
    return "".join(kept).replace(" ", "-")


def line_of(text, at):
    return text.count("\n", 0, at) + 1


class Tree:
    def __init__(self, top):
        self.top = top
        self.texts = {}
        for path in self.paths():
            try:
                with open(os.path.join(top, path), encoding="utf-8") as f:
                    self.texts[path] = f.read()
            except UnicodeDecodeError:
                pass  # not a text
        self.pages = {p: Page(t) for p, t in self.texts.items() if p.endswith(".md")}
        self.spec = {os.path.basename(p): page for p, page in self.pages.items()
                     if os.path.dirname(p) == os.path.join("doc", "spec")}
        self.spec.pop("README.md", None)
        self.faults = []
        self.cited = []  # path, line, file of doc/spec, section
        self.rules = {}  # id: where defined
        self.uses = {}  # id: paths that cite it
        self.runs = []  # path, kind, first and last of "FRAME-1 to FRAME-7"
        self.links = 0

    def paths(self):
        yield from (p for p in sorted(os.listdir(self.top))
                    if os.path.isfile(os.path.join(self.top, p)) and not p.startswith("."))
        for folder in FOLDERS:
            for here, below, files in os.walk(os.path.join(self.top, folder)):
                here = os.path.relpath(here, self.top)
                below[:] = sorted(d for d in below
                                  if os.path.join(here, d) not in NOT and d != "__pycache__")
                yield from (os.path.join(here, f) for f in sorted(files))

    def fault(self, path, at, what):
        self.faults.append((path, line_of(self.texts[path], at), what))

    def check(self):
        for path in self.texts:
            if os.path.basename(path) == os.path.basename(__file__):
                continue  # its examples
            before = len(self.cited)
            self.names(path)
            cites = {name for _, _, name, _ in self.cited[before:]}
            if os.path.dirname(path) == os.path.join("doc", "spec"):
                cites = {os.path.basename(path)} & set(self.spec)
            if len(cites) == 1:
                self.bare(path, *cites)
            self.rule_uses(path)
            if path in self.pages:
                self.check_links(path)
        return self

    def is_file(self, path):
        return os.path.isfile(os.path.join(self.top, path))

    def names(self, path):
        """Every "name.md": a page that is there, or a citation that leads somewhere."""
        text = self.texts[path]
        for m in NAME.finditer(text):
            name, before = m["name"], m["before"] or ""
            if name in NOT_OURS:
                continue
            cited = SECTIONS.match(text, m.end())
            if m["link"] or text[max(0, m.start() - 2):m.start()] == "](" or before.startswith("../"):
                if not m["link"]:
                    continue  # the target of a link
                target = m["link"][2:-1].split("#")[0]
                target = os.path.normpath(os.path.join(os.path.dirname(path), target))
                if os.path.dirname(target) == os.path.join("doc", "spec") and name in self.spec and cited:
                    self.sections(path, name, cited)
            elif before and not before.endswith("spec/"):
                page = before + name
                if page.startswith("doc/") and not self.is_file(page):
                    self.fault(path, m.start(), f"{page} is not there")
            elif name in self.spec and cited:
                self.sections(path, name, cited)
            elif name in self.spec and (before or not self.is_file(os.path.join("doc", name))):
                pass  # the file as a whole
            elif name in self.spec:
                self.fault(path, m.start(), f"{name}: doc/{name}, or which section of doc/spec/{name}?")
            elif before:
                self.fault(path, m.start(), f"{before}{name} is not there")
            elif not (self.is_file(os.path.join("doc", name)) or self.is_file(name) or
                      self.is_file(os.path.join(os.path.dirname(path), name))):
                self.fault(path, m.start(), f"{name} is not there")

    def sections(self, path, name, first):
        text, at, item = self.texts[path], first.end(), first["first"]
        several = first["word"] in (None, "sections", "parts")
        while item:
            self.cited.append((path, line_of(text, first.start()), name, item))
            if item not in self.spec[name].sections:
                self.fault(path, first.start(), f"{name} has no section {item}")
            more = MORE.match(text, at)
            # "section 8, 4 bytes": one section, unless what follows can be nothing else.
            if more and not several and more["item"].isdigit():
                more = None
            item, at = (more["item"], more.end()) if more else (None, at)

    def bare(self, path, name):
        """Sections without a file's name, where there is no doubt whose they are."""
        text = self.texts[path]
        for m in BARE.finditer(text):
            if not NOT_BARE.search(text, max(0, m.start() - 80), m.start()):
                self.sections(path, name, m)

    def rule_uses(self, path):
        text = prose(self.texts[path]) if path in self.pages else self.texts[path]
        defined = {m.start("id") for m in DEFINED.finditer(text)} if path in self.pages else ()
        for m in RULE.finditer(text):
            if m.start("id") not in defined:
                self.uses.setdefault(m["id"], []).append((path, m.start()))
            elif m["id"] in self.rules:
                self.fault(path, m.start(), f"{m['id']} is defined twice")
            else:
                self.rules[m["id"]] = path

        for m in RULES.finditer(text):
            self.runs.append((path, m["kind"], int(m["first"]), int(m["last"])))

    def check_rules(self):
        for path, kind, first, last in self.runs:
            for number in range(first + 1, last):
                if f"{kind}-{number}" in self.rules:
                    self.uses.setdefault(f"{kind}-{number}", []).append((path, 0))
        for name, uses in self.uses.items():
            if name not in self.rules:
                for path, at in uses:
                    self.fault(path, at, f"no page defines {name}")

    def check_links(self, path):
        text = re.sub(r"`[^`\n]*`", lambda m: "x" * len(m[0]), prose(self.texts[path]))
        for m in LINK.finditer(text):
            target = m["target"]
            if re.match(r"[a-z]+:", target):
                continue  # not ours to ask
            self.links += 1
            page, _, anchor = target.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(path), page)) if page else path
            if not os.path.exists(os.path.join(self.top, to)) or to.startswith(".."):
                self.fault(path, m.start(), f"link to {target}: {to} is not there")
            elif anchor and (to not in self.pages or anchor not in self.pages[to].anchors):
                self.fault(path, m.start(), f"link to {target}: {to} has no such heading")

    def check_contents(self):
        """doc/README.md links to every page beside it, and each begins with its reader."""
        listed = set(LINK.findall(self.texts.get("doc/README.md", "")))
        for path in self.pages:
            if os.path.dirname(path) != "doc":
                continue
            if path != "doc/README.md" and os.path.basename(path) not in listed:
                self.fault(path, 0, "doc/README.md does not link to this page")
            if not re.match(r"# [^\n]+\n\nYou ", self.texts[path]):
                self.fault(path, 0, 'expected a heading, an empty line, and what the reader wants: "You ..."')

    def unproved(self, folders):
        """Rules that nothing below these folders cites."""
        return [r for r in self.rules
                if not any(p.split(os.sep)[0] in folders for p, _ in self.uses.get(r, ()))]


def look(top):
    tree = Tree(top).check()
    tree.check_rules()
    tree.check_contents()
    return tree


# --- the checks, checked ---

SMALL = {
    "README.md": "See [the page](doc/ats.md#in-a-fabric) and [more](doc/spec/fabric.md).\n",
    "doc/README.md": "# Pages\n\nYou read one of [a](ats.md).\n",
    "doc/ats.md": "# ats\n\nYou translate.\n## In a fabric\nAs ats.md 2.1 to 2.3 and [fabric.md](spec/fabric.md) section 1.9.\n",
    "doc/spec/ats.md": "# A\n## 2. Packets\n### 2.1 One\n### 2.3 Three (see `doc/x`)\n",
    "doc/spec/fabric.md": "# F\n## 1. Tables\n### 1.2 A\n### 1.9 When\n## (c) Vectors\n| S16 | config |\n"
                          "- **FRAME-1** holds.\n- **FRAME-2** too.\n- **FRAME-3** is cited by a run\n"
                          "- **FRAME-5** as well.\n",
    "lib/a.c": "/* fabric.md\n * section 1.9, ats.md sections 2.1 and\n * 2.3; fabric.md, S16; doc/ats.md\n"
               " * FRAME-1, FRAME-3 to\n * FRAME-5 */\nerr(\"bad (fabric.md \"\n\t\"1.2)\"); /* fabric.md section 1, 4 bytes */\n",
    "test/t.py": "# fabric.md part (c)\n",
}
BEGIN = "# W\n\nYou read. "
WRONG = {  # what is added, and the one fault that it makes
    "lib/w1.c": ("/* fabric.md\n * section 1.7 */", "fabric.md has no section 1.7"),
    "lib/w2.h": ("/* ats.md sections 2.1, 2.2 and 2.3 */", "ats.md has no section 2.2"),
    "lib/w3.c": ("f(\"x (fabric.md \"\n  \"3.1)\");", "fabric.md has no section 3.1"),
    "test/w4.sh": ("# ats.md tells", "ats.md: doc/ats.md, or which section of doc/spec/ats.md?"),
    "app/w5.c": ("/* edges.md section 8.4 */", "edges.md is not there"),
    "app/w6.c": ("// doc/gone.md\n", "doc/gone.md is not there"),
    "lib/w17.c": ("/* fabric.md section 1.9, (section 1.1); the paper's section 7 */", "fabric.md has no section 1.1"),
    "usertools/w7.lua": ("-- fabric.md (d)\n", "fabric.md has no section (d)"),
    "test/w8.c": ("/* fabric.md S17 */", "fabric.md has no section S17"),
    "lib/w9.c": ("/* FRAME-4 */", "no page defines FRAME-4"),
    "doc/spec/w10.md": ("**FRAME-1** again", "FRAME-1 is defined twice"),
    "doc/w11.md": (BEGIN + "[x](gone.md)", "link to gone.md: doc/gone.md is not there"),
    "doc/w12.md": (BEGIN + "[x](ats.md#nowhere)", "link to ats.md#nowhere: doc/ats.md has no such heading"),
    "doc/w13.md": (BEGIN + "[x](#nowhere)", "link to #nowhere: doc/w13.md has no such heading"),
    "doc/w14.md": (BEGIN + "![x](gone.svg)", "link to gone.svg: doc/gone.svg is not there"),
    "doc/w15.md": (BEGIN + "[fabric.md](spec/fabric.md) section 7", "fabric.md has no section 7"),
    "doc/w16.md": (BEGIN + "`spec/gone.md`", "spec/gone.md is not there"),
    "doc/w18.md": ("# W\n\nThis is it.", 'expected a heading, an empty line, and what the reader wants: "You ..."'),
    "doc/unlisted.md": (BEGIN, "doc/README.md does not link to this page"),
}


def write(top, path, text):
    path = os.path.join(top, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def self_test():
    """What the checks say of trees with no fault and with one."""
    bad = []
    with tempfile.TemporaryDirectory() as top:
        for path, text in SMALL.items():
            write(top, path, text)
        tree = look(top)
        if tree.faults or len(tree.cited) != 10 or tree.links != 4:
            bad.append(f"a good tree: {tree.faults}, {len(tree.cited)} citations, {tree.links} links")
        if tree.unproved(("lib", "app")) != ["FRAME-2"] or len(tree.unproved(("test",))) != 4:
            bad.append(f"rules without code: {tree.unproved(('lib', 'app'))}")
        for path, (text, want) in WRONG.items():
            contents = SMALL["doc/README.md"]
            write(top, path, text)
            write(top, "doc/README.md",
                  contents + (f"[w]({path[4:]})" if re.match(r"doc/w\d", path) else ""))
            said = [what for where, _, what in look(top).faults if where == path]
            os.remove(os.path.join(top, path))
            if said != [want]:
                bad.append(f"{path}: expected \"{want}\", got {said}")
    return bad, 1 + len(WRONG)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.abspath(__file__))
    p.add_argument("top", nargs="?", default=os.path.join(here, "..", ".."), help="the tree to look at")
    p.add_argument("--rules", action="store_true", help="rules that no code, or no test, cites")
    p.add_argument("--list", action="store_true", help="every citation: file, line, section")
    args = p.parse_args()
    bad, tried = self_test()
    for line in bad:
        print(f"FAIL self-test: {line}")
    tree = look(args.top)
    for path, line, what in sorted(tree.faults):
        print(f"FAIL {path}:{line}: {what}")
    if args.list:
        for path, line, name, item in tree.cited:
            print(f"{name} {item}: {path}:{line}")
    if args.rules:
        for what, folders in (("code", ("app", "drivers", "lib")), ("test", ("test",))):
            left = tree.unproved(folders)
            print(f"{len(tree.rules) - len(left)} of {len(tree.rules)} rules are cited by {what}"
                  + (f"; not: {', '.join(left)}" if left else ""))
    print(f"{tried} checks of the checks; {len(tree.cited)} citations, {tree.links} links, "
          f"{len(tree.rules)} rules: {len(bad) + len(tree.faults)} wrong")
    return 1 if bad or tree.faults else 0


if __name__ == "__main__":
    sys.exit(main())
