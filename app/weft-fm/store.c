/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What survives a manager, in SQLite with a write-ahead log: its UUID, by which components know
 * that it is the same one; what operators asked for beside the topology file; and who changed what,
 * and why. A row is there when the call has returned.
 */

#include <errno.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "cli.h"
#include "manager.h"

#define STORE_VERSION 2
#define STORE_WAIT_MS 2000

struct store {
	sqlite3 *db;
};

static void
store_exec(struct store *s, const char *sql)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		cli_fail("store: %s: is it a store of weft-fm, on a disk with room?",
			sqlite3_errmsg(s->db));
}

/* A statement with text values in order; the caller steps and finalizes it. */
static sqlite3_stmt *
store_prepare(struct store *s, const char *sql, const char *a, const char *b)
{
	sqlite3_stmt *q = NULL;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
		cli_fail("store: %s", sqlite3_errmsg(s->db));
	if (a != NULL)
		sqlite3_bind_text(q, 1, a, -1, SQLITE_TRANSIENT);
	if (b != NULL)
		sqlite3_bind_text(q, 2, b, -1, SQLITE_TRANSIENT);
	return q;
}

static int
store_run(struct store *s, sqlite3_stmt *q)
{
	int rc = sqlite3_step(q);

	sqlite3_finalize(q);
	if (rc == SQLITE_DONE || rc == SQLITE_ROW)
		return 0;
	cli_warn("store: %s: not written", sqlite3_errmsg(s->db));
	return -EIO;
}

static void
store_check_version(struct store *s)
{
	sqlite3_stmt *q = store_prepare(s, "PRAGMA user_version", NULL, NULL);
	const int version = sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int(q, 0) : -1;

	sqlite3_finalize(q);
	if (version < 0)
		cli_fail("store: %s: expected a store of weft-fm", sqlite3_errmsg(s->db));
	if (version > STORE_VERSION)
		cli_fail("store: expected schema version %d, got %d: use the weft-fm that wrote it",
			STORE_VERSION, version);
	if (version < 1)
		store_exec(s, "BEGIN IMMEDIATE;"
			      "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL);"
			      "CREATE TABLE drained (node TEXT PRIMARY KEY);"
			      "CREATE TABLE audit (id INTEGER PRIMARY KEY, at_ns INTEGER NOT NULL,"
			      " who TEXT NOT NULL, why TEXT NOT NULL, node TEXT NOT NULL,"
			      " opcode INTEGER NOT NULL, what TEXT NOT NULL);"
			      "PRAGMA user_version = 1;"
			      "COMMIT;");
	if (version < 2)
		store_exec(s, "BEGIN IMMEDIATE;"
			      "CREATE TABLE memory (name TEXT PRIMARY KEY,"
			      " grp INTEGER NOT NULL UNIQUE, segment INTEGER NOT NULL);"
			      "CREATE TABLE memory_extent (id INTEGER PRIMARY KEY,"
			      " name TEXT NOT NULL, gfd TEXT NOT NULL, dpa INTEGER NOT NULL,"
			      " size INTEGER NOT NULL);"
			      "CREATE TABLE memory_host (name TEXT NOT NULL, host TEXT NOT NULL,"
			      " PRIMARY KEY (name, host));"
			      "PRAGMA user_version = 2;"
			      "COMMIT;");
}

