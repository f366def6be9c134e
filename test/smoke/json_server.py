#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What json and reads_done of lib.sh ask: json_server.py ASKED ANSWERED TURN, three FIFOs, started once a test.

A question is of words that each end with a NUL: folder, runtime folder, what (file, text, ask), its argument,
expression. The answer is a status and a text likewise. Who asks takes the byte of TURN first and gives it back.
"""
import json
import os
import select
import sys

import telemetry

parent = os.getppid()
asked, answered, turn = (os.open(path, os.O_RDWR) for path in sys.argv[1:])


def load(path):
    with open(path) as f:
        return json.load(f)


def answer(folder, runtime, what, argument, expression):
    os.chdir(folder)
    if what == "file":
        o = load(argument)
    elif what == "text":
        o = json.loads(argument)
    else:
        o = json.loads(telemetry.answer(*argument.split(" ", 1), runtime))
    return str(eval("(" + expression + ")", {"json": json, "sys": sys, "load": load, "o": o}))


def questions():
    rest, words = b"", []
    while True:
        # Who was killed, or has become another program, ends nobody.
        while not select.select([asked], [], [], 5)[0]:
            if os.getppid() != parent or not os.path.exists(sys.argv[1]):
                return
        *whole, rest = (rest + os.read(asked, 1 << 16)).split(b"\0")
        for word in whole:
            words.append(word.decode(errors="surrogateescape"))
            if len(words) == 5:
                yield words
                words = []


os.write(turn, b"x")
for words in questions():
    try:
        said = "0", answer(*words)
    except (Exception, SystemExit) as e:
        said = "1", f"{words[3][:200]}: {words[4]}: {e!r}"
    text = "".join(word + "\0" for word in said).encode(errors="surrogateescape")
    while text:
        text = text[os.write(answered, text):]
