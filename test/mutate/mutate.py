#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do the tests notice? Breaks one rule of the retry layer, of credits, sessions, IDE, memory, managers or the rings
of attached programs after the other, and wants weft-sim to fail within 300 seeds; or, where nothing in the simulator
knows of the rule, a unit test. A mutation must match the source in exactly one place, so that none goes stale.

Each source is compiled once: a function that has mutations has its body once more for each, and a number in the
environment chooses. So a program is linked once, and without a number it is the source as it is, which must not
fail in what noticed a mutation: else what fails there would notice everything. A mutation of a table makes a program
of its own.

What noticed each stands in noticed.txt, and is tried first. --record looks for it anew where that is stale.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile

from mutations import MUTATIONS

SEEDS = 300
LIMIT_S = 300  # of real time; a mutant that hangs there has not been noticed
QUICK_S = 1  # of CPU; what --record prefers
SLICE = 50  # seeds that it tries in one kind of fabric before it goes on with the other
TRIED = 12  # seeds that notice others, which --record tries first: then fewer are run without a mutation

SIM = "app/weft-sim"
FABRICS = ("never", "always")  # drawn with their load
MANAGED = "managed"  # and those that a manager makes work, of mutations called so
MANAGED_NAME = "fm: "
NOTICED = pathlib.Path(__file__).with_name("noticed.txt")

CHOOSER = """#include <stdlib.h>
int weft_mutant;
extern void cmocka_set_test_filter(const char *) __attribute__((weak));
static void __attribute__((constructor))
choose(void)
{
	const char *mutant = getenv("WEFT_MUTANT"), *test = getenv("WEFT_MUTANT_TEST");

	weft_mutant = mutant == NULL ? 0 : atoi(mutant);
	if (cmocka_set_test_filter != NULL && test != NULL)
		cmocka_set_test_filter(test);
}
"""


def fabric_options(fabrics):
    """Which fabrics seeds have."""
    return ("--manager", "only") if fabrics == MANAGED else ("--drawn", fabrics, "--manager", "never")


class Mutation:
    """A row of the table; number is its place, from 1 on."""

    def __init__(self, number, name, path, old, new, program=SIM):
        self.number, self.name, self.path, self.program = number, name, path, program
        self.old, self.new = old, new
        self.fabrics = (MANAGED,) if name.startswith(MANAGED_NAME) else FABRICS
        self.by = None  # what noticed it: a test's name, or (fabrics, seed, other options)

    def body(self, text):
        """Where the body of its function is in the text of its file, and that body with the rule broken;
        None: it is in none."""
        if text.count(self.old) != 1:
            sys.exit(f"{self.name}: its text stands {text.count(self.old)} times in {self.path}")
        at = text.index(self.old)
        # What is the same at both ends, often to be found at all, is not changed.
        same = len(os.path.commonprefix((self.old, self.new)))
        rest = len(os.path.commonprefix((self.old[:same - 1:-1], self.new[:same - 1:-1])))
        first, last = at + same, at + len(self.old) - rest
        for body in re.finditer(r"^\{\n(.*?)^\}$", text, re.S | re.M):
            if body.start(1) <= first and last <= body.end(1):
                return body.span(1), (text[body.start(1):first] + self.new[same:len(self.new) - rest] +
                                      text[last:body.end(1)])
        return None


def mutated(text, mutations):
    """The text of a file, in which a number chooses the mutation."""
    bodies = collections.defaultdict(list)
    for m in mutations:
        body = m.body(text)
        if body is not None:
            bodies[body[0]].append((m.number, body[1]))
    for (first, last), choices in sorted(bodies.items(), reverse=True):
        chosen = "".join(f"if (weft_mutant == {number}) {{\n{broken}}} else " for number, broken in choices)
        text = f"{text[:first]}{chosen}{{\n{text[first:last]}}}\n{text[last:]}"
    return "extern int weft_mutant;\n" + text


def commands(build, program):
    """The compile command of each source and the link command, as the build has them."""
    out = subprocess.run(["ninja", "-C", build, "-t", "commands", program], check=True,
                         capture_output=True, text=True).stdout.splitlines()
    compile_of = {}
    for line in out:
        if " -c " in line:
            compile_of[(build / line.rsplit(" -c ", 1)[1].strip()).resolve()] = line
    links = [line for line in out if f" -o {program} " in line]
    assert len(links) == 1, links
    return compile_of, links[0]


def step(build, command):
    r = subprocess.run(command, shell=True, cwd=build, capture_output=True, text=True)
    if r.returncode != 0:
        sys.exit(f"{command}\n{r.stderr.strip()}")


