# SPDX-License-Identifier: BSD-3-Clause
"""Change routes and rights of a running weftd, again and again.

usage: weftd_update.py WEFTD MODE FOLDER
"""

import glob
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time

weftd, mode, folder = sys.argv[1:]
path, log, err, counts = (os.path.join(folder, n) for n in ("fabric.yaml", "out", "weftd.err", "json"))
CHANGES = 200 if mode == "rxl" else 40
DEADLINE = time.monotonic() + 300
seed = random.SystemRandom().getrandbits(31)
rng = random.Random(seed)
print(f"seed {seed}")


def fabric(routing="updown", h1="low", h2="", spare=False, pid=0x200, timeout=60000, more=False):
    """A ring of four switches: two ways between any. h0 may always reach its lines."""
    h0 = "low, high, spare" if spare else "low, high"
    load = "".join(f"  - {{on: {h}, kind: mem, requests: 0, lines: 512, outstanding: 32, timeout_ms: {timeout}}}\n"
                   for h in ("h0", "h1", "h2"))
    extra = "  - {target: g1, size: 128K}\n" if more else ""
    return f"""fabric: ring
mode: {mode}
routing: {routing}
segments:
  - {{interleave: {{ways: 2, targets: [g0, g1]}}, size: 512K}}
  - {{target: g0, size: 512K}}
{extra}groups:
  - {{name: low, ranges: [{{gfd: g0, size: 256K}}, {{gfd: g1, size: 256K}}]}}
  - {{name: high, ranges: [{{gfd: g0, base: 256K, size: 512K}}]}}
  - {{name: spare, ranges: [{{gfd: g1, base: 512K}}]}}
nodes:
  - {{name: h0, kind: host, pid: 0x100, access: [{h0}]}}
  - {{name: h1, kind: host, pid: 0x101, access: [{h1}]}}
  - {{name: h2, kind: host, pid: 0x102, access: [{h2}]}}
  - {{name: s0, kind: switch, pid: 0x010}}
  - {{name: s1, kind: switch, pid: 0x011}}
  - {{name: s2, kind: switch, pid: 0x012}}
  - {{name: s3, kind: switch, pid: 0x013}}
  - {{name: g0, kind: gfd, pid: {pid}, memory: 1M}}
  - {{name: g1, kind: gfd, pid: 0x201, memory: 1M}}
links:
  - {{a: s0, b: s1}}
  - {{a: s1, b: s2}}
  - {{a: s2, b: s3}}
  - {{a: s3, b: s0}}
  - {{a: h0, b: s0}}
  - {{a: h1, b: s1}}
  - {{a: h2, b: s0}}
  - {{a: g0, b: s2}}
  - {{a: g1, b: s3}}
workloads:
{load}"""


def wait(what, fn):
    while not fn():
        if daemon.poll() is not None:
            sys.exit(f"weftd ended with {daemon.returncode}: {open(err).read()}")
        if time.monotonic() > DEADLINE:
            sys.exit(f"waited in vain for {what}")
        time.sleep(0.002)


class Log:
    """What a file says, read as it grows."""

    def __init__(self, name):
        self.file, self.rest, self.said = open(name), "", []

    def lines(self, text):
        *more, self.rest = (self.rest + self.file.read()).split("\n")
        self.said += more
        return [line for line in self.said if text in line]


def hang_up(text, name, said):
    """Put the file down, say so, and wait for the answer."""
    answers = lambda: len(out.lines("tables: changed") + errors.lines("tables: not changed"))
    before, before_all = len(name.lines(said)), answers()
    with open(path + ".new", "w") as f:
        f.write(text)
    os.rename(path + ".new", path)
    daemon.send_signal(signal.SIGHUP)
    wait(said, lambda: answers() > before_all)
    if len(name.lines(said)) == before:
        sys.exit(f"expected {said!r}, got {out.said[-1]} {errors.said[-1:]}")
    return name.lines(said)[-1]


def change(**keys):
    line = hang_up(fabric(**keys), out, "tables: changed")
    done.append([int(n) for n in re.findall(r"\d+", line)])
    return done[-1][0]


def refused(text, why):
    line = hang_up(text, errors, "tables: not changed")
    if why not in line:
        sys.exit(f"expected {why!r}, got {line!r}")
    global n_refused
    n_refused += 1
    goes_on()


def traffic(host, *counters):
    """Over telemetry."""
    if not telemetry:
        places = ("/var/run", os.environ["XDG_RUNTIME_DIR"], "/tmp", "/run/user/*")
        found = [p for top in places for p in glob.glob(f"{top}/dpdk/weftd-{daemon.pid}/dpdk_telemetry.v2")]
        telemetry.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        telemetry[0].settimeout(20)
        telemetry[0].connect(found[0])
        telemetry[0].recv(1 << 16)
    telemetry[0].send(f"/weft/node,{host}".encode())
    row = json.loads(telemetry[0].recv(1 << 20))["/weft/node"]
    return [row["traffic_" + c] for c in counters]


