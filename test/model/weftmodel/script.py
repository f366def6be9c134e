# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Programs that answer a line with a line, and what a model wants them to answer."""

import subprocess


def words(line):
    """Numbers as numbers, whatever their base."""
    out = []
    for word in line.split():
        try:
            out.append(int(word, 0))
        except ValueError:
            out.append(word)
    return tuple(out)


def retry_answer(line):
    """What llr_script says of an event: (what became of each flit and so on by name, [(number, id,
    command, ack)] of each flit it sends); None if it says something else."""
    head, _, sent = line.partition(" t")
    said = head.split()
    if len(said) < 7 or said[0] != "c":
        return None
    at = said.index("l")
    return ({"classes": said[1], "delivered": [int(w) for w in said[3:at]],
             "lost": int(said[at + 1]), "unacked": int(said[at + 3])},
            [tuple(map(int, w.split(","))) for w in sent.split()])


class Batch:
    """Lines and the answers allowed for each; an answer is a tuple of words and numbers."""

    def __init__(self):
        self.sent, self.wanted, self.bytes = [], [], []
        self.judges = {}

    def say(self, line, *allowed):
        self.sent.append(line.encode())
        self.wanted.append(allowed)
        self.bytes.append(None)

    def say_judged(self, line, judge, text):
        """A line whose answer judge(answer) calls right; text says what it should be."""
        self.judges[len(self.sent)] = judge
        self.say(line, (text,))

    def say_bytes(self, line, data, head, want):
        """A line, then bytes; the answer is a line, then 2-byte numbers."""
        self.sent.append(line.encode())
        self.wanted.append((head,))
        self.bytes.append((bytes(data), bytes(want)))

    def play(self, program, timeout=300):
        """(answers that are right, texts about the first wrong one)"""
        text = b"".join(line + b"\n" + (data[0] if data else b"")
                        for line, data in zip(self.sent, self.bytes))
        try:
            done = subprocess.run([program], input=text, capture_output=True, timeout=timeout,
                                  check=False)
        except subprocess.TimeoutExpired:
            return 0, ["does not come to an end"]
        return self._judge(done)

    def _judge(self, done):
        out, at = done.stdout, 0
        for i, (line, allowed, data) in enumerate(zip(self.sent, self.wanted, self.bytes)):
            end = out.find(b"\n", at)
            where = f"line {i + 1} ({line[:200].decode()})"
            if end < 0:
                return i, [f"{where}: no answer, exit status {done.returncode} "
                           f"{done.stderr.decode(errors='replace').strip()[-500:]}"]
            answer, at = out[at:end].decode(errors="replace"), end + 1
            got = words(answer)
            if not (self.judges[i](answer) if i in self.judges else got in allowed):
                shown = " or ".join(" ".join(map(str, want)) for want in allowed)
                return i, [f"{where}: {' '.join(map(str, got))}, expected {shown}"]
            if data:
                got, at = out[at:at + len(data[1])], at + len(data[1])
                if got != data[1]:
                    n = next((n for n, (a, b) in enumerate(zip(got, data[1])) if a != b), len(got))
                    return i, [f"{where}: number {n // 2} is {got[n & ~1:][:2].hex()}, "
                               f"expected {data[1][n & ~1:][:2].hex()} (little-endian)"]
        if out[at:].strip():
            return len(self.sent), [f"more than asked for: {out[at:at + 80]!r}"]
        if done.returncode:
            return len(self.sent), [f"exit status {done.returncode}"]
        return len(self.sent), []


class Talk:
    """One line at a time, for scripts whose next line depends on the answer."""

    def __init__(self, program):
        self.said = []
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def ask_text(self, line):
        """The answer without its line end; empty if the program is gone."""
        self.said.append(line)
        try:
            self.process.stdin.write(line + "\n")
        except BrokenPipeError:
            return ""
        return self.process.stdout.readline().rstrip("\n")

    def ask(self, line):
        return words(self.ask_text(line))
