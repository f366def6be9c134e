/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A store in etcd, of which two managers take turns. Each has a lease and, by it, one of two seats,
 * whose UUIDs components know them by; one has the leader's key. Below the prefix:
 *
 *   schema          1
 *   uuid/0, uuid/1  of the seats, 32 hexadecimal digits
 *   seat/0, seat/1  of who has it (lease)
 *   pid/0, pid/1    that components know that one by (lease)
 *   port/HOST       of who reaches components by the port of this host (lease)
 *   leader          of who leads (lease)
 *   drained/NODE    nodes that are drained
 *   memory          what operators asked for: one document
 *   audit/NUMBER    changes, of which the last ETCD_AUDIT are kept
 *
 * Whatever a leader writes is a transaction that holds only as long as the leader's key is the one
 * that it made. It stops by its own clock, too, before the lease can have run out in etcd. After
 * any call that failed it leads no more until etcd says that it does.
 */

#include "store_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "etcd.h"

#define ETCD_SCHEMA "1"
#define ETCD_SEATS 2
#define ETCD_AUDIT 10000 /* lines that are kept */
#define ETCD_SECOND UINT64_C(1000000000)
#define ETCD_LOOK_NS UINT64_C(200000000) /* between looks of one that waits */
#define ETCD_AWAY_NS UINT64_C(500000000) /* between tries while etcd is away */

/* Of managers out of band, by seat. */
static const uint16_t etcd_pid[ETCD_SEATS] = { WEFT_FM_PID, WEFT_FM_PEER_PID };

struct etcd_store {
	struct store base;
	struct etcd *etcd;
	uint64_t lease; /* 0: none */
	int seat; /* -1: none */
	bool has_port; /* if it needs one */
	bool is_leader, is_away;
	int64_t leader_revision; /* that the leader's key was made at */
	uint64_t until_ns; /* that the lease lasts at least */
	uint64_t keep_ns; /* when it is to be kept alive */
	uint64_t turn_ns; /* when there is something to be done */
	uint64_t audit; /* number of the last line */
	char us[100]; /* for other managers' lines */
	char said[160]; /* what a line was about last */
	struct store_identity id;
};

static struct etcd_store *
etcd_of(struct store *s)
{
	return (struct etcd_store *)(void *)s;
}

/* Counts while the machine is suspended, too. */
static uint64_t
etcd_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * ETCD_SECOND + (uint64_t)t.tv_nsec;
}

static void
etcd_say(struct etcd_store *s, const char *word, const char *text)
{
	if (strcmp(s->said, text) == 0)
		return;
	snprintf(s->said, sizeof(s->said), "%s", text);
	if (s->base.cfg.say != NULL)
		s->base.cfg.say(s->base.cfg.say_arg, word, text);
}

static void
etcd_stop(struct etcd_store *s, const char *why)
{
	if (s->is_leader)
		etcd_say(s, "waits", why);
	snprintf(s->base.why, sizeof(s->base.why), " (%s)", why);
	s->is_leader = false;
	s->turn_ns = 0;
}

/* A call failed: what it was to do may have been done. */
static int
etcd_is_away(struct etcd_store *s)
{
	if (!s->is_away)
		cli_warn(
			"store etcd: %s: no command is sent until it answers, and the fabric stays "
			"as it is",
			etcd_why(s->etcd));
	s->is_away = true;
	etcd_stop(s, "etcd does not answer");
	s->turn_ns = etcd_now_ns() + ETCD_AWAY_NS;
	return -EIO;
}

static int
etcd_get(struct etcd_store *s, json_t *range, json_t **answer)
{
	return etcd_call(s->etcd, "/v3/kv/range", range, answer) == 0 ? 0 : etcd_is_away(s);
}

/* What only the leader does: @puts, if the leader's key is the one that this manager made. */
static int
etcd_as_leader(struct etcd_store *s, json_t *puts)
{
	int rc;

	if (!s->is_leader) {
		json_decref(puts);
		return -EIO;
	}
	rc = etcd_txn(s->etcd,
		json_pack("[o]", etcd_is_made_at(s->etcd, "leader", s->leader_revision)), puts,
		NULL);
	if (rc < 0)
		return etcd_is_away(s);
	if (rc == 0)
		etcd_stop(s, "another manager leads, or the leader's key was removed");
	return rc == 1 ? 0 : -EIO;
}

