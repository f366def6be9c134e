/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What operators ask of memory (doc/fm.md): create, grow, share and release. The store has it
 * before the first command is sent; a plan changes nothing.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "manager.h"

#define MEM_WAYS_MAX 256

/* In the making: desired memory as it would be. */
struct mem_change {
	struct manager *m;
	const json_t *request;
	struct memories *next;
	struct memory *of; /* the memory that it is about */
	char name[MANAGER_NAME]; /* its */
	char err[256];
};

/* Hosts of a request, by name. @return how many; -1 with a line */
static int
mem_hosts(struct mem_change *c, uint16_t host[MEMORY_HOSTS])
{
	const json_t *list = json_object_get(c->request, "hosts");
	const json_t *one;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) == 0 ||
		json_array_size(list) > MEMORY_HOSTS) {
		snprintf(c->err, sizeof(c->err),
			"hosts: expected the names of 1 to %u hosts, got %zu", MEMORY_HOSTS,
			json_array_size(list));
		return -1;
	}
	json_array_foreach(list, i, one)
	{
		const char *name = json_string_value(one);
		const int node = name == NULL ? -1 : weft_topo_find(c->m->topo, name);

		if (node < 0 || c->m->topo->node[node].kind != WEFT_TOPO_HOST) {
			snprintf(c->err, sizeof(c->err),
				"hosts: expected names of hosts of the fabric, got \"%.64s\"",
				name == NULL ? "" : name);
			return -1;
		}
		host[i] = (uint16_t)node;
	}
	return (int)json_array_size(list);
}

static int
mem_size(struct mem_change *c, uint64_t *size)
{
	const json_t *asked = json_object_get(c->request, "size");
	const json_int_t n = json_integer_value(asked);

	*size = (uint64_t)n;
	return n > 0 ? 0
	             : weft_errorf(c->err, sizeof(c->err), -EINVAL,
			       "size: expected bytes, in whole blocks of 4 KiB, got %s",
			       json_is_integer(asked) ? "0 or less" : "no integer");
}

static int
mem_create(struct mem_change *c)
{
	const char *gfd = json_string_value(json_object_get(c->request, "gfd"));
	const char *name = json_string_value(json_object_get(c->request, "name"));
	const json_t *ways = json_object_get(c->request, "interleave");
	const int node = gfd == NULL ? -1 : weft_topo_find(c->m->topo, gfd);
	struct memory_wish w = { .ways = 1 };
	int n, rc = mem_size(c, &w.size);

	if (rc != 0)
		return rc;
	if (node < 0 || c->m->topo->node[node].kind != WEFT_TOPO_GFD)
		return weft_errorf(c->err, sizeof(c->err), -EINVAL,
			"gfd: expected the name of a GFD of the fabric, got \"%.64s\"",
			gfd == NULL ? "" : gfd);
	if (ways != NULL && (!json_is_integer(ways) || json_integer_value(ways) < 1 ||
				    json_integer_value(ways) > MEM_WAYS_MAX))
		return weft_errorf(c->err, sizeof(c->err), -EINVAL,
			"interleave: expected a number of 1 to %d, got another", MEM_WAYS_MAX);
	if (name != NULL && (!memory_is_name(name) || name[0] == '~'))
		return weft_errorf(c->err, sizeof(c->err), -EINVAL,
			"name: expected 1 to %zu bytes of printable characters without blanks, the "
			"first no ~, got \"%.64s\"",
			sizeof(w.name) - 1, name);
	n = mem_hosts(c, w.host);
	if (n < 0)
		return -EINVAL;
	w.n_hosts = (unsigned int)n;
	w.gfd = (uint16_t)node;
	w.ways = ways == NULL ? 1 : (unsigned int)json_integer_value(ways);
	snprintf(w.name, sizeof(w.name), "%s", name == NULL ? "" : name);
	rc = memory_create(c->next, c->m->topo, &w, c->err, sizeof(c->err));
	if (rc == 0)
		c->of = &c->next->m[c->next->n - 1];
	return rc;
}

static int
mem_grow(struct mem_change *c)
{
	uint64_t size;
	const int rc = mem_size(c, &size);

	return rc != 0 ? rc : memory_grow(c->next, c->of, c->m->topo, size, c->err, sizeof(c->err));
}

