#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page for man(1) of a program, or its completion for bash, from what it says of itself
(PROGRAM --help=table)."""

import argparse
import re
import subprocess


class Form:
    """A program; those that have options of their own in another form are two."""

    def __init__(self, name, synopsis, does, status):
        self.name, self.synopsis, self.does, self.status = name, synopsis, does, status
        self.details, self.examples, self.operands = [], [], []
        self.rows = []  # a section's title, or (name, "-v, --verbose", what it does, words)

    def options(self):
        return [row for row in self.rows if not isinstance(row, str)]


def read_forms(program):
    table = subprocess.run([program, "--help=table"], stdout=subprocess.PIPE, check=True, text=True).stdout
    forms = []
    for line in table.splitlines():
        kind, *fields = line.split("\t")
        if kind == "program":
            forms.append(Form(*fields))
        elif kind == "section":
            forms[-1].rows.append(fields[0])
        elif kind == "option":
            forms[-1].rows.append((fields[0], fields[1], fields[2], fields[3].split()))
        else:
            {"details": forms[-1].details, "example": forms[-1].examples,
             "operand": forms[-1].operands}[kind].append(fields[0])
    return forms


# --- man ---

def roff(text):
    """Text that troff takes as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def roff_option(shown):
    """Options in bold, what they take in italics."""
    parts = re.match(r"((?:-., )?)(--[a-z0-9-]+)(\s*)(.*)", shown).groups()
    letter = f"\\fB{roff(parts[0][:2])}\\fR, " if parts[0] else ""
    return f"{letter}\\fB{roff(parts[1])}\\fR{parts[2]}" + (f"\\fI{roff(parts[3])}\\fR" if parts[3] else "")


def roff_rows(rows):
    for row in rows:
        if isinstance(row, str):
            yield from [".SS", roff(row)]
        else:
            yield from [".TP", roff_option(row[1]), roff(row[2])]


def roff_lines(title, lines):
    return [".SH " + title, ".nf", *map(roff, lines), ".fi"] if lines else []


def page(forms, version):
    main = forms[0]
    yield f'.TH "{main.name}" 1 "" "weft {version}" "Weft"'
    yield from [".SH NAME", f"{main.name} \\- {roff(main.does[0].lower() + main.does[1:].rstrip('.'))}"]
    yield ".SH SYNOPSIS"
    for form in forms:
        yield from [f"\\fB{roff(form.name)}\\fR {roff(form.synopsis)}", ".br"]
    yield from roff_lines("DESCRIPTION", main.details)
    yield from [".SH OPTIONS", *roff_rows(main.rows)]
    for form in forms[1:]:
        yield from [".SH", roff(form.synopsis), roff(form.does), *roff_rows(form.rows)]
    yield from [".SH EXIT STATUS", roff(main.status)]
    yield from [".SH ENVIRONMENT", ".TP", ".B WEFT_CPU",
                "Kernels use no other features of the CPU than these: a list such as avx2,gfni, or scalar."]
    yield from roff_lines("EXAMPLES", main.examples)


# --- completion ---

COMPLETION = """\
# Completion for NAME in bash.
_NAME() {
	local cur=${COMP_WORDS[COMP_CWORD]} opt=${COMP_WORDS[COMP_CWORD - 1]} words='OPTIONS' last
	COMPREPLY=()
	# --mode=r is three words to bash, --mode= two.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $opt == = ]]; then
		opt=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $opt in
CASES	esac
	last=${cur##*,} # of a list
	mapfile -t COMPREPLY < <(compgen -P "${cur%"$last"}" -W "$words" -- "$last")
}
complete -F _NAME NAME
"""


def case(name, shown, words):
    """What completes the value of an option: its words, file names or nothing. An option without a
    value has no case, one with an optional value takes options, too."""
    arg = shown.partition("--" + name)[2].strip()
    if words:
        return f"\t--{name}) words='{' '.join(words)}' ;;\n"
    if not arg:
        return ""
    do = "compopt -o default; return" if "FILE" in arg else "return"
    if arg.startswith("["):
        do = f"[[ $cur == -* ]] || {{ {do}; }}"
    return f"\t--{name}) {do} ;;\n"


def completion(forms):
    options = {row[0]: row for form in reversed(forms) for row in form.options()}
    words = forms[0].operands + ["--" + name for name in options]
    cases = "".join(case(name, shown, values) for name, shown, _, values in options.values())
    return (COMPLETION.replace("OPTIONS", " ".join(words)).replace("CASES", cases)
            .replace("NAME", forms[0].name).rstrip("\n"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["man", "completion"])
    parser.add_argument("program")
    parser.add_argument("--version", default="", help="of Weft, for the page")
    args = parser.parse_args()
    forms = read_forms(args.program)
    print("\n".join(page(forms, args.version)) if args.what == "man" else completion(forms))


if __name__ == "__main__":
    main()