/* Write a key if it is not there. @return as etcd_txn() */
static int
etcd_make(struct etcd_store *s, const char *key, const char *value, uint64_t lease, int64_t *rev)
{
	const int rc = etcd_txn(s->etcd, json_pack("[o]", etcd_is_made_at(s->etcd, key, 0)),
		json_pack("[o]", etcd_put(s->etcd, key, value, lease)), rev);

	return rc < 0 ? etcd_is_away(s) : rc;
}

/* Value of a key, to be freed; NULL with 0: there is none. */
static int
etcd_value(struct etcd_store *s, const char *key, char **value)
{
	json_t *answer = NULL;
	const int rc = etcd_get(s, etcd_range(s->etcd, key), &answer);

	*value = rc == 0 ? etcd_text(etcd_row(answer), "value") : NULL;
	json_decref(answer);
	return rc;
}

/* --- seats --- */

static bool
etcd_read_uuid(const char *text, uint8_t uuid[16])
{
	unsigned int byte;

	if (text == NULL || strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32)
		return false;
	for (unsigned int i = 0; i < 16; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		uuid[i] = (uint8_t)byte;
	}
	return true;
}

static int
etcd_uuid(struct etcd_store *s, unsigned int seat, uint8_t uuid[16])
{
	char key[16], drawn[33], *text;
	int rc;

	store_draw_uuid(uuid);
	for (unsigned int i = 0; i < 16; i++)
		snprintf(drawn + 2 * i, 3, "%02x", uuid[i]);
	snprintf(key, sizeof(key), "uuid/%u", seat);
	rc = etcd_make(s, key, drawn, 0, NULL);
	if (rc >= 0)
		rc = etcd_value(s, key, &text);
	if (rc < 0)
		return rc;
	if (!etcd_read_uuid(text, uuid))
		cli_fail(
			"store etcd: %s%s: expected a UUID as 32 hexadecimal digits, got \"%.40s\"",
			etcd_prefix(s->etcd), key, text == NULL ? "" : text);
	free(text);
	return 0;
}

/* Say what PID this manager has. */
static int
etcd_put_pid(struct etcd_store *s)
{
	char key[16], text[16];

	snprintf(key, sizeof(key), "pid/%d", s->seat);
	snprintf(text, sizeof(text), "0x%03x", s->id.pid);
	return etcd_txn(s->etcd, json_array(),
		       json_pack("[o]", etcd_put(s->etcd, key, text, s->lease)), NULL) < 0
	               ? etcd_is_away(s)
	               : 0;
}

/* PID of the other manager. Of one that is not there any will do that this one has not. */
static int
etcd_get_peer_pid(struct etcd_store *s)
{
	unsigned int pid;
	char key[16], *text;
	int rc;

	snprintf(key, sizeof(key), "pid/%d", 1 - s->seat);
	rc = etcd_value(s, key, &text);
	if (rc != 0)
		return rc;
	if (text != NULL && (sscanf(text, "0x%3x", &pid) != 1 || pid >= WEFT_FM_NO_PID))
		cli_fail("store etcd: %s%s: expected a PID of 0x000 to 0xffe, got \"%.40s\"",
			etcd_prefix(s->etcd), key, text);
	s->id.peer_pid = text != NULL && pid != s->id.pid     ? (uint16_t)pid
	                 : etcd_pid[1 - s->seat] != s->id.pid ? etcd_pid[1 - s->seat]
	                                                      : etcd_pid[s->seat];
	free(text);
	return 0;
}

