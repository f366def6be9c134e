/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A client of etcd 3.4 by its JSON gateway: one call at a time, and the parts of transactions.
 * Nothing here waits longer than it was told.
 */
#ifndef ETCD_H
#define ETCD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETCD_KEY 192 /* bytes of a key with its 0 */

struct etcd;

/**
 * @param where    http://HOST:PORT[,HOST:PORT...][/PREFIX], or https
 * @param call_ms  longest time of a call to one host
 * @return NULL: @p where makes no sense; or memory is short
 */
struct etcd *etcd_new(const char *where, unsigned int call_ms);
void etcd_free(struct etcd *e);
/* What stands before every key: "weft/" unless said otherwise. */
const char *etcd_prefix(const struct etcd *e);
/* Why the last call failed: one line, printable. */
const char *etcd_why(const struct etcd *e);

/**
 * Call @p path ("/v3/kv/range") of the first host that answers.
 *
 * @param request  becomes the call's; NULL: memory is short
 * @param answer   the caller's to free, with 0
 * @return 0; -EIO: no host answered, or what it said is an error or no JSON
 */
int etcd_call(struct etcd *e, const char *path, json_t *request, json_t **answer);

/* --- parts of requests: @p key is without the prefix --- */

json_t *etcd_put(const struct etcd *e, const char *key, const char *value, uint64_t lease);
json_t *etcd_delete(const struct etcd *e, const char *key);
/* Compare: the key was made at this revision; 0: it is not there. */
json_t *etcd_is_made_at(const struct etcd *e, const char *key, int64_t revision);
/* A whole request for /v3/kv/range: one key. */
json_t *etcd_range(const struct etcd *e, const char *key);
/* All keys that begin so; the last of them first where @p last is not 0: at most so many. */
json_t *etcd_range_all(const struct etcd *e, const char *begin, unsigned int last);

/**
 * A transaction: @p puts if all of @p compare hold.
 *
 * @param revision  of the store after it; may be NULL
 * @return 1: done; 0: one did not hold; -EIO: not known
 */
int etcd_txn(struct etcd *e, json_t *compare, json_t *puts, int64_t *revision);

/* --- parts of answers --- */

/* Number of a member, which the gateway writes as a string; 0 if it is not there. */
int64_t etcd_number(const json_t *object, const char *member);
/* Text of "key" or "value", to be freed; NULL: not there, or holds a 0 byte. */
char *etcd_text(const json_t *kv, const char *member);
/* The only row of a range, or NULL. */
const json_t *etcd_row(const json_t *answer);

#endif /* ETCD_H */