class Programs:
    """Those that mutations are noticed by, made when they are needed."""

    def __init__(self, root, build, work, mutations):
        self.root, self.build, self.work, self.mutations = root, build, work, mutations
        self.objects, self.made = {}, {}
        (work / "mutant.c").write_text(CHOOSER)
        step(build, f"cc -O1 -c -o {work}/mutant.o {work}/mutant.c")

    def _compile(self, path, command, text, name):
        """The object of the text of a source."""
        source, obj = self.work / f"{name}.c", self.work / f"{name}.o"
        source.write_text(text)
        step(self.build, f"{command.split(' -MD ')[0]} -w -g0 -O1 -I{(self.root / path).parent} "
                         f"-o {obj} -c {source}")
        return obj

    def _object(self, path, command):
        """The object of a source with its mutations."""
        if path not in self.objects:
            text = mutated((self.root / path).read_text(), [m for m in self.mutations if m.path == path])
            self.objects[path] = self._compile(path, command, text, path.replace("/", "_"))
        return self.objects[path]

    def _link(self, program, paths, make, exe):
        """The program with the objects that are made of these sources."""
        compile_of, link = commands(self.build, program)
        objects = [self.work / "mutant.o"]
        for path in paths:
            command = compile_of.get((self.root / path).resolve())
            if command is None:
                sys.exit(f"{path} is not part of {program}")
            objects.append(make(path, command))
            # In a library the first of the name is taken; the program's own objects are all there is.
            link = link.replace(f" {command.split(' -o ')[1].split()[0]} ", " ")
        step(self.build, link.replace(f" -o {program} ", f" -Wl,-S -o {exe} {' '.join(map(str, objects))} "))
        return exe

    def _apart(self, m):
        """A program with this mutation alone."""
        folder = self.work / f"apart{m.number}"
        text = (self.root / m.path).read_text().replace(m.old, m.new)
        folder.mkdir()
        return self._link(m.program, [m.path], lambda path, command: self._compile(path, command, text, folder.name),
                          folder / pathlib.Path(m.program).name)

    def get(self, m):
        """The path of the program with the mutation."""
        key = m.program
        if m.body((self.root / m.path).read_text()) is None:
            key = m.number
        if key not in self.made:
            paths = sorted({other.path for other in self.mutations if other.program == m.program})
            self.made[key] = self._apart(m) if key == m.number else self._link(
                m.program, paths, self._object, self.work / pathlib.Path(m.program).name)
        return self.made[key]

    def intact(self, program):
        """The path of the program, or None: only mutations apart were made."""
        return self.made.get(program)