/* Schema and identities; the first manager makes them. */
static int
etcd_prepare(struct etcd_store *s)
{
	struct store_identity *id = &s->id;
	const unsigned int seat = (unsigned int)s->seat;
	char *schema;
	int rc = etcd_make(s, "schema", ETCD_SCHEMA, 0, NULL);

	if (rc >= 0)
		rc = etcd_value(s, "schema", &schema);
	if (rc < 0)
		return rc;
	if (schema == NULL || strcmp(schema, ETCD_SCHEMA) != 0)
		cli_fail("store etcd: %sschema: expected " ETCD_SCHEMA
			 ", got \"%.40s\": use the weft-fm that wrote it, or another prefix",
			etcd_prefix(s->etcd), schema == NULL ? "" : schema);
	free(schema);
	*id = (struct store_identity){
		.pid = s->base.cfg.at == NULL ? etcd_pid[seat] : s->base.cfg.pid, .has_peer = true
	};
	rc = etcd_uuid(s, seat, id->uuid);
	if (rc == 0)
		rc = etcd_uuid(s, 1 - seat, id->peer_uuid);
	return rc != 0 ? rc : etcd_put_pid(s);
}

/*
 * Two at one port would have one PID, and components could not tell them apart. The key may be ours
 * already, of a transaction whose answer did not come. @return 1: it is this manager's; 0: not
 */
static int
etcd_take_port(struct etcd_store *s)
{
	json_t *answer = NULL;
	char key[ETCD_KEY], text[160], *who;
	int rc;

	snprintf(key, sizeof(key), "port/%s", s->base.cfg.at);
	rc = etcd_make(s, key, s->us, s->lease, NULL);
	if (rc == 0)
		rc = etcd_get(s, etcd_range(s->etcd, key), &answer);
	else
		return rc;
	who = etcd_text(etcd_row(answer), "value");
	if (rc == 0)
		rc = (uint64_t)etcd_number(etcd_row(answer), "lease") == s->lease;
	snprintf(text, sizeof(text), "%.80s has the port of %.32s: expected another host",
		who == NULL ? "another manager" : who, s->base.cfg.at);
	if (rc == 0)
		etcd_say(s, "waits", text);
	free(who);
	json_decref(answer);
	return rc;
}

static int
etcd_sit(struct etcd_store *s)
{
	char key[16];

	if (s->base.cfg.at != NULL && !s->has_port) {
		const int rc = etcd_take_port(s);

		if (rc <= 0)
			return rc;
		s->has_port = true;
	}
	for (int i = 0; i < ETCD_SEATS; i++) {
		int rc;

		snprintf(key, sizeof(key), "seat/%d", i);
		rc = etcd_make(s, key, s->us, s->lease, NULL);
		if (rc < 0)
			return rc;
		if (rc == 1) {
			s->seat = i;
			return etcd_prepare(s);
		}
	}
	etcd_say(s, "waits", "two managers have the seats: expected at most two of one store");
	return 0;
}

/* --- the lease --- */

static int
etcd_lease(struct etcd_store *s, const char *path, json_t *request, const char *within,
	uint64_t now_ns)
{
	json_t *answer = NULL;
	const json_t *o;
	int64_t ttl;

	if (etcd_call(s->etcd, path, request, &answer) != 0)
		return etcd_is_away(s);
	o = within == NULL ? answer : json_object_get(answer, within);
	ttl = etcd_number(o, "TTL");
	s->lease = ttl > 0 ? (uint64_t)etcd_number(o, "ID") : 0;
	json_decref(answer);
	s->keep_ns = now_ns + (uint64_t)ttl * ETCD_SECOND / 4;
	/* Clocks differ a little, and a command takes its time. */
	s->until_ns = now_ns + (uint64_t)ttl * ETCD_SECOND * 7 / 8;
	return 0;
}

static int
etcd_keep(struct etcd_store *s, uint64_t now_ns)
{
	char id[24];
	int rc;

	snprintf(id, sizeof(id), "%" PRIu64, s->lease);
	if (s->lease != 0 && now_ns >= s->keep_ns) {
		rc = etcd_lease(
			s, "/v3/lease/keepalive", json_pack("{s:s}", "ID", id), "result", now_ns);
		if (rc != 0)
			return rc;
	}
	if (s->lease != 0)
		return 0;
	etcd_stop(s, "the lease is no more");
	s->seat = -1;
	s->has_port = false;
	rc = etcd_lease(s, "/v3/lease/grant",
		json_pack("{s:o}", "TTL", json_sprintf("%u", s->base.cfg.lease_s)), NULL, now_ns);
	return rc;
}

