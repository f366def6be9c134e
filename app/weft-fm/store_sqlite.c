/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What survives a manager, in SQLite with a write-ahead log: its UUID, by which components know
 * that it is the same one; what operators asked for beside the topology file; and who changed what,
 * and why. A row is there when the call has returned.
 */

#include "store_priv.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "weft_lock.h"

#define SQLITE_VERSION_OF_SCHEMA 2
#define SQLITE_WAIT_MS 2000
#define SQLITE_LOOK_NS UINT64_C(500000000) /* between looks at the file */

struct sqlite_store {
	struct store base;
	sqlite3 *db;
	const char *path; /* NULL: in memory */
	char lock_path[4096];
	int lock;
	struct stat file; /* as it was opened */
	bool is_gone; /* it was removed, or is another */
};

static struct sqlite_store *
sqlite_of(struct store *s)
{
	return (struct sqlite_store *)(void *)s;
}

static const char *
sqlite_name(const struct sqlite_store *s)
{
	return s->path == NULL ? "in memory" : s->path;
}

static void
sqlite_exec(struct sqlite_store *s, const char *sql)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		cli_fail("store %s: %s: is it a store of weft-fm, on a disk with room?",
			sqlite_name(s), sqlite3_errmsg(s->db));
}

/*
 * A statement with text values in order; the caller steps and finalizes it. NULL: the store is
 * damaged; SQLite takes no statement for a misuse, so that to bind does nothing and to step fails.
 */
static sqlite3_stmt *
sqlite_prepare(struct sqlite_store *s, const char *sql, const char *a, const char *b)
{
	sqlite3_stmt *q = NULL;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
		return NULL;
	if (a != NULL)
		sqlite3_bind_text(q, 1, a, -1, SQLITE_TRANSIENT);
	if (b != NULL)
		sqlite3_bind_text(q, 2, b, -1, SQLITE_TRANSIENT);
	return q;
}

/* The manager goes on: @what was not done. */
static int
sqlite_failed(struct sqlite_store *s, const char *what)
{
	cli_warn("store %s: %s: not %s", sqlite_name(s), sqlite3_errmsg(s->db), what);
	snprintf(s->base.why, sizeof(s->base.why), " (%.100s: %.80s)", sqlite_name(s),
		sqlite3_errmsg(s->db));
	return -EIO;
}

static int
sqlite_run(struct sqlite_store *s, sqlite3_stmt *q)
{
	int rc = sqlite3_step(q);

	sqlite3_finalize(q);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : sqlite_failed(s, "written");
}

/* The next row. One that cannot be read is no end: what is not known would be given back. */
static bool
sqlite_next(struct sqlite_store *s, sqlite3_stmt *q)
{
	const int rc = sqlite3_step(q);

	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		cli_fail("store %s: %s: put back a whole copy of it", s->path,
			sqlite3_errmsg(s->db));
	return rc == SQLITE_ROW;
}

/* Nothing is written into what another program keeps there. */
static void
sqlite_check_owner(struct sqlite_store *s)
{
	sqlite3_stmt *q = sqlite_prepare(s,
		"SELECT count(*), count(CASE name WHEN 'meta' THEN 1 END) FROM sqlite_master", NULL,
		NULL);
	const bool is_read = sqlite3_step(q) == SQLITE_ROW;
	const bool is_other =
		is_read && sqlite3_column_int(q, 0) != 0 && sqlite3_column_int(q, 1) == 0;

	sqlite3_finalize(q);
	if (!is_read)
		cli_fail("store %s: %s: expected a store of weft-fm", sqlite_name(s),
			sqlite3_errmsg(s->db));
	if (is_other)
		cli_fail("store %s: expected a store of weft-fm, or a file that is not there yet, "
			 "got another program's database",
			sqlite_name(s));
}