def grows(host, counter, by):
    start, = traffic(host, counter)
    wait(f"{counter} of {host}", lambda: traffic(host, counter)[0] >= start + by)


def goes_on():
    for host in ("h0", "h1", "h2"):
        grows(host, "reads", 100)


done, n_refused, telemetry = [], 0, []
with open(path, "w") as f:
    f.write(fabric())
daemon = subprocess.Popen([weftd, "--topology", path, "--json", counts], stdout=open(log, "w"),
                          stderr=open(err, "w"))
out, errors = Log(log), Log(err)
try:
    wait("the start", lambda: out.lines("nodes of fabric"))
    wait("traffic", lambda: all(traffic(h, "reads")[0] > 0 for h in ("h0", "h1", "h2")))

    # What the traffic does not need: routes, a group that nobody has lines in, one segment more.
    routes = ("updown", "shortest")
    for i in range(CHANGES // 2):
        n = change(routing=routes[i % len(routes)], spare=bool(i & 1), more=bool(i & 2))
        if i > 0 and n == 0:
            sys.exit("a change changed nothing")
    again = change(routing="updown"), change(routing="updown")
    if again[0] == 0 or again[1] != 0:
        sys.exit(f"changed nodes: {again}, expected some by another file, none by the same again")
    # What it does need, and both at once.
    for i in range(CHANGES // 2 - 2):
        change(routing=rng.choice(routes), h1=rng.choice(("low", "high", "", "low, high")),
               h2=rng.choice(("low", "high", "")), spare=rng.random() < 0.5)

    # Each GFD refuses who may reach another part of it: others are stopped at their edge port.
    for group in ("high", "spare"):
        change(h1=group)
        grows("h1", "refused", 2000)

    # What cannot change says so, and nothing does.
    good = fabric()
    refused(fabric(pid=0x300), "node g0: pid cannot change while the fabric runs")
    refused(fabric(timeout=1000), "load of h0: mem.timeout_ms cannot change")
    refused(good.replace("low, high]", "low, secret]"), "unknown group")
    refused(good.replace("a: h0, b: s0", "a: h0, b: s1"), "port h0.0: other end cannot change")
    refused(good.replace("size: 512K}\n  - {target", "size: 256K}\n  - {target"),
            "segments[0] cannot change while host h0 uses it")
    refused(good.replace("ring", "star", 1), "fabric cannot change")
    refused("", "fabric.yaml")

    # Rights that were taken stay away, those that were given stay, and an h2 that had none works on.
    change(h1="", h2="low, high")
    for host, counter in (("h1", "refused"), ("h2", "verified")):
        grows(host, counter, 2000)
    before = traffic("h1", "verified"), traffic("h2", "refused")
    for host, counter in (("h1", "refused"), ("h2", "verified")):
        grows(host, counter, 2000)
    if before != (traffic("h1", "verified"), traffic("h2", "refused")):
        sys.exit("old rights came back")
    goes_on()
    daemon.send_signal(signal.SIGTERM)
    if daemon.wait(60) != 0:
        sys.exit(f"weftd ended with {daemon.returncode}: {open(log).read()}{open(err).read()}")
finally:
    if daemon.poll() is None:
        daemon.kill()

result = json.load(open(counts))
nodes = {n["name"]: n for n in result["nodes"]}
problems = []
for host in ("h0", "h1", "h2"):
    row = nodes[host]["traffic"]
    print(host, row)
    problems += [f"{host}: {key} {row[key]}" for key in ("lost", "mismatches", "failed", "uncertain")
                 if row[key]]
    problems += [f"{host}: {key} 0" for key in ("verified", "reads") if not row[key]]
    if (host == "h0") == (row["refused"] + row["before"] > 0):
        problems.append(f"{host}: {row['refused']} refused, {row['before']} before")
if not all(sum(h["sat"] for h in nodes[g]["access"]["hosts"]) for g in ("g0", "g1")):
    problems.append("a GFD refused nothing")
if result["updates"] != {"done": len(done), "refused": n_refused} or len(done) < CHANGES:
    problems.append(f"{result['updates']}, not {len(done)} and {n_refused}")
print("drops", {n: row["drops"] for n, row in nodes.items() if row["drops"]})
took = sorted(us for nodes_changed, us in done if nodes_changed)
print(f"{len(took)} changes: least {took[0]}, half {took[len(took) // 2]}, most {took[-1]} us")
sys.exit("; ".join(problems) if problems else 0)