def run(exe, number, *args, test=None, cpu_s=None):
    """Whether the program fails, what it says, and how long that took. A unit test ends where it fails."""
    env = {**os.environ, "CMOCKA_TEST_ABORT": "1", "WEFT_MUTANT": str(number)}
    if test is not None:
        env["WEFT_MUTANT_TEST"] = test
    limit = None if cpu_s is None else lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        r = subprocess.run((exe, *args), cwd=exe.parent, capture_output=True, text=True, timeout=LIMIT_S,
                           env=env, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return False, f"not ended after {LIMIT_S} s", LIMIT_S
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    test = re.findall(r"^\[ RUN      \] (\w+)", r.stdout, re.M)
    said = test[-1] if test else (r.stderr.strip().splitlines() or [""])[-1]
    if r.returncode == -signal.SIGXCPU:
        return False, "more CPU than is to be used", took
    if r.returncode < 0:
        return True, said or f"signal {-r.returncode}", took
    return r.returncode != 0, said, took


def run_by(exe, number, by, cpu_s=None):
    if isinstance(by, str):
        return run(exe, number, test=by, cpu_s=cpu_s)
    return run(exe, number, *fabric_options(by[0]), "--seed", str(by[1]), *by[2:], cpu_s=cpu_s)


def search(exe, m, fabrics, first, n):
    """The first seed of those n that notices, or None, and what is said."""
    failed, said, _ = run(exe, m.number, *fabric_options(fabrics), "--seed", str(first), "--seeds", str(n),
                          "--until-failure")
    seed = re.search(r"\bseed (\d+) ", said)
    return (fabrics, int(seed[1])) if failed and seed else None, said


def search_all(exe, m):
    """What notices it, and what is said; None: nothing does."""
    if m.program != SIM:
        failed, said, _ = run(exe, m.number)
        return (said if failed else None), said
    kinds = m.fabrics if m.by is None or m.by[0] == m.fabrics[0] else m.fabrics[::-1]
    for fabrics in kinds:
        by, said = search(exe, m, fabrics, 1, SEEDS)
        if by is not None:
            return by, said
    return None, said


def record(exe, m, used):
    """What notices it and takes little time; None: nothing does."""
    tried = [m.by] if m.by is not None else []
    if m.program == SIM:
        tried += [by for by, _ in used.most_common(TRIED) if by not in tried and by[0] in m.fabrics]
    for by in tried:
        if run_by(exe, m.number, by, QUICK_S)[0]:
            return by
    if m.program != SIM:
        return search_all(exe, m)[0]
    found = []
    for first in range(1, SEEDS, SLICE):
        for fabrics in m.fabrics:
            by, _ = search(exe, m, fabrics, first, SLICE)
            if by is not None:
                found.append((run_by(exe, m.number, by)[2], by))
        if found and (len(found) > 3 or min(found)[0] < QUICK_S):
            break
    return min(found)[1] if found else None


def read_noticed(mutations):
    """Set what noticed each."""
    by_name = {m.name: m for m in mutations}
    for line in NOTICED.read_text().splitlines():
        name, kind, what, *rest = line.split("\t")
        if name not in by_name:
            sys.exit(f"{NOTICED.name}: no mutation is called \"{name}\"")
        by_name[name].by = what if kind == "test" else (kind.split()[-1], int(what), *rest)


def write_noticed(mutations):
    NOTICED.write_text("".join(
        "\t".join((m.name, "test", m.by) if isinstance(m.by, str) else
                  (m.name, m.by[0] if m.by[0] == MANAGED else f"drawn {m.by[0]}", *map(str, m.by[1:]))) + "\n"
        for m in mutations if m.by is not None))


def noticed(exe, m):
    """Whether it is, and what is said."""
    if m.by is not None:
        failed, said, _ = run_by(exe, m.number, m.by)
        if failed:
            return True, said
    by, said = search_all(exe, m)
    m.by = by if by is not None else m.by
    return by is not None, said + (" (--record)" if by is not None else "")


def is_intact(programs, chosen):
    """Whether nothing fails by what notices mutations if there is none."""
    for program, by in sorted({(m.program, m.by) for m in chosen if m.by is not None}, key=str):
        exe = programs.intact(program)
        if exe is None:
            continue
        failed, said, _ = run_by(exe, 0, by)
        if failed or (program == SIM and said):
            print(f"{program}: nothing broken, and yet {by} fails: {said}")
            return False
    return True


def options():
    """The build, and the names of mutations; what makes no sense ends with status 2."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD", type=pathlib.Path, help="a build folder")
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these mutations")
    parser.add_argument("--share", metavar="N", type=int, default=1,
                        help="one of N at random, by WEFT_TEST_SEED; all with WEFT_TEST_ALL")
    parser.add_argument("--record", action="store_true", help="write what notices each into noticed.txt")
    args = parser.parse_args()
    if not (args.build / "build.ninja").is_file():
        parser.error(f"{args.build}: expected a build folder, got no build.ninja in it")
    if args.share < 1:
        parser.error(f"--share: expected 1 or more, got {args.share}")
    unknown = set(args.names) - {m[0] for m in MUTATIONS}
    if unknown:
        parser.error(f"no mutation is called \"{min(unknown)}\"")
    return args


def share(mutations, n):
    """Every n-th of them in an order by a seed, which is said."""
    if n == 1 or os.environ.get("WEFT_TEST_ALL"):
        return mutations
    seed = os.environ.get("WEFT_TEST_SEED") or str(random.SystemRandom().randrange(2 ** 32))
    print(f"one of {n}, by WEFT_TEST_SEED={seed}")
    taken = {m.name for m in random.Random(seed).sample(mutations, max(1, len(mutations) // n))}
    return [m for m in mutations if m.name in taken]


def record_all(programs, mutations, chosen):
    """Into the file after each, as it may take long."""
    used = collections.Counter(m.by for m in mutations if m.by is not None and m.program == SIM)
    missed = 0
    for m in chosen:
        used[m.by] -= 1
        m.by = record(programs.get(m), m, used)
        used[m.by] += m.program == SIM
        missed += m.by is None
        print(f"{m.name}: {m.by or 'MISSED'}", flush=True)
        write_noticed(mutations)
    return missed


def main():
    args = options()
    root = pathlib.Path(__file__).resolve().parents[2]
    mutations = [Mutation(i + 1, *row) for i, row in enumerate(MUTATIONS)]
    read_noticed(mutations)
    for m in mutations:  # also of those that are not taken: their texts change unseen else
        m.body((root / m.path).read_text())
    chosen = [m for m in share(mutations, args.share) if not args.names or m.name in args.names]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(root, args.build.resolve(), pathlib.Path(folder), chosen)
        if args.record:
            return record_all(programs, mutations, chosen) != 0
        for m in chosen:
            ok, said = noticed(programs.get(m), m)
            missed += not ok
            print(f"{'noticed' if ok else 'MISSED '}  {m.name}: {said}", flush=True)
        if not is_intact(programs, chosen):
            return 1
    print(f"{len(chosen) - missed} of {len(chosen)} mutations noticed")
    return missed != 0


sys.exit(main())