static void
sqlite_check_version(struct sqlite_store *s)
{
	sqlite3_stmt *q = sqlite_prepare(s, "PRAGMA user_version", NULL, NULL);
	const bool is_read = sqlite3_step(q) == SQLITE_ROW;
	const int version = is_read ? sqlite3_column_int(q, 0) : 0;

	sqlite3_finalize(q);
	if (!is_read)
		cli_fail("store %s: %s: expected a store of weft-fm", sqlite_name(s),
			sqlite3_errmsg(s->db));
	if (version < 0 || version > SQLITE_VERSION_OF_SCHEMA)
		cli_fail("store %s: expected schema version %d, got %d: use the weft-fm that wrote "
			 "it",
			sqlite_name(s), SQLITE_VERSION_OF_SCHEMA, version);
	if (version < 1)
		sqlite_exec(s, "BEGIN IMMEDIATE;"
			       "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL);"
			       "CREATE TABLE drained (node TEXT PRIMARY KEY);"
			       "CREATE TABLE audit (id INTEGER PRIMARY KEY, at_ns INTEGER NOT NULL,"
			       " who TEXT NOT NULL, why TEXT NOT NULL, node TEXT NOT NULL,"
			       " opcode INTEGER NOT NULL, what TEXT NOT NULL);"
			       "PRAGMA user_version = 1;"
			       "COMMIT;");
	if (version < 2)
		sqlite_exec(s, "BEGIN IMMEDIATE;"
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

/* A second manager would undo what the first does. */
static void
sqlite_lock(struct sqlite_store *s)
{
	pid_t holder = 0;

	if (snprintf(s->lock_path, sizeof(s->lock_path), "%s-lock", s->path) >=
		(int)sizeof(s->lock_path))
		cli_fail("store %s: %s", s->path, strerror(ENAMETOOLONG));
	s->lock = weft_lock_take(s->lock_path, &holder);
	if (s->lock == -EBUSY)
		cli_fail("store %s: the weft-fm of process %d has it: expected one manager a file "
			 "(with etcd, two take turns)",
			s->path, (int)holder);
	if (s->lock < 0)
		cli_fail("store %s: lock %s: %s", s->path, s->lock_path, strerror(-s->lock));
}

static struct store *
sqlite_open(const char *where, const struct store_cfg *cfg)
{
	struct sqlite_store *s = calloc(1, sizeof(*s));

	if (s == NULL)
		cli_fail("out of memory");
	s->base = (struct store){ .kind = &store_sqlite, .cfg = *cfg };
	s->path = where;
	s->lock = -1;
	umask(077);
	if (where != NULL && stat(where, &s->file) == 0 && !S_ISREG(s->file.st_mode))
		cli_fail("store %s: expected a file, got something else", where);
	/* A name is a file's, "file:x" too, as the lock and stat() take it: no URI. */
	sqlite3_config(SQLITE_CONFIG_URI, 0);
	if (sqlite3_open(where == NULL ? ":memory:" : where, &s->db) != SQLITE_OK)
		cli_fail("store %s: %s", where, sqlite3_errmsg(s->db));
	sqlite3_busy_timeout(s->db, SQLITE_WAIT_MS);
	sqlite_check_owner(s);
	if (where != NULL)
		sqlite_lock(s);
	sqlite_exec(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
	sqlite_check_version(s);
	if (where != NULL && stat(where, &s->file) != 0)
		cli_fail("store %s: %s", where, strerror(errno));
	return &s->base;
}

static void
sqlite_close(struct store *base)
{
	struct sqlite_store *s = sqlite_of(base);

	sqlite3_close(s->db);
	if (s->lock >= 0)
		weft_lock_release(s->lock, s->lock_path);
	free(s);
}

/* What a file without a name is told is lost: said once, and wishes are refused from then on. */
static uint64_t
sqlite_turn(struct store *base)
{
	struct sqlite_store *s = sqlite_of(base);
	struct stat now;

	if (s->path == NULL || s->is_gone)
		return UINT64_MAX;
	if (stat(s->path, &now) != 0 || now.st_dev != s->file.st_dev ||
		now.st_ino != s->file.st_ino) {
		s->is_gone = true;
		snprintf(s->base.why, sizeof(s->base.why), " (%.100s: it was removed or replaced)",
			s->path);
		cli_warn(
			"store %s: it was removed, or replaced by another file: the fabric is kept "
			"as it is wanted now, and operators are refused until weft-fm begins "
			"again",
			s->path);
	}
	return SQLITE_LOOK_NS;
}

static bool
sqlite_leads(const struct store *base)
{
	(void)base;
	return true;
}

static int
sqlite_identity(struct store *base, struct store_identity *id)
{
	struct sqlite_store *s = sqlite_of(base);
	sqlite3_stmt *q;

	*id = (struct store_identity){ .pid = WEFT_FM_PID };
	store_draw_uuid(id->uuid);
	q = sqlite_prepare(
		s, "INSERT OR IGNORE INTO meta (key, value) VALUES ('uuid', ?1)", NULL, NULL);
	sqlite3_bind_blob(q, 1, id->uuid, 16, SQLITE_TRANSIENT);
	if (sqlite_run(s, q) != 0)
		cli_fail("store %s: without a UUID in it, components would not know the manager "
			 "again",
			sqlite_name(s));
	q = sqlite_prepare(s, "SELECT value FROM meta WHERE key = 'uuid'", NULL, NULL);
	if (sqlite3_step(q) != SQLITE_ROW || sqlite3_column_bytes(q, 0) != 16)
		cli_fail("store %s: expected a UUID of 16 bytes in it", sqlite_name(s));
	memcpy(id->uuid, sqlite3_column_blob(q, 0), 16);
	sqlite3_finalize(q);
	return 0;
}

static int
sqlite_audit(struct store *base, const struct store_change *c)
{
	struct sqlite_store *s = sqlite_of(base);
	sqlite3_stmt *q = sqlite_prepare(s,
		"INSERT INTO audit (who, why, node, what, opcode, at_ns)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
		c->who, c->why);
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	sqlite3_bind_text(q, 3, c->node, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(q, 4, c->what, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int(q, 5, c->opcode);
	sqlite3_bind_int64(q, 6, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
	return sqlite_run(s, q);
}

static json_t *
sqlite_history(struct store *base, unsigned int n)
{
	struct sqlite_store *s = sqlite_of(base);
	sqlite3_stmt *q = sqlite_prepare(s,
		"SELECT id, at_ns, who, why, node, opcode, what FROM"
		" (SELECT * FROM audit ORDER BY id DESC LIMIT ?1) ORDER BY id",
		NULL, NULL);
	json_t *list = json_array();
	int rc;

	sqlite3_bind_int64(q, 1, n);
	while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
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
	if (rc == SQLITE_DONE)
		return list;
	(void)sqlite_failed(s, "read");
	json_decref(list);
	return NULL;
}

static int
sqlite_set_drained(struct store *base, const char *node, bool is_drained)
{
	struct sqlite_store *s = sqlite_of(base);

	return s->is_gone
	               ? -EIO
	               : sqlite_run(s, sqlite_prepare(s,
					       is_drained ? "INSERT OR IGNORE INTO drained (node)"
							    " VALUES (?1)"
							  : "DELETE FROM drained WHERE node = ?1",
					       node, NULL));
}

static int
sqlite_get_drained(struct store *base, const struct weft_topo *t, struct weft_fm_node *node)
{
	struct sqlite_store *s = sqlite_of(base);
	sqlite3_stmt *q = sqlite_prepare(s, "SELECT node FROM drained", NULL, NULL);

	while (sqlite_next(s, q)) {
		const char *name = (const char *)sqlite3_column_text(q, 0);
		const int i = name == NULL ? -1 : weft_topo_find(t, name);

		if (i >= 0)
			node[i].is_drained = true;
	}
	sqlite3_finalize(q);
	return 0;
}

static int
sqlite_put_memory(struct sqlite_store *s, const struct weft_topo *t, const struct memory *m)
{
	sqlite3_stmt *q = sqlite_prepare(
		s, "INSERT INTO memory (name, grp, segment) VALUES (?1, ?2, ?3)", m->name, NULL);
	int rc;

	sqlite3_bind_int(q, 2, m->group);
	sqlite3_bind_int(q, 3, m->segment);
	rc = sqlite_run(s, q);
	for (unsigned int i = 0; i < m->n_extents && rc == 0; i++) {
		q = sqlite_prepare(s,
			"INSERT INTO memory_extent (name, gfd, dpa, size) VALUES (?1, ?2, ?3, ?4)",
			m->name, t->node[m->extent[i].gfd].name);
		sqlite3_bind_int64(q, 3, (int64_t)m->extent[i].dpa);
		sqlite3_bind_int64(q, 4, (int64_t)m->extent[i].size);
		rc = sqlite_run(s, q);
	}
	for (unsigned int i = 0; i < m->n_hosts && rc == 0; i++)
		rc = sqlite_run(s, sqlite_prepare(s,
					   "INSERT INTO memory_host (name, host)"
					   " VALUES (?1, ?2)",
					   m->name, t->node[m->host[i]].name));
	return rc;
}

static int
sqlite_set_memories(struct store *base, const struct weft_topo *t, const struct memories *all)
{
	static const char *const before[] = { "BEGIN IMMEDIATE", "DELETE FROM memory",
		"DELETE FROM memory_extent", "DELETE FROM memory_host" };
	struct sqlite_store *s = sqlite_of(base);
	int rc = s->is_gone ? -EIO : 0;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(before) && rc == 0; i++)
		rc = sqlite_run(s, sqlite_prepare(s, before[i], NULL, NULL));
	for (unsigned int i = 0; i < all->n && rc == 0; i++)
		rc = sqlite_put_memory(s, t, &all->m[i]);
	if (rc == 0)
		rc = sqlite_run(s, sqlite_prepare(s, "COMMIT", NULL, NULL));
	if (rc != 0)
		(void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static const char *
sqlite_text(sqlite3_stmt *q, int column)
{
	return (const char *)sqlite3_column_text(q, column);
}

static void
sqlite_fill_memory(struct sqlite_store *s, const struct weft_topo *t, struct memory *m)
{
	sqlite3_stmt *q = sqlite_prepare(s,
		"SELECT gfd, dpa, size FROM memory_extent WHERE name = ?1 ORDER BY id", m->name,
		NULL);

	while (sqlite_next(s, q))
		store_add_extent(t, m, sqlite_text(q, 0), sqlite3_column_int64(q, 1),
			sqlite3_column_int64(q, 2));
	sqlite3_finalize(q);
	q = sqlite_prepare(s, "SELECT host FROM memory_host WHERE name = ?1", m->name, NULL);
	while (sqlite_next(s, q))
		store_add_host(t, m, sqlite_text(q, 0));
	sqlite3_finalize(q);
}

static int
sqlite_get_memories(struct store *base, const struct weft_topo *t, struct memories *all)
{
	struct sqlite_store *s = sqlite_of(base);
	sqlite3_stmt *q =
		sqlite_prepare(s, "SELECT name, grp, segment FROM memory ORDER BY grp", NULL, NULL);

	while (sqlite_next(s, q))
		sqlite_fill_memory(s, t,
			store_add_memory(all, t, sqlite_text(q, 0), sqlite3_column_int64(q, 1),
				sqlite3_column_int64(q, 2)));
	sqlite3_finalize(q);
	return 0;
}

const struct store_kind store_sqlite = {
	.scheme = "sqlite:",
	.expects = "sqlite:PATH",
	.open = sqlite_open,
	.close = sqlite_close,
	.turn = sqlite_turn,
	.leads = sqlite_leads,
	.identity = sqlite_identity,
	.audit = sqlite_audit,
	.history = sqlite_history,
	.set_drained = sqlite_set_drained,
	.get_drained = sqlite_get_drained,
	.set_memories = sqlite_set_memories,
	.get_memories = sqlite_get_memories,
};
