/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Ports by their words: veth0 or netif=veth0,driver=af_packet; socket=PATH; vdev=DEVARGS; ring. */

#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "cli.h"
#include "weft_words.h"
#include "words.h"

#define NETIF_LEN_MAX 15u
#define MEMIF_ID_MAX 0xFFFFFFFFu
#define FRAMES_RING 2048u /* both directions of a pair, each 1024 */
#define FRAMES_DEVICE 6144u /* of a device: its queues, and the fill ring of af_xdp */
#define FILES_PORT 24u /* of a memif server with callers at its door; others need fewer */
#define TEND_MS 250
#define NAP_US 1000

static const char *const wire_drivers[] = { "auto", "af_xdp", "af_packet", NULL };
static const enum weft_port_driver wire_driver[] = { WEFT_PORT_AUTO, WEFT_PORT_AF_XDP,
	WEFT_PORT_AF_PACKET };
static const char *const wire_roles[] = { "client", "server", NULL };

/* What stands behind "KEY=" of a word, or NULL. */
static char *
wire_value(char *word, const char *key)
{
	const size_t len = strlen(key);

	return strncmp(word, key, len) == 0 && word[len] == '=' ? word + len + 1 : NULL;
}

/* Whether a word begins a port. Of a virtual device nearly all is its driver's. */
static bool
wire_begins(const struct weft_port_spec *s, char *word)
{
	if (wire_value(word, "netif") != NULL || wire_value(word, "pci") != NULL ||
		wire_value(word, "vdev") != NULL)
		return true;
	return (s == NULL || s->vdev == NULL) &&
	       (wire_value(word, "socket") != NULL || strchr(word, '=') == NULL);
}

static void
wire_begin_netif(const char *option, struct weft_port_spec *s, const char *name)
{
	if (name[0] == '\0' || strlen(name) > NETIF_LEN_MAX)
		cli_usage("%s: expected an interface of 1 to %u characters, or one of socket=PATH, "
			  "pci=ADDRESS, vdev=ARGUMENTS, ring, got \"%s\"",
			option, NETIF_LEN_MAX, name);
	s->netif = name;
}

static void
wire_begin_socket(const char *option, struct weft_port_spec *s, const char *path)
{
	if (path[0] == '\0')
		cli_usage("%s: expected a path behind socket=, got nothing", option);
	s->socket = path;
	s->socket_is_named = true;
}

static void
wire_begin_vdev(const char *option, struct weft_port_spec *s, const char *args)
{
	if (strncmp(args, "net_", 4) != 0)
		cli_usage("%s: expected a virtual device such as vdev=net_null0, got \"%s\"",
			option, args);
	s->vdev = args;
}

