# SPDX-License-Identifier: BSD-3-Clause
"""Ask a weftd for everything over telemetry from the moment its socket is there until it is gone.

usage: weftd_telemetry.py PID ENOUGH

The file ENOUGH appears when every command was answered, by every asker.
"""

import glob
import json
import os
import socket
import sys
import threading
import time

pid, enough = sys.argv[1:]
NODES = ["h0", "h1", "s0", "s1", "g0", "g1"]
COMMANDS = ["/weft/nodes", "/weft/kernels", "/weft/pipelines", "/weft/ports",
            "/weft/event_counts", "/weft/rates"] + [
    f"/weft/{what},{node}" for node in NODES for what in ("node", "retry", "lcores")] + [
    f"/weft/sessions,{node}" for node in NODES if node[0] != "s"]
ASKERS = 3
places = ("/var/run", os.environ["XDG_RUNTIME_DIR"], "/tmp", "/run/user/*")
problems, rounds = [], [0] * ASKERS


def runs():
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ask(k):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(60)
    try:
        while True:
            paths = [p for top in places for p in glob.glob(f"{top}/dpdk/weftd-{pid}/dpdk_telemetry.v2")]
            try:
                s.connect(paths[0])
                break
            except (IndexError, FileNotFoundError, ConnectionRefusedError, BlockingIOError):
                if not runs():
                    return
                time.sleep(0.001)
        s.recv(1 << 16)
        while True:
            for command in COMMANDS:
                s.send(command.encode())
                answer = s.recv(1 << 20)
                if not answer:
                    return
                answer, = json.loads(answer).values()
                # At the end of the run nothing is told any more.
                if not answer and rounds[k] == 0 and not os.path.exists(enough):
                    problems.append(f"{command} was answered by {answer}")
                if command == "/weft/nodes" and rounds[k] == 0 and answer != NODES:
                    problems.append(f"nodes {answer}")
            rounds[k] += 1
            if min(rounds) > 0:
                open(enough, "w").close()
    except (ConnectionResetError, BrokenPipeError):
        pass


askers = [threading.Thread(target=ask, args=(k,)) for k in range(ASKERS)]
for a in askers:
    a.start()
for a in askers:
    a.join()
sys.exit("; ".join(problems) if problems else 0)
