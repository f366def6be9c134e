/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * User-space probes (USDT) of provider weft, a row each: doc/debug.md has the table that people
 * read, and test/doc/probes.py holds both and the programs against each other. Without a tracer a
 * probe is a nop and what it takes to have its arguments in registers, so it stands where something
 * has happened, never on the way of each flit. Without sys/sdt.h (-Dprobes=disabled) it is nothing.
 *
 * They sit in lib/node, lib/pipeline and weftd. Libraries below topo have none: what happens there
 * shows in what it does to their owners, and outsiders take these libraries as they are.
 */
#ifndef WEFT_PROBE_H
#define WEFT_PROBE_H

#include "weft_base.h"

#ifdef WEFT_HAVE_SDT
/* Registers and constants: places in memory not every tracer can find. */
#define STAP_SDT_ARG_CONSTRAINT nr
#include <sys/sdt.h>
#else
#define DTRACE_PROBE3(provider, name, a, b, c) ((void)(a), (void)(b), (void)(c))
#define DTRACE_PROBE4(provider, name, a, b, c, d) ((void)(a), (void)(b), (void)(c), (void)(d))
#define DTRACE_PROBE5(provider, name, a, b, c, d, e)                                               \
	((void)(a), (void)(b), (void)(c), (void)(d), (void)(e))
#endif

WEFT_BEGIN_DECLS

/* weft_probe_NAME(): arguments by type and name. Strings are the topology's, or constants. */
#define WEFT_PROBE3(name, ta, a, tb, b, tc, c)                                                     \
	static inline __attribute__((always_inline)) void weft_probe_##name(ta a, tb b, tc c)      \
	{                                                                                          \
		DTRACE_PROBE3(weft, name, a, b, c);                                                \
	}
#define WEFT_PROBE4(name, ta, a, tb, b, tc, c, td, d)                                              \
	static inline                                                                              \
		__attribute__((always_inline)) void weft_probe_##name(ta a, tb b, tc c, td d)      \
	{                                                                                          \
		DTRACE_PROBE4(weft, name, a, b, c, d);                                             \
	}
#define WEFT_PROBE5(name, ta, a, tb, b, tc, c, td, d, te, e)                                       \
	static inline __attribute__((always_inline)) void weft_probe_##name(                       \
		ta a, tb b, tc c, td d, te e)                                                      \
	{                                                                                          \
		DTRACE_PROBE5(weft, name, a, b, c, d, e);                                          \
	}

/* lib/node */
WEFT_PROBE3(session_up, const char *, node, const char *, peer, uint64_t, sessions)
WEFT_PROBE3(session_down, const char *, node, const char *, peer, uint64_t, sessions)
WEFT_PROBE3(credit_stall, const char *, node, const char *, peer, unsigned int, kind)
/* lib/node and the stage route */
WEFT_PROBE3(translation_miss, const char *, node, unsigned int, context, uint64_t, address)
/* lib/node, lib/pipeline, weftd */
WEFT_PROBE3(drop, const char *, node, const char *, reason, uint64_t, count)
/* lib/pipeline */
WEFT_PROBE4(retry, const char *, node, unsigned int, dpid, unsigned int, port, unsigned int, flits)
WEFT_PROBE4(
	crc_bad, const char *, node, unsigned int, spid, unsigned int, port, unsigned int, flits)
/* weftd */
WEFT_PROBE3(reload, int, status, uint64_t, updates, uint64_t, ns)
WEFT_PROBE5(fm_command, const char *, node, unsigned int, manager, unsigned int, opcode,
	unsigned int, status, unsigned int, bytes)

WEFT_END_DECLS

#endif /* WEFT_PROBE_H */
