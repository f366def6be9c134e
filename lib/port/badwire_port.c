/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A bad wire behind what a port sends. Hot while there is one. */

#include "weft_port_badwire.h"

#include <rte_cycles.h>

#include <errno.h>
#include <stdlib.h>

#include "port_priv.h"
#include "weft_loop.h"

/* Give the device what is ready. Under the lock of the wire: two lcores may come to it. */
static void
badwire_port_drain(struct weft_port *port, struct weft_badwire *w)
{
	struct rte_mbuf *burst[WEFT_BADWIRE_BURST];
	uint16_t n, sent;

	do {
		n = weft_badwire_peek(w, burst, WEFT_BADWIRE_BURST);
		if (n == 0)
			return;
		sent = weft_port_tx_straight(port, burst, n);
		weft_badwire_took(w, sent);
	} while (sent == n);
}

/* Late frames leave although nothing is sent: ports are always asked for frames. */
bool
weft_port_detour_rx(struct weft_port *port)
{
	struct weft_badwire *w = __atomic_load_n(&port->badwire, __ATOMIC_ACQUIRE);
	const uint8_t detour = __atomic_load_n(&port->detour, __ATOMIC_ACQUIRE);

	if ((detour & WEFT_PORT_CLOSED) != 0)
		return false;
	if ((detour & WEFT_PORT_UNREAD) != 0)
		port_look_whether_read(port);
	if (w == NULL || !weft_badwire_is_busy(w) || !rte_spinlock_trylock(&w->lock))
		return true;
	weft_badwire_release(w, rte_rdtsc());
	badwire_port_drain(port, w);
	rte_spinlock_unlock(&w->lock);
	return true;
}

uint16_t
weft_port_detour_tx(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	struct weft_badwire *w = __atomic_load_n(&port->badwire, __ATOMIC_ACQUIRE);
	uint64_t bytes = 0;
	uint16_t taken;

	if ((__atomic_load_n(&port->detour, __ATOMIC_ACQUIRE) & WEFT_PORT_CLOSED) != 0)
		return 0;
	/* It may have gone since the caller looked. */
	if (w == NULL)
		return weft_port_tx_straight(port, mbufs, n);
	rte_spinlock_lock(&w->lock);
	badwire_port_drain(port, w);
	taken = weft_badwire_put(w, mbufs, n, rte_rdtsc(), &bytes);
	badwire_port_drain(port, w);
	rte_spinlock_unlock(&w->lock);
	return taken;
}

int
weft_port_badwire_open(struct weft_port *port, const struct weft_impair_cfg *cfg)
{
	struct weft_badwire *w;

	if (weft_impair_check(cfg, NULL, 0) != 0)
		return -EINVAL;
	if (port->badwire != NULL)
		return -EBUSY;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return -ENOMEM;
	weft_badwire_init(w, cfg, true);
	w->late_max = WEFT_PORT_BADWIRE_LATE_MAX;
	__atomic_store_n(&port->badwire, w, __ATOMIC_RELEASE);
	__atomic_fetch_or(&port->detour, WEFT_PORT_BADWIRE, __ATOMIC_ACQ_REL);
	return 0;
}

void
weft_port_badwire_calm(struct weft_port *port)
{
	struct weft_badwire *w = port->badwire;
	struct weft_impair_cfg nothing;

	weft_impair_defaults(&nothing);
	nothing.seed = w->impair.cfg.seed;
	weft_badwire_set(w, &nothing);
	rte_spinlock_lock(&w->lock);
	weft_badwire_release(w, UINT64_MAX);
	rte_spinlock_unlock(&w->lock);
}

bool
weft_port_badwire_is_busy(const struct weft_port *port)
{
	return weft_badwire_is_busy(port->badwire);
}

static void
badwire_port_read(const struct weft_badwire *w, struct weft_port_badwire_counts *counts)
{
	for (unsigned int i = 0; i < WEFT_IMPAIR_N_COUNTERS; i++)
		counts->impair[i] = __atomic_load_n(&w->impair.count[i], __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < WEFT_BADWIRE_N_COUNTERS; i++)
		counts->wire[i] = __atomic_load_n(&w->count[i], __ATOMIC_RELAXED);
}

int
weft_port_badwire_counts(const struct weft_port *port, struct weft_port_badwire_counts *counts)
{
	if (port->badwire == NULL)
		return -ENOENT;
	badwire_port_read(port->badwire, counts);
	return 0;
}

int
weft_port_badwire_close(struct weft_port *port, struct weft_port_badwire_counts *counts)
{
	struct weft_badwire *w = port->badwire;

	if (w == NULL)
		return -ENOENT;
	/* Of two lcores one could still be at the wire while the other goes straight: hold both. */
	__atomic_fetch_or(&port->detour, WEFT_PORT_REPAIRED, __ATOMIC_ACQ_REL);
	weft_loop_quiesce();
	__atomic_store_n(&port->badwire, NULL, __ATOMIC_RELEASE);
	__atomic_fetch_and(&port->detour, (uint8_t) ~(WEFT_PORT_BADWIRE | WEFT_PORT_REPAIRED),
		__ATOMIC_ACQ_REL);
	if (counts != NULL)
		badwire_port_read(w, counts);
	weft_badwire_empty(w);
	free(w);
	return 0;
}