/* --- the lead --- */

/* Number of the last line of the log. */
static int
etcd_read_audit(struct etcd_store *s)
{
	json_t *answer = NULL;
	int rc = etcd_get(s, etcd_range_all(s->etcd, "audit/", 1), &answer);
	char *key = rc == 0 ? etcd_text(etcd_row(answer), "key") : NULL;

	s->audit = key == NULL ? 0 : strtoull(strrchr(key, '/') + 1, NULL, 16);
	free(key);
	json_decref(answer);
	return rc;
}

static int
etcd_lead(struct etcd_store *s, int64_t revision)
{
	const int rc = etcd_read_audit(s);
	char text[100];

	if (rc != 0)
		return rc;
	s->leader_revision = revision;
	s->is_leader = true;
	snprintf(text, sizeof(text), "this manager leads, in seat %d", s->seat);
	etcd_say(s, "leads", text);
	return 0;
}

/* The key may be ours: of a transaction whose answer did not come, or from before etcd was away. */
static int
etcd_campaign(struct etcd_store *s)
{
	json_t *answer = NULL;
	int rc = etcd_get(s, etcd_range(s->etcd, "leader"), &answer);
	const json_t *row = etcd_row(answer);
	const int64_t at = etcd_number(row, "create_revision");
	const bool is_ours = (uint64_t)etcd_number(row, "lease") == s->lease;
	char *who = etcd_text(row, "value"), text[160];
	int64_t revision = 0;

	snprintf(text, sizeof(text), "%.100s leads", who == NULL ? "another manager" : who);
	free(who);
	json_decref(answer);
	if (rc != 0)
		return rc;
	if (row != NULL && is_ours)
		return etcd_lead(s, at);
	if (row != NULL) {
		etcd_say(s, "waits", text);
		return 0;
	}
	rc = etcd_make(s, "leader", s->us, s->lease, &revision);
	return rc == 1 ? etcd_lead(s, revision) : rc;
}

static int
etcd_step(struct etcd_store *s, uint64_t now_ns)
{
	int rc = etcd_keep(s, now_ns);

	if (rc == 0 && s->seat < 0)
		rc = etcd_sit(s);
	if (rc == 0 && s->seat >= 0 && !s->is_leader)
		rc = etcd_campaign(s);
	return rc;
}

static bool
etcd_leads(const struct store *base)
{
	const struct etcd_store *s = (const struct etcd_store *)(const void *)base;

	return s->is_leader && etcd_now_ns() < s->until_ns;
}

static uint64_t
etcd_turn(struct store *base)
{
	struct etcd_store *s = etcd_of(base);
	const uint64_t now_ns = etcd_now_ns();

	if (s->is_leader && now_ns >= s->until_ns)
		etcd_stop(s, "the lease was not kept alive in time");
	if (now_ns >= s->turn_ns && etcd_step(s, now_ns) == 0) {
		if (s->is_away)
			cli_warn("store etcd: it answers again");
		s->is_away = false;
		s->turn_ns = s->is_leader || s->keep_ns < now_ns + ETCD_LOOK_NS
		                     ? s->keep_ns
		                     : now_ns + ETCD_LOOK_NS;
	}
	return s->turn_ns > now_ns ? s->turn_ns - now_ns : 0;
}

static struct store *
etcd_open(const char *where, const struct store_cfg *cfg)
{
	struct etcd_store *s = calloc(1, sizeof(*s));
	char host[65] = "";

	if (s == NULL)
		cli_fail("out of memory");
	s->base = (struct store){ .kind = &store_etcd, .cfg = *cfg };
	s->etcd = etcd_new(where, cfg->lease_s * 1000 / 4);
	if (s->etcd == NULL)
		cli_usage("--store: expected %s, got \"etcd:%s\"", store_etcd.expects, where);
	s->seat = -1;
	(void)gethostname(host, sizeof(host) - 1);
	snprintf(s->us, sizeof(s->us), "process %d at %s", (int)getpid(), host);
	return &s->base;
}

