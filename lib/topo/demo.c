/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The fabric that runs when no file is given: every path crosses one or two switches, everything
 * is in one process, frames of about 4 KB (the fastest size for ports in memory, doc/runtime.md).
 */

#include "weft_topo.h"

const char weft_topo_demo_yaml[] = "fabric: demo\n"
				   "defaults: {mtu: 4114}\n" /* 16 flits a frame */
				   "nodes:\n"
				   "  - {name: h0, kind: host, pid: 0x101}\n"
				   "  - {name: h1, kind: host, pid: 0x102}\n"
				   "  - {name: s0, kind: switch, pid: 0x010}\n"
				   "  - {name: s1, kind: switch, pid: 0x011}\n"
				   "  - {name: g0, kind: gfd, pid: 0x200, memory: 16M}\n"
				   "  - {name: g1, kind: gfd, pid: 0x201, memory: 16M}\n"
				   "links:\n"
				   "  - {a: h0, b: s0, driver: ring}\n"
				   "  - {a: h1, b: s1, driver: ring}\n"
				   "  - {a: s0, b: s1, driver: ring}\n"
				   "  - {a: s0, b: g0, driver: ring}\n"
				   "  - {a: s1, b: g1, driver: ring}\n"
				   "workloads:\n"
				   "  - {on: h0, kind: mem, seed: 1}\n"
				   "  - {on: h1, kind: mem, seed: 2}\n";
