/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * fm_components FILE FOLDER: the switches and GFDs of a topology file, and with management: fm its
 * hosts, as components in memory, at the sockets that daemons would serve. Lines of standard input:
 * "down A B", "up A B" (the link of two nodes), "dead A", "alive A" (begins again with nothing),
 * "hold A", "free A" (says nothing meanwhile, and goes on with what it has); "ok" answers each. It
 * ends with its input.
 */

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake.h"
#include "weft_socket.h"
#include "weft_topo.h"

#define FRAME 4
#define CLIENTS 4

struct component {
	unsigned int node;
	int listener;
	int client[CLIENTS];
	unsigned int caller[CLIENTS]; /* connections have numbers */
};

static struct weft_topo *topo;
static struct weft_topo_error topo_error;
static struct fake fake;
static struct weft_fm_intent intent;
static struct weft_fm_extent extent[256];
static struct weft_fm_right right[1024];
static struct component component[256];
static unsigned int n_components, n_callers;
static unsigned int path_of[WEFT_TOPO_NODES];

static void
components_listen(const char *folder)
{
	for (unsigned int i = 0; i < topo->n_nodes; i++) {
		struct component *c = &component[n_components];
		char path[WEFT_SOCKET_PATH_MAX];

		if (topo->node[i].kind == WEFT_TOPO_HOST &&
			topo->access.management != WEFT_TOPO_MANAGED_BY_FM)
			continue;
		path_of[i] = n_components++;
		c->node = i;
		memset(c->client, 0xff, sizeof(c->client));
		snprintf(path, sizeof(path), "%s/cci-%s.sock", folder, topo->node[i].name);
		c->listener = weft_socket_listen(path);
		assert_true(c->listener >= 0);
	}
}

/* What the manager may give: what the file says, or with management: fm all to all. */
static void
components_allow(void)
{
	const bool is_free = topo->access.management == WEFT_TOPO_MANAGED_BY_FM;

	for (unsigned int r = 0; !is_free && r < topo->access.n_ranges; r++)
		extent[intent.n_extents++] =
			(struct weft_fm_extent){ .path = path_of[topo->access.range[r].gfd],
				.group = topo->access.range[r].group,
				.dpa = topo->access.range[r].base,
				.len = topo->access.range[r].size };
	for (unsigned int g = 0; is_free && g < topo->n_gfds; g++)
		for (unsigned int k = 0; k < WEFT_TOPO_FM_GROUPS; k++)
			extent[intent.n_extents++] =
				(struct weft_fm_extent){ .path = path_of[topo->gfd[g]],
					.group = (uint16_t)k,
					.len = topo->node[topo->gfd[g]].memory };
	for (unsigned int h = 0; h < topo->n_hosts; h++)
		for (unsigned int g = 0; g < topo->n_gfds; g++)
			right[intent.n_rights++] = (struct weft_fm_right){
				.path = path_of[topo->gfd[g]],
				.pid = topo->node[topo->host[h]].pid,
				.groups = is_free ? UINT32_MAX
				                  : (uint32_t)topo->node[topo->host[h]].access
			};
	intent.extent = extent;
	intent.right = right;
	fake.intent = &intent;
}

/* Ports by their numbers in the file. */
static void
components_cable(void)
{
	fake.component = calloc(n_components, sizeof(*fake.component));
	fake.n_components = n_components;
	assert_non_null(fake.component);
	for (unsigned int k = 0; k < n_components; k++) {
		const struct weft_topo_node *n = &topo->node[component[k].node];
		struct fake_component *c = &fake.component[k];

		c->is_gfd = n->kind == WEFT_TOPO_GFD;
		c->is_host = n->kind == WEFT_TOPO_HOST;
		c->serial = 100 + k;
		c->n_ports = n->n_ports;
		for (unsigned int p = 0; p < n->n_ports; p++) {
			const unsigned int peer = topo->port[n->first_port + p].peer;
			const unsigned int far = topo->port[peer].node;

			c->port[p] = (struct fake_port){ .is_up = true, .far = FAKE_HOST };
			if (topo->node[far].kind == WEFT_TOPO_HOST)
				continue;
			c->port[p].far = FAKE_COMPONENT;
			c->port[p].far_component = (uint16_t)path_of[far];
			c->port[p].far_port = (uint8_t)(peer - topo->node[far].first_port);
		}
		fake_reboot(&fake, k);
	}
}