/* The lease goes, and with it the seat and the lead. */
static void
etcd_close(struct store *base)
{
	struct etcd_store *s = etcd_of(base);
	json_t *answer = NULL;

	if (s->lease != 0 && !s->is_away)
		(void)etcd_call(s->etcd, "/v3/lease/revoke",
			json_pack("{s:o}", "ID", json_sprintf("%" PRIu64, s->lease)), &answer);
	json_decref(answer);
	etcd_free(s->etcd);
	free(s);
}

/* --- what is kept --- */

static int
etcd_identity(struct store *base, struct store_identity *id)
{
	struct etcd_store *s = etcd_of(base);
	const int rc = etcd_get_peer_pid(s);

	*id = s->id;
	return rc;
}

static int
etcd_audit(struct store *base, const struct store_change *c)
{
	struct etcd_store *s = etcd_of(base);
	char key[ETCD_KEY], old[ETCD_KEY];
	struct timespec now;
	json_t *line, *puts;
	char *text;
	int rc;

	clock_gettime(CLOCK_REALTIME, &now);
	line = json_pack("{s:I, s:s, s:s, s:s, s:o, s:s}", "at_ns",
		(json_int_t)now.tv_sec * 1000000000 + now.tv_nsec, "who", c->who, "why", c->why,
		"node", c->node, "opcode", json_sprintf("%04X", c->opcode), "what", c->what);
	text = line == NULL ? NULL : json_dumps(line, JSON_COMPACT);
	json_decref(line);
	if (text == NULL)
		return -EIO;
	snprintf(key, sizeof(key), "audit/%016" PRIx64, s->audit + 1);
	puts = json_pack("[o]", etcd_put(s->etcd, key, text, 0));
	free(text);
	if (s->audit >= ETCD_AUDIT) {
		snprintf(old, sizeof(old), "audit/%016" PRIx64, s->audit + 1 - ETCD_AUDIT);
		json_array_append_new(puts, etcd_delete(s->etcd, old));
	}
	rc = etcd_as_leader(s, puts);
	s->audit += rc == 0;
	return rc;
}

static json_t *
etcd_history(struct store *base, unsigned int n)
{
	struct etcd_store *s = etcd_of(base);
	json_t *answer = NULL, *list;
	const json_t *kv;
	size_t i;

	if (etcd_get(s, etcd_range_all(s->etcd, "audit/", n), &answer) != 0)
		return NULL;
	list = json_array();
	json_array_foreach(json_object_get(answer, "kvs"), i, kv)
	{
		char *key = etcd_text(kv, "key"), *value = etcd_text(kv, "value");
		json_t *line = value == NULL ? NULL : json_loads(value, 0, NULL);

		if (json_is_object(line) && key != NULL) {
			json_object_set_new(
				line, "id", json_integer(strtoll(strrchr(key, '/') + 1, NULL, 16)));
			json_array_insert(list, 0, line);
		}
		json_decref(line);
		free(key);
		free(value);
	}
	json_decref(answer);
	return list;
}

static int
etcd_set_drained(struct store *base, const char *node, bool is_drained)
{
	struct etcd_store *s = etcd_of(base);
	char key[ETCD_KEY];

	snprintf(key, sizeof(key), "drained/%s", node);
	return etcd_as_leader(s, json_pack("[o]", is_drained ? etcd_put(s->etcd, key, "1", 0)
							     : etcd_delete(s->etcd, key)));
}

static int
etcd_get_drained(struct store *base, const struct weft_topo *t, struct weft_fm_node *node)
{
	struct etcd_store *s = etcd_of(base);
	json_t *answer = NULL;
	const json_t *kv;
	size_t i;

	if (etcd_get(s, etcd_range_all(s->etcd, "drained/", 0), &answer) != 0)
		return -EIO;
	json_array_foreach(json_object_get(answer, "kvs"), i, kv)
	{
		char *key = etcd_text(kv, "key");
		const int k = key == NULL ? -1 : weft_topo_find(t, strrchr(key, '/') + 1);

		if (k >= 0)
			node[k].is_drained = true;
		free(key);
	}
	json_decref(answer);
	return 0;
}