static int
mem_share(struct mem_change *c)
{
	uint16_t host[MEMORY_HOSTS];
	const int n = mem_hosts(c, host);

	return n < 0 ? -EINVAL
	             : memory_share(c->next, c->of, c->m->topo, host, (unsigned int)n, c->err,
			       sizeof(c->err));
}

static int
mem_release(struct mem_change *c)
{
	memory_release(c->of);
	c->of = NULL;
	return 0;
}

static const struct {
	const char *op;
	bool is_new; /* else it names a memory that there is */
	int (*run)(struct mem_change *c);
} mem_ops[] = {
	{ "create", true, mem_create },
	{ "grow", false, mem_grow },
	{ "share", false, mem_share },
	{ "release", false, mem_release },
};

/* Only which commands it would take. */
static json_t *
mem_plan(struct mem_change *c)
{
	json_t *answer;

	intent_set_memory(&c->m->intent, c->next);
	answer = operate_plan(c->m);
	intent_set_memory(&c->m->intent, &c->m->memories);
	return answer;
}

static json_t *
mem_do(struct mem_change *c, unsigned int uid, const char *op)
{
	char who[32], why[160], what[64];
	json_t *answer;

	if (store_set_memories(c->m->store, c->m->topo, c->next) != 0) {
		snprintf(c->err, sizeof(c->err), "mem %s: the store did not say that it has it%s",
			op, store_why(c->m->store));
		return operate_refuse(
			"%s: see what show memory says before it is asked for again", c->err);
	}
	snprintf(who, sizeof(who), "uid %u", uid);
	snprintf(what, sizeof(what), "mem %s", op);
	snprintf(why, sizeof(why), "%s: %s %s", who, what, c->name);
	(void)store_audit(c->m->store,
		&(struct store_change){ who, what, c->name, 0, "asked by an operator" });
	c->m->memories = *c->next;
	intent_set_memory(&c->m->intent, &c->m->memories);
	weft_fm_set_intent(c->m->fm, &c->m->intent.want, why);
	answer = c->of == NULL ? json_pack("{s:s, s:s}", "name", c->name, "state", "released")
	                       : memory_json(c->m, c->of);
	return operate_result(answer);
}

json_t *
operate_mem(struct manager *m, unsigned int uid, const json_t *request)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	const char *name = json_string_value(json_object_get(request, "name"));
	struct mem_change c = { .m = m, .request = request };
	unsigned int i = 0;
	json_t *answer;
	int rc = 0;

	while (i < WEFT_ARRAY_SIZE(mem_ops) && (op == NULL || strcmp(mem_ops[i].op, op) != 0))
		i++;
	if (i == WEFT_ARRAY_SIZE(mem_ops))
		return operate_refuse("op: expected create, grow, share or release, got \"%s\"",
			op == NULL ? "" : op);
	if (m->topo->access.management != WEFT_TOPO_MANAGED_BY_FM)
		return operate_refuse("mem %s: expected a topology with management: fm; by this "
				      "one, memory is the file's to give",
			op);
	c.next = malloc(sizeof(*c.next));
	if (c.next == NULL)
		return operate_refuse("mem %s: out of memory", op);
	*c.next = m->memories;
	memory_forget(m, c.next);
	if (!mem_ops[i].is_new) {
		c.of = name == NULL ? NULL : memory_find(c.next, name);
		rc = c.of != NULL ? 0
		                  : weft_errorf(c.err, sizeof(c.err), -ENOENT,
					    "name: expected a memory of show memory, got \"%.64s\"",
					    name == NULL ? "" : name);
	}
	if (rc == 0) {
		snprintf(c.name, sizeof(c.name), "%s", name == NULL ? "" : name);
		rc = mem_ops[i].run(&c);
	}
	if (rc == 0 && c.of != NULL)
		snprintf(c.name, sizeof(c.name), "%s", c.of->name);
	answer = rc != 0                                          ? operate_refuse("%s", c.err)
	         : json_is_true(json_object_get(request, "plan")) ? mem_plan(&c)
	                                                          : mem_do(&c, uid, op);
	free(c.next);
	return answer;
}