struct store *
store_open(const char *url)
{
	static const char kind[] = "sqlite:";
	const char *path = ":memory:";
	struct store *s = calloc(1, sizeof(*s));

	if (s == NULL)
		cli_fail("out of memory");
	if (url != NULL) {
		if (strncmp(url, kind, sizeof(kind) - 1) != 0 || url[sizeof(kind) - 1] == '\0')
			cli_usage("--store: expected sqlite:PATH, got \"%s\"", url);
		path = url + sizeof(kind) - 1;
	}
	umask(077);
	if (sqlite3_open(path, &s->db) != SQLITE_OK)
		cli_fail("store %s: %s", path, sqlite3_errmsg(s->db));
	sqlite3_busy_timeout(s->db, STORE_WAIT_MS);
	store_exec(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
	store_check_version(s);
	return s;
}

void
store_close(struct store *s)
{
	if (s == NULL)
		return;
	sqlite3_close(s->db);
	free(s);
}

void
store_uuid(struct store *s, uint8_t uuid[16])
{
	sqlite3_stmt *q;

	if (getrandom(uuid, 16, 0) != 16)
		cli_fail("no random numbers for a UUID");
	/* RFC 4122, version 4. */
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
	q = store_prepare(
		s, "INSERT OR IGNORE INTO meta (key, value) VALUES ('uuid', ?1)", NULL, NULL);
	sqlite3_bind_blob(q, 1, uuid, 16, SQLITE_TRANSIENT);
	if (store_run(s, q) != 0)
		cli_fail(
			"store: without a UUID in it, components would not know the manager again");
	q = store_prepare(s, "SELECT value FROM meta WHERE key = 'uuid'", NULL, NULL);
	if (sqlite3_step(q) != SQLITE_ROW || sqlite3_column_bytes(q, 0) != 16)
		cli_fail("store: expected a UUID of 16 bytes in it");
	memcpy(uuid, sqlite3_column_blob(q, 0), 16);
	sqlite3_finalize(q);
}

void
store_audit(struct store *s, const char *who, const char *why, const char *node, uint16_t opcode,
	const char *what)
{
	sqlite3_stmt *q = store_prepare(s,
		"INSERT INTO audit (who, why, node, what, opcode, at_ns)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
		who, why);
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	sqlite3_bind_text(q, 3, node, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(q, 4, what, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int(q, 5, opcode);
	sqlite3_bind_int64(q, 6, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
	(void)store_run(s, q);
}

json_t *
store_history(struct store *s, unsigned int n)
{
	sqlite3_stmt *q = store_prepare(s,
		"SELECT id, at_ns, who, why, node, opcode, what FROM"
		" (SELECT * FROM audit ORDER BY id DESC LIMIT ?1) ORDER BY id",
		NULL, NULL);
	json_t *list = json_array();

	sqlite3_bind_int64(q, 1, n);
	while (sqlite3_step(q) == SQLITE_ROW) {
		char opcode[8];

		snprintf(opcode, sizeof(opcode), "%04X",
			(unsigned int)sqlite3_column_int(q, 5) & 0xffff);
		json_array_append_new(
			list, json_pack("{s:I, s:I, s:s, s:s, s:s, s:s, s:s}", "id",
				      (json_int_t)sqlite3_column_int64(q, 0), "at_ns",
				      (json_int_t)sqlite3_column_int64(q, 1), "who",
				      (const char *)sqlite3_column_text(q, 2), "why",
				      (const char *)sqlite3_column_text(q, 3), "node",
				      (const char *)sqlite3_column_text(q, 4), "opcode", opcode,
				      "what", (const char *)sqlite3_column_text(q, 6)));
	}
	sqlite3_finalize(q);
	return list;
}

int
store_set_drained(struct store *s, const char *node, bool is_drained)
{
	return store_run(s, store_prepare(s,
				    is_drained ? "INSERT OR IGNORE INTO drained (node) VALUES (?1)"
					       : "DELETE FROM drained WHERE node = ?1",
				    node, NULL));
}

bool
store_is_drained(struct store *s, const char *node)
{
	sqlite3_stmt *q = store_prepare(s, "SELECT 1 FROM drained WHERE node = ?1", node, NULL);
	const bool is_there = sqlite3_step(q) == SQLITE_ROW;

	sqlite3_finalize(q);
	return is_there;
}

static int
store_put_memory(struct store *s, const struct weft_topo *t, const struct memory *m)
{
	sqlite3_stmt *q = store_prepare(
		s, "INSERT INTO memory (name, grp, segment) VALUES (?1, ?2, ?3)", m->name, NULL);
	int rc;

	sqlite3_bind_int(q, 2, m->group);
	sqlite3_bind_int(q, 3, m->segment);
	rc = store_run(s, q);
	for (unsigned int i = 0; i < m->n_extents && rc == 0; i++) {
		q = store_prepare(s,
			"INSERT INTO memory_extent (name, gfd, dpa, size) VALUES (?1, ?2, ?3, ?4)",
			m->name, t->node[m->extent[i].gfd].name);
		sqlite3_bind_int64(q, 3, (int64_t)m->extent[i].dpa);
		sqlite3_bind_int64(q, 4, (int64_t)m->extent[i].size);
		rc = store_run(s, q);
	}
	for (unsigned int i = 0; i < m->n_hosts && rc == 0; i++)
		rc = store_run(s, store_prepare(s,
					  "INSERT INTO memory_host (name, host)"
					  " VALUES (?1, ?2)",
					  m->name, t->node[m->host[i]].name));
	return rc;
}

int
store_set_memories(struct store *s, const struct weft_topo *t, const struct memories *all)
{
	static const char *const before[] = { "BEGIN IMMEDIATE", "DELETE FROM memory",
		"DELETE FROM memory_extent", "DELETE FROM memory_host" };
	int rc = 0;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(before) && rc == 0; i++)
		rc = store_run(s, store_prepare(s, before[i], NULL, NULL));
	for (unsigned int i = 0; i < all->n && rc == 0; i++)
		rc = store_put_memory(s, t, &all->m[i]);
	if (rc == 0)
		rc = store_run(s, store_prepare(s, "COMMIT", NULL, NULL));
	if (rc != 0)
		(void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/* Node of a name in a row, of the kind that it must be; or -1. */
static int
store_node(const struct weft_topo *t, sqlite3_stmt *q, int column, unsigned int kind)
{
	const char *name = (const char *)sqlite3_column_text(q, column);
	const int node = name == NULL ? -1 : weft_topo_find(t, name);

	return node < 0 || t->node[node].kind != kind ? -1 : node;
}

/* Extents and hosts of a memory, as far as the fabric has room for them. */
static bool
store_fill_memory(struct store *s, const struct weft_topo *t, struct memory *m)
{
	sqlite3_stmt *q = store_prepare(s,
		"SELECT gfd, dpa, size FROM memory_extent WHERE name = ?1 ORDER BY id", m->name,
		NULL);
	bool is_good = m->group >= t->access.n_groups && m->group < WEFT_TOPO_FM_GROUPS &&
	               m->segment < t->map.n_segments;

	while (sqlite3_step(q) == SQLITE_ROW) {
		const int gfd = store_node(t, q, 0, WEFT_TOPO_GFD);
		const struct memory_extent e = { .gfd = (uint16_t)gfd,
			.dpa = (uint64_t)sqlite3_column_int64(q, 1),
			.size = (uint64_t)sqlite3_column_int64(q, 2) };

		is_good = is_good && gfd >= 0 && m->n_extents < MEMORY_EXTENTS && e.size != 0 &&
		          ((e.dpa | e.size) & (WEFT_TOPO_BLOCK - 1)) == 0 &&
		          e.size <= t->node[gfd].memory && e.dpa <= t->node[gfd].memory - e.size;
		if (is_good)
			m->extent[m->n_extents++] = e;
	}
	sqlite3_finalize(q);
	q = store_prepare(s, "SELECT host FROM memory_host WHERE name = ?1", m->name, NULL);
	while (sqlite3_step(q) == SQLITE_ROW) {
		const int host = store_node(t, q, 0, WEFT_TOPO_HOST);

		if (host < 0 || m->n_hosts == MEMORY_HOSTS)
			is_good = false;
		else
			m->host[m->n_hosts++] = (uint16_t)host;
	}
	sqlite3_finalize(q);
	return is_good && m->n_extents != 0;
}

void
store_get_memories(struct store *s, const struct weft_topo *t, struct memories *all)
{
	sqlite3_stmt *q =
		store_prepare(s, "SELECT name, grp, segment FROM memory ORDER BY grp", NULL, NULL);

	all->n = 0;
	while (sqlite3_step(q) == SQLITE_ROW && all->n < MEMORY_MAX) {
		struct memory *m = &all->m[all->n];

		*m = (struct memory){ .group = (uint8_t)sqlite3_column_int(q, 1),
			.segment = (uint16_t)sqlite3_column_int(q, 2) };
		snprintf(m->name, sizeof(m->name), "%s", (const char *)sqlite3_column_text(q, 0));
		if (!store_fill_memory(s, t, m))
			cli_fail("store: memory %s: expected its GFDs and hosts in the topology "
				 "file, and room for its group: use the file that it was made by, "
				 "or release it by that first",
				m->name);
		all->n++;
	}
	sqlite3_finalize(q);
}