static json_t *
etcd_pack_memory(const struct weft_topo *t, const struct memory *m)
{
	json_t *extents = json_array(), *hosts = json_array();

	for (unsigned int i = 0; i < m->n_extents; i++)
		json_array_append_new(
			extents, json_pack("{s:s, s:I, s:I}", "gfd", t->node[m->extent[i].gfd].name,
					 "dpa", (json_int_t)m->extent[i].dpa, "size",
					 (json_int_t)m->extent[i].size));
	for (unsigned int i = 0; i < m->n_hosts; i++)
		json_array_append_new(hosts, json_string(t->node[m->host[i]].name));
	return json_pack("{s:s, s:i, s:i, s:o, s:o}", "name", m->name, "group", m->group, "segment",
		m->segment, "extents", extents, "hosts", hosts);
}

static int
etcd_set_memories(struct store *base, const struct weft_topo *t, const struct memories *all)
{
	struct etcd_store *s = etcd_of(base);
	json_t *list = json_array();
	char *text;
	int rc;

	for (unsigned int i = 0; i < all->n; i++)
		json_array_append_new(list, etcd_pack_memory(t, &all->m[i]));
	text = json_array_size(list) == all->n ? json_dumps(list, JSON_COMPACT) : NULL;
	json_decref(list);
	if (text == NULL)
		return -EIO;
	rc = etcd_as_leader(s, json_pack("[o]", etcd_put(s->etcd, "memory", text, 0)));
	free(text);
	return rc;
}

static bool
etcd_unpack_memory(const json_t *o, const struct weft_topo *t, struct memories *all)
{
	const json_t *extents = json_object_get(o, "extents"), *hosts = json_object_get(o, "hosts");
	const json_t *group = json_object_get(o, "group"), *one;
	struct memory *m;
	size_t i;

	if (!json_is_integer(group) || !json_is_array(extents) || !json_is_array(hosts))
		return false;
	m = store_add_memory(all, t, json_string_value(json_object_get(o, "name")),
		json_integer_value(group), json_integer_value(json_object_get(o, "segment")));
	json_array_foreach(extents, i, one)
	{
		store_add_extent(t, m, json_string_value(json_object_get(one, "gfd")),
			json_integer_value(json_object_get(one, "dpa")),
			json_integer_value(json_object_get(one, "size")));
	}
	json_array_foreach(hosts, i, one) store_add_host(t, m, json_string_value(one));
	return true;
}

static int
etcd_get_memories(struct store *base, const struct weft_topo *t, struct memories *all)
{
	struct etcd_store *s = etcd_of(base);
	json_t *answer = NULL, *list;
	const json_t *row, *one;
	bool is_good;
	char *text;
	size_t i;

	if (etcd_get(s, etcd_range(s->etcd, "memory"), &answer) != 0)
		return -EIO;
	row = etcd_row(answer);
	text = etcd_text(row, "value");
	list = text == NULL ? NULL : json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	is_good = row == NULL || json_is_array(list);
	json_array_foreach(list, i, one) is_good = is_good && etcd_unpack_memory(one, t, all);
	free(text);
	json_decref(list);
	json_decref(answer);
	if (!is_good)
		cli_fail("store etcd: %smemory: expected the document that weft-fm wrote: put it "
			 "back before a manager begins, or memory would be given back",
			etcd_prefix(s->etcd));
	return 0;
}

const struct store_kind store_etcd = {
	.scheme = "etcd:",
	.expects = "etcd:http[s]://HOST:PORT[,HOST:PORT...][/PREFIX]",
	.is_shared = true,
	.open = etcd_open,
	.close = etcd_close,
	.turn = etcd_turn,
	.leads = etcd_leads,
	.identity = etcd_identity,
	.audit = etcd_audit,
	.history = etcd_history,
	.set_drained = etcd_set_drained,
	.get_drained = etcd_get_drained,
	.set_memories = etcd_set_memories,
	.get_memories = etcd_get_memories,
};