/* "5e:00.0" is 0000:5e:00.0. */
static void
wire_begin_pci(struct wire *w, const char *option, const char *address)
{
	unsigned int domain = 0, bus, device, function;
	int end = 0;

	if (sscanf(address, "%4x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &end) != 4) {
		domain = 0;
		end = 0;
		sscanf(address, "%2x:%2x.%1x%n", &bus, &device, &function, &end);
	}
	if (end == 0 || address[end] != '\0' || device > 0x1F || function > 7)
		cli_usage("%s: expected a PCI address such as 0000:5e:00.0, got \"%s\"", option,
			address);
	snprintf(w->pci[w->n], sizeof(w->pci[w->n]), "%04x:%02x:%02x.%x", domain, bus, device,
		function);
	w->spec[w->n].pci = w->pci[w->n];
}

/* Both ends of a pair of rings are ours. */
static void
wire_begin_ring(struct wire *w, const char *const names[WIRE_PORTS])
{
	for (unsigned int i = 0; i < WIRE_PORTS; i++)
		w->spec[i] = (struct weft_port_spec){
			.name = names[i],
			.driver = WEFT_PORT_RING,
		};
	w->is_ring = true;
	w->n = WIRE_PORTS;
}

static void
wire_begin(struct wire *w, const char *option, char *word, const char *const names[WIRE_PORTS])
{
	struct weft_port_spec *s = &w->spec[w->n];
	const char *value;

	if (w->n == 0 && strcmp(word, "ring") == 0) {
		wire_begin_ring(w, names);
		return;
	}
	*s = (struct weft_port_spec){ .name = names[w->n] };
	if ((value = wire_value(word, "socket")) != NULL)
		wire_begin_socket(option, s, value);
	else if ((value = wire_value(word, "pci")) != NULL)
		wire_begin_pci(w, option, value);
	else if ((value = wire_value(word, "vdev")) != NULL)
		wire_begin_vdev(option, s, value);
	else
		wire_begin_netif(
			option, s, (value = wire_value(word, "netif")) != NULL ? value : word);
	w->n++;
}

/* Another word of the port that has begun. */
static void
wire_add(struct weft_port_spec *s, const char *option, char *word)
{
	const char *value;
	uint64_t id;

	if (s->netif != NULL && (value = wire_value(word, "driver")) != NULL) {
		s->driver = wire_driver[cli_word(option, value, wire_drivers)];
	} else if (s->socket != NULL && (value = wire_value(word, "role")) != NULL) {
		s->memif_server = cli_word(option, value, wire_roles) != 0;
	} else if (s->socket != NULL && (value = wire_value(word, "id")) != NULL) {
		if (!words_number(value, 0, MEMIF_ID_MAX, &id))
			cli_usage("%s: expected id=NUMBER, got \"%s\"", option, word);
		s->memif_id = (unsigned int)id;
	} else {
		cli_usage("%s: expected driver=WORD behind an interface, role=WORD or id=NUMBER "
			  "behind a socket, got \"%s\"",
			option, word);
	}
}

static bool
wire_is_equal(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* The arguments of a virtual device begin with its name. */
static bool
wire_is_device(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcspn(a, ",") == strcspn(b, ",") &&
	       strncmp(a, b, strcspn(a, ",")) == 0;
}

/* Both ends of a memif may be ours. */
static bool
wire_is_twice(const struct weft_port_spec *a, const struct weft_port_spec *b)
{
	return wire_is_equal(a->netif, b->netif) || wire_is_equal(a->pci, b->pci) ||
	       wire_is_device(a->vdev, b->vdev) ||
	       (wire_is_equal(a->socket, b->socket) && a->memif_id == b->memif_id &&
		       a->memif_server == b->memif_server);
}

static const char *
wire_what(const struct weft_port_spec *s)
{
	return s->netif != NULL  ? s->netif
	       : s->pci != NULL  ? s->pci
	       : s->vdev != NULL ? s->vdev
	                         : s->socket;
}

void
wire_read(struct wire *w, const char *option, char *text, const char *const names[WIRE_PORTS],
	unsigned int most)
{
	struct weft_port_spec *s = NULL;
	char *word;

	while ((word = strsep(&text, ",")) != NULL) {
		if (s != NULL && s->vdev != NULL && !wire_begins(s, word)) {
			word[-1] = ','; /* the driver's */
			continue;
		}
		if (!wire_begins(s, word)) {
			wire_add(s != NULL ? s : &(struct weft_port_spec){ 0 }, option, word);
			continue;
		}
		if (w->n >= most)
			cli_usage("%s: expected %s, got one more, \"%s\"", option,
				w->is_ring  ? "no port beside ring, which is a pair"
				: most == 1 ? "one port"
					    : "two ports",
				word);
		wire_begin(w, option, word, names);
		s = &w->spec[w->n - 1];
	}
	if (w->n == WIRE_PORTS && !w->is_ring && wire_is_twice(&w->spec[0], &w->spec[1]))
		cli_usage("%s: expected two ports, got %s twice", option, wire_what(&w->spec[0]));
}

void
wire_eal(struct wire *w, struct weft_eal_cfg *eal)
{
	eal->pci = w->device;
	eal->n_pci = 0;
	for (unsigned int i = 0; i < w->n; i++) {
		if (w->spec[i].pci != NULL)
			w->device[eal->n_pci++] = w->spec[i].pci;
		eal->lends_memory |= w->spec[i].vdev != NULL;
		eal->any_driver |= w->spec[i].vdev != NULL;
		eal->n_files += FILES_PORT;
	}
}

unsigned int
wire_frames(const struct wire *w)
{
	return w->is_ring ? FRAMES_RING : FRAMES_DEVICE * w->n;
}

static uint64_t
wire_deadline(double wait_s)
{
	return rte_get_tsc_cycles() + (uint64_t)(wait_s * (double)rte_get_tsc_hz());
}

static bool
wire_is_over(uint64_t deadline)
{
	return cli_is_stopped() || rte_get_tsc_cycles() >= deadline;
}

/* The server that a client is for may come later. */
static int
wire_open_one(struct wire *w, unsigned int i, uint64_t deadline, char *err, size_t err_len)
{
	int rc;

	while ((rc = weft_port_open(&w->spec[i], &w->port[i], err, err_len)) == -ENOENT &&
		!wire_is_over(deadline))
		rte_delay_us_sleep(NAP_US);
	return rc;
}

/* Servers first: a client may be for one of them. */
static int
wire_open_all(struct wire *w, uint64_t deadline, char *err, size_t err_len)
{
	int rc = 0;

	if (w->is_ring)
		return weft_port_open_pair(&w->spec[0], &w->spec[1], w->port, err, err_len);
	for (unsigned int round = 0; round < 2 && rc == 0; round++)
		for (unsigned int i = 0; i < w->n && rc == 0; i++)
			if (w->spec[i].memif_server == (round == 0))
				rc = wire_open_one(w, i, deadline, err, err_len);
	return rc;
}

/* The first port without a link, or NULL. */
static struct weft_port *
wire_down(const struct wire *w)
{
	for (unsigned int i = 0; i < WIRE_PORTS; i++)
		if (w->port[i] != NULL && !weft_port_is_up(w->port[i]))
			return w->port[i];
	return NULL;
}

/* With the reason, where somebody called and was turned away. */
static int
wire_no_link(struct weft_port *port, double wait_s, char *err, size_t err_len)
{
	struct weft_port_event e;

	if (weft_port_next_event(port, &e))
		return weft_errorf(err, err_len, -ETIMEDOUT, "port %s: no link within %g s: it %s",
			weft_port_name(port), wait_s, e.text);
	return weft_errorf(err, err_len, -ETIMEDOUT,
		"port %s: no link within %g s: expected somebody at its other end",
		weft_port_name(port), wait_s);
}

static int
wire_wait_up(struct wire *w, double wait_s, uint64_t deadline, char *err, size_t err_len)
{
	struct weft_port *down;

	for (unsigned int naps = 1; (down = wire_down(w)) != NULL; naps++) {
		if (cli_is_stopped())
			return weft_errorf(err, err_len, -EINTR,
				"stopped while port %s had no link", weft_port_name(down));
		if (wire_is_over(deadline))
			return wire_no_link(down, wait_s, err, err_len);
		for (unsigned int i = 0; naps % TEND_MS == 0 && i < WIRE_PORTS; i++)
			if (w->port[i] != NULL)
				weft_port_maintain(w->port[i]);
		rte_delay_us_sleep(NAP_US);
	}
	return 0;
}

int
wire_open(struct wire *w, struct rte_mempool *pool, unsigned int max_flits, double wait_s,
	char *err, size_t err_len)
{
	const uint64_t deadline = wire_deadline(wait_s);
	int rc;

	for (unsigned int i = 0; i < WIRE_PORTS; i++) {
		w->spec[i].pool = pool;
		w->spec[i].max_flits = max_flits;
	}
	rc = wire_open_all(w, deadline, err, err_len);
	if (rc == 0)
		rc = wire_wait_up(w, wait_s, deadline, err, err_len);
	if (rc != 0)
		wire_close(w);
	return rc;
}

bool
wire_has_lost_link(const struct wire *w)
{
	for (unsigned int i = 0; i < WIRE_PORTS; i++) {
		if (w->port[i] == NULL || w->spec[i].netif == NULL || weft_port_is_up(w->port[i]))
			continue;
		cli_warn("port %s: has no link any more: what it was given may be lost",
			weft_port_name(w->port[i]));
		return true;
	}
	return false;
}

void
wire_close(struct wire *w)
{
	for (unsigned int i = 0; i < WIRE_PORTS; i++) {
		weft_port_close(w->port[i]);
		w->port[i] = NULL;
	}
}
