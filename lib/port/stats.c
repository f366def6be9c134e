/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The list of open ports, their counters, and both in telemetry: /weft/ports, /weft/port,NAME. */

#include "memif_door_priv.h"

#include <rte_telemetry.h>

#include <errno.h>
#include <pthread.h>

/* One list a process; telemetry answers from a thread of DPDK's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft_port *ports;
static bool has_commands;

const struct weft_counter weft_port_counters[] = {
	{ "rx_frames", "frames", "received" },
	{ "rx_bursts", "bursts", "receive calls that brought something" },
	{ "tx_frames", "frames", "sent" },
	{ "tx_bursts", "bursts", "send calls with something to send" },
	{ "tx_full_frames", "frames", "offered to the port and not taken: it was full" },
	{ "rx_missed_frames", "frames", "lost by the device: we were late, or out of buffers" },
	{ "rx_errors", "frames", "received broken, by the device's count" },
	{ "tx_errors", "frames", "not sent, by the device's count" },
	{ "callers_refused", "connections", "to the port's socket that were no peer's" },
};

static_assert(WEFT_ARRAY_SIZE(weft_port_counters) == WEFT_PORT_COUNTERS, "a row a field");

static uint64_t
stats_load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

void
weft_port_stats(const struct weft_port *port, struct weft_port_stats *stats)
{
	struct rte_eth_stats eth;
	char why[1];

	*stats = (struct weft_port_stats){
		.rx_frames = stats_load(&port->rx_frames),
		.rx_bursts = stats_load(&port->rx_bursts),
		.tx_frames = stats_load(&port->tx_frames),
		.tx_bursts = stats_load(&port->tx_bursts),
		.tx_full_frames = stats_load(&port->tx_full_frames),
	};
	if (port->ctl->door != NULL)
		stats->callers_refused = port_memif_door_refused(port->ctl->door, why, sizeof(why));
	if (port->rx_ring != NULL || port->ctl->netif.is_gone ||
		rte_eth_stats_get(port->ethdev, &eth) != 0)
		return;
	stats->rx_missed_frames = eth.imissed + eth.rx_nombuf;
	stats->rx_errors = eth.ierrors;
	stats->tx_errors = eth.oerrors;
}

/* Under the lock. */
static struct weft_port *
stats_list_find(const char *name)
{
	struct weft_port *p = ports;

	while (p != NULL && strcmp(p->ctl->name, name) != 0)
		p = p->ctl->next;
	return p;
}

static int
stats_telemetry_ports(const char *cmd, const char *params, struct rte_tel_data *d)
{
	(void)cmd;
	(void)params;
	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	pthread_mutex_lock(&lock);
	for (const struct weft_port *p = ports; p != NULL; p = p->ctl->next)
		rte_tel_data_add_array_string(d, p->ctl->name);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Under the lock. */
static void
stats_telemetry_fill(struct rte_tel_data *d, const struct weft_port *port)
{
	struct weft_port_stats stats;
	uint64_t values[WEFT_PORT_COUNTERS];

	weft_port_stats(port, &stats);
	memcpy(values, &stats, sizeof(values));
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "name", port->ctl->name);
	rte_tel_data_add_dict_string(d, "driver", weft_port_driver_word(port->driver));
	rte_tel_data_add_dict_string(d, "line", port->ctl->line);
	rte_tel_data_add_dict_u64(d, "max_flits", port->ctl->max_flits);
	for (size_t i = 0; i < WEFT_PORT_COUNTERS; i++)
		rte_tel_data_add_dict_u64(d, weft_port_counters[i].name, values[i]);
}

static int
stats_telemetry_port(const char *cmd, const char *params, struct rte_tel_data *d)
{
	const struct weft_port *port;

	(void)cmd;
	if (params == NULL)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	port = stats_list_find(params);
	if (port != NULL)
		stats_telemetry_fill(d, port);
	pthread_mutex_unlock(&lock);
	return port != NULL ? 0 : -ENOENT;
}

void
port_list_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
port_list_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

int
port_list_add(struct weft_port *port)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (stats_list_find(port->ctl->name) != NULL) {
		rc = -EEXIST;
	} else {
		port->ctl->next = ports;
		ports = port;
	}
	/* DPDK has no way to take a command back, so they are announced once. */
	if (!has_commands) {
		rte_telemetry_register_cmd(
			"/weft/ports", stats_telemetry_ports, "Names of open ports.");
		rte_telemetry_register_cmd("/weft/port", stats_telemetry_port,
			"Driver and counters of a port. Parameter: its name.");
		has_commands = true;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void
port_list_remove(struct weft_port *port)
{
	struct weft_port **p = &ports;

	pthread_mutex_lock(&lock);
	while (*p != port)
		p = &(*p)->ctl->next;
	*p = port->ctl->next;
	pthread_mutex_unlock(&lock);
}
