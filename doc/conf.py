# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The pages as a book in HTML: "ninja -C build doc", or usertools/doc.sh.

The contents are those of README.md here: each heading there is a part, each page that its table links to a chapter.
Pages are what they are without Sphinx: links and anchors as a forge makes them (test/doc/citations.py checks these).
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "doc"))
from citations import slug

project = "Weft"
author = "The Weft Authors"
copyright = "2026 " + author  # Sphinx's name
extensions = ["myst_parser"]
root_doc = "README"
html_theme = "alabaster"
html_theme_options = {"description": "A CXL fabric in software", "page_width": "80em", "show_powered_by": False}
html_show_sphinx = False
html_copy_source = False
myst_heading_anchors = 6
# Fences without a language are what programs print.
highlight_language = "none"
pygments_style = "default"


def parts(text):
    """Of a README.md: (heading, pages of the table below it)."""
    out = [("", [])]
    for line in text.split("\n"):
        if line.startswith("## "):
            out.append((line[3:].strip(), []))
        elif line.startswith("| ["):
            pages = re.findall(r"\]\(([\w/-]+)\.md\)", line)
            out[-1][1].extend(p for p in pages if p not in out[-1][1])
    return [(heading, pages) for heading, pages in out if pages]


def add_contents(app, name, source):
    # What lies beside doc/ is a file to fetch here, without headings.
    up = "(?:\\.\\./){%d,}" % (name.count("/") + 1)
    source[0] = re.sub(r"\]\((%s[\w./-]+\.md)#[^)\s]*\)" % up, r"](\1)", source[0])
    if name in (root_doc, "spec/README"):
        for heading, pages in parts(source[0]):
            source[0] += "\n```{toctree}\n:hidden:\n%s\n%s\n```\n" % (
                f":caption: {heading}\n" if heading else "", "\n".join(pages))


def setup(app):
    app.connect("source-read", add_contents)
    return {"parallel_read_safe": True}