static void
components_accept(struct component *c)
{
	for (unsigned int i = 0; i < CLIENTS; i++)
		if (c->client[i] < 0) {
			c->client[i] = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC);
			c->caller[i] = ++n_callers;
			return;
		}
}

static void
components_serve(unsigned int k, int *client, unsigned int caller)
{
	uint8_t in[FRAME + FAKE_MESSAGE], out[FRAME + FAKE_MESSAGE];
	const ssize_t n = recv(*client, in, sizeof(in), 0);

	if (n <= FRAME) {
		close(*client);
		*client = -1;
		return;
	}
	if (fake.component[k].is_dead)
		return;
	memcpy(out, in, FRAME);
	(void)send(*client, out,
		FRAME + fake_serve(&fake, k, caller, in + FRAME, (size_t)n - FRAME, out + FRAME),
		MSG_NOSIGNAL);
}

static int
components_find(const char *name)
{
	const int node = weft_topo_find(topo, name);

	assert_true(node >= 0 && topo->node[node].kind != WEFT_TOPO_HOST);
	return (int)path_of[node];
}

/* "dead A" and "alive A" take links along, and what it has; "hold A" and "free A" do not. */
static void
components_set_dead(const char *verb, unsigned int at)
{
	struct fake_component *c = &fake.component[at];

	c->is_dead = strcmp(verb, "dead") == 0 || strcmp(verb, "hold") == 0;
	if (strcmp(verb, "hold") == 0 || strcmp(verb, "free") == 0)
		return;
	if (!c->is_dead)
		fake_reboot(&fake, at);
	for (unsigned int p = 0; p < c->n_ports; p++)
		fake_set_up(&fake, at, p, !c->is_dead);
}

static void
components_order(const char *line)
{
	char verb[16], a[64], b[64];
	const int n = sscanf(line, "%15s %63s %63s", verb, a, b);

	assert_true(n >= 2);
	if (n == 3) {
		const unsigned int from = (unsigned int)components_find(a);
		const unsigned int to = (unsigned int)components_find(b);

		for (unsigned int p = 0; p < fake.component[from].n_ports; p++)
			if (fake.component[from].port[p].far == FAKE_COMPONENT &&
				fake.component[from].port[p].far_component == to)
				fake_set_up(&fake, from, p, strcmp(verb, "up") == 0);
	} else {
		components_set_dead(verb, (unsigned int)components_find(a));
	}
	printf("ok\n");
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	struct pollfd fd[1 + 256 * (1 + CLIENTS)];
	char line[160];

	if (argc != 3)
		return 2;
	if (weft_topo_load(&topo, argv[1], &topo_error) != 0) {
		fprintf(stderr, "%s\n", topo_error.text);
		return 1;
	}
	components_listen(argv[2]);
	components_allow();
	components_cable();
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		unsigned int n = 0;

		fd[n++] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
		for (unsigned int k = 0; k < n_components; k++) {
			fd[n++] = (struct pollfd){ .fd = component[k].listener, .events = POLLIN };
			for (unsigned int i = 0; i < CLIENTS; i++)
				fd[n++] = (struct pollfd){ .fd = component[k].client[i],
					.events = POLLIN };
		}
		assert_true(poll(fd, n, -1) > 0);
		for (unsigned int k = 0; k < n_components; k++) {
			const struct pollfd *own = &fd[1 + k * (1 + CLIENTS)];

			for (unsigned int i = 0; i < CLIENTS; i++)
				if (own[1 + i].revents != 0)
					components_serve(
						k, &component[k].client[i], component[k].caller[i]);
			if (own->revents != 0)
				components_accept(&component[k]);
		}
		if (fd[0].revents == 0)
			continue;
		if (fgets(line, sizeof(line), stdin) == NULL)
			break;
		components_order(line);
	}
	weft_topo_free(topo);
	return 0;
}
