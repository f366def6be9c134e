/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE of the daemon: the pre-shared key, keys for the ends of connections and links, and what is
 * said when a stream fails. Keys are made on the lcore of their end when its session begins, and
 * live in memory for keys only.
 */

#include "ide.h"
#include "conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "event.h"
#include "weft_derive.h"

struct conn_ide {
	struct weft_link_ide end;
	struct weft_session_keys session;
	struct weft_derive_domain domain;
	const struct weft_psk *psk;
	struct weft_control_keys *control; /* behind end.mem, of the session that began last */
};

int
ide_open(struct daemon *d, char *err, size_t err_len)
{
	uint8_t share[WEFT_RANDOM_LEN];
	int rc;

	if (d->topo->ide.mode == WEFT_IDE_OFF)
		return 0;
	if (!weft_secret_random(NULL, share, sizeof(share)))
		return weft_errorf(err, err_len, -EIO, "ide: the kernel gives no random bytes: %s",
			strerror(errno));
	rc = weft_secret_process();
	if (rc != 0)
		return weft_errorf(err, err_len, rc,
			"ide: this process cannot be kept from being dumped: %s", strerror(-rc));
	d->psk = weft_psk_load(d->topo->ide.key_file, err, err_len);
	if (d->psk == NULL)
		return -errno;
	d->ide = weft_ide_lib_open(d->features);
	if (d->ide == NULL)
		return weft_errorf(err, err_len, -ENOTSUP, "ide: intel-ipsec-mb does not run here");
	if (!d->cfg.no_text)
		printf("ide: %s, PCRC %s, AES-GCM by %s, runs of flits in one pass by %s\n",
			weft_ide_mode_words[d->topo->ide.mode], d->topo->ide.pcrc ? "on" : "off",
			weft_ide_lib_kernel(d->ide), weft_ide_lib_run_kernel(d->ide));
	return 0;
}

void
ide_close(struct daemon *d)
{
	weft_psk_free(d->psk);
	if (d->ide != NULL)
		weft_ide_lib_close(d->ide);
}

static bool
ide_key(void *arg, const struct weft_session_transcript *deal, bool from_initiator,
	uint32_t generation, uint8_t *key)
{
	const struct conn_ide *i = arg;

	return weft_derive_key(i->psk, &i->domain, deal, from_initiator, generation, key);
}

static bool
ide_proof(void *arg, const struct weft_session_transcript *deal, bool is_initiator, uint8_t *proof)
{
	const struct conn_ide *i = arg;

	return weft_derive_proof(i->psk, &i->domain, deal, is_initiator, proof);
}

static bool
ide_bind(void *arg, const struct weft_session_transcript *deal)
{
	const struct conn_ide *i = arg;

	if (deal != NULL)
		return weft_derive_control_keys(i->psk, &i->domain, deal, i->control);
	explicit_bzero(i->control, sizeof(*i->control));
	return true;
}

static bool
ide_mac(void *arg, bool from_initiator, const uint8_t *image, size_t len, uint8_t *mac)
{
	const struct conn_ide *i = arg;

	return weft_control_mac(i->control, from_initiator, image, len, mac);
}

static bool
ide_gone(void *arg, uint32_t session, bool from_initiator, uint64_t number, uint8_t *proof)
{
	const struct conn_ide *i = arg;

	return weft_derive_gone(i->psk, &i->domain, session, from_initiator, number, proof);
}

/* Keys of both streams, and those of control frames behind them. */
static size_t
ide_memory(void)
{
	return weft_link_ide_size() + sizeof(struct weft_control_keys);
}

static uint16_t
ide_bits(const struct weft_topo_ide *o)
{
	unsigned int bits = WEFT_CONTROL_IDE_CAN(WEFT_CONTROL_IDE_STOP | WEFT_CONTROL_IDE_POISON);

	bits |= o->pcrc ? 0 : WEFT_CONTROL_IDE_NO_PCRC;
	bits |= o->stop ? WEFT_CONTROL_IDE_STOP : 0;
	bits |= o->poison ? WEFT_CONTROL_IDE_POISON : 0;
	return (uint16_t)bits;
}

int
ide_conn(struct conn *conn, struct weft_link_cfg *c)
{
	const struct daemon *d = conn->node->daemon;
	const struct weft_topo *t = d->topo;
	const uint16_t own = conn->node->topo->pid;
	struct conn_ide *i;

	if (t->ide.mode == WEFT_IDE_OFF)
		return 0;
	i = conn->ide = calloc(1, sizeof(*i));
	if (i == NULL)
		return -ENOMEM;
	i->psk = d->psk;
	i->domain = weft_derive_domain_of(
		(enum weft_mode)t->mode, conn->link->is_initiator, own, conn->link->pid);
	i->session = (struct weft_session_keys){ .random = weft_secret_random,
		.proof = ide_proof,
		.bind = ide_bind,
		.mac = ide_mac,
		.gone = ide_gone,
		.arg = i };
	i->end = (struct weft_link_ide){ .lib = d->ide,
		.mem = weft_secret_alloc(ide_memory()),
		.key = ide_key,
		.arg = i,
		.rekey_flits = t->ide.rekey_flits,
		.rekey_ns = (uint64_t)t->ide.rekey_ms * 1000000,
		.owner_opens = true,
		.apart = conn->node->env.ends.ide_apart };
	if (i->end.mem == NULL)
		return -ENOLCK;
	i->control = (struct weft_control_keys *)((uint8_t *)i->end.mem + weft_link_ide_size());
	c->ide = &i->end;
	c->session.keys = &i->session;
	c->session.params.ide_mode = t->ide.mode;
	c->session.params.ide_bits = ide_bits(&t->ide);
	return 0;
}

void
ide_conn_fini(struct conn *c)
{
	if (c->ide != NULL)
		weft_secret_free(c->ide->end.mem, ide_memory());
	free(c->ide);
	c->ide = NULL;
}

void
ide_log_events(struct daemon *d)
{
	struct conn_walk w = d->walk;
	struct conn *c;

	while (d->topo->ide.mode != WEFT_IDE_OFF && (c = conns_next(d, &w)) != NULL) {
		const struct weft_link *e = c->link->end;
		const uint64_t n = weft_link_count(e, WEFT_LINK_N_IDE_FAILURES);

		event_put(EVENT_IDE_FAILED, c->node->topo->name, conn_peer_name(c), n - c->ide_told,
			"IDE of what came from %s failed (%llu times, %llu flits dropped): "
			"the session ends, a new one gets new keys",
			conn_peer_name(c), (unsigned long long)n,
			(unsigned long long)weft_link_count(e, WEFT_LINK_N_IDE_DROPPED));
		c->ide_told = n;
	}
}

const char *
ide_state(const struct conn *c)
{
	if (c->ide == NULL)
		return "off";
	if (weft_session_is_live(weft_link_session(c->link->end)))
		return "secure";
	if (weft_link_session(c->link->end)->state == WEFT_SESSION_CLOSED)
		return "closed";
	return weft_link_count(c->link->end, WEFT_LINK_N_IDE_FAILURES) != 0 ? "insecure" : "down";
}
