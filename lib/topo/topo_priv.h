/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Inside lib/topo. Loading has four steps, one file each: tree.c turns YAML into values that know
 * their line, decode.c (with value.c for single values) turns values into the structs below by the
 * rows of keys.def, check.c compares what the keys say with each other, graph.c joins nodes, links
 * and ports. Only then does the caller get the topology.
 */
#ifndef TOPO_PRIV_H
#define TOPO_PRIV_H

#include "weft_impair.h"
#include "weft_topo.h"

#define TOPO_DEPTH 8
#define TOPO_CPU_MAX 1023 /* of lcores */
#define TOPO_NUMA_MAX 63

struct topo_load;

enum topo_value_kind { TOPO_SCALAR, TOPO_LIST, TOPO_MAP };

/* A YAML value. Children form a list by index; index 0 is the root, so 0 also says "none". */
struct topo_value {
	enum topo_value_kind kind;
	bool quoted;
	unsigned int line;
	char *key; /* in a mapping, else NULL */
	unsigned int key_line;
	char *text; /* of a scalar, else NULL */
	unsigned int first;
	unsigned int next;
	unsigned int count;
};

struct topo_tree {
	struct topo_value *value;
	unsigned int n;
	unsigned int room;
};

/* Bits of topo_key.flags; from the lowest of TOPO_IN() on: kinds that have the key, none: all. */
enum { REQUIRED = 1 << 0, MAY_CHANGE = 1 << 1 };
#define TOPO_IN(kind) (1u << (8 + (kind)))
#define POWER_OF_2 0 /* topo_key.step */

/*
 * Keys of each mapping. The mapping's array of lines has at [key] that of the key's value, 0 where
 * the file does not give it, and at [0] its own.
 */
enum {
#define SECTION(s, type) s##_SELF = 0,
#define KEY(s, id, ...) s##_##id,
#define END(s) s##_KEYS,
#include "keys.def"
#undef SECTION
#undef KEY
#undef END
};

enum topo_section_id {
#define SECTION(s, type) SECTION_##s,
#define KEY(s, id, ...)
#define END(s)
#include "keys.def"
#undef SECTION
#undef KEY
#undef END
	TOPO_SECTIONS
};

struct topo_key;
struct topo_section;
typedef int topo_read_fn(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base);

/* A row of keys.def. */
struct topo_key {
	const char *name;
	topo_read_fn *read;
	size_t offset; /* of the result in the struct */
	size_t width; /* and its bytes; 0 for a mapping */
	uint64_t min, max; /* number: range; text: length; list: items; word: the last, 0: all */
	uint64_t step; /* number: a multiple of it, or POWER_OF_2 */
	const char *const *words; /* word: choices, NULL-ended; the index is stored as uint8_t */
	const char *allowed; /* text: characters, or NULL for everything but control characters */
	const struct topo_section *section; /* of a mapping or of the items of a list */
	unsigned int flags;
	const char *usual, *form, *help;
};

/* A mapping of the file. */
struct topo_section {
	const char *name; /* heading of its table in doc/topology.md */
	const struct topo_key *key; /* [1 .. n - 1] */
	unsigned int n;
	size_t line_of; /* offset of the array */
	const char *const *kinds; /* NULL, or what topo_key.flags may tell apart */
	size_t kind; /* offset of which one it is */
	/*
	 * Of items of lists: their size, and from struct topo_load on their array and its length.
	 */
	size_t size, items, count;
	const struct topo_section *const *of_kind; /* NULL, or which keys an item of a kind has */
	unsigned int most; /* of all lists together */
};
extern const struct topo_section topo_section[TOPO_SECTIONS];

/* Items that one list gave: of the array of its section. */
struct topo_items {
	unsigned int first, n;
};

enum { TOPO_ROLE_AUTO, TOPO_ROLE_USP, TOPO_ROLE_DSP, TOPO_ROLE_FPORT };

struct topo_node_src {
	struct weft_topo_node out;
	struct topo_items windows, translations, clients;
	unsigned int access; /* these: value of a list of names */
	unsigned int vtv;
	unsigned int lav;
	char agent[WEFT_TOPO_NAME_ROOM];
	unsigned int line_of[NODE_KEYS];
	unsigned int ats_at[ATS_KEYS];
};

struct topo_window_src {
	struct weft_topo_window out;
	unsigned int nodes; /* value of a list of names */
	unsigned int line_of[WINDOW_KEYS];
};

struct topo_client_src {
	struct weft_topo_client out;
	uint32_t uid, gid;
	char user[WEFT_TOPO_USER_ROOM];
	char group[WEFT_TOPO_USER_ROOM];
	unsigned int regions; /* value of a list of names */
	unsigned int line_of[CLIENT_KEYS];
};

struct topo_translation_src {
	struct weft_topo_translation out;
	char host[WEFT_TOPO_NAME_ROOM];
	uint64_t page;
	unsigned int line_of[TRANSLATION_KEYS];
};

struct topo_end_src {
	char pci[16];
	char netif[16];
	char vdev[WEFT_TOPO_DEVICE_ROOM];
	char socket[WEFT_TOPO_SOCKET_ROOM];
	uint8_t driver;
	uint8_t role; /* TOPO_ROLE_ */
	uint16_t mtu;
	struct weft_impair_cfg wire;
	uint16_t node; /* set by topo_join() */
	unsigned int line_of[PORT_KEYS];
};

struct topo_link_src {
	char name[2][WEFT_TOPO_NAME_ROOM];
	uint8_t driver;
	uint8_t form; /* enum weft_form */
	struct weft_impair_cfg wire;
	struct topo_end_src end[2];
	unsigned int line_of[LINK_KEYS];
};

struct topo_segment_src {
	char name[WEFT_TOPO_NAME_ROOM]; /* target or gim */
	uint16_t ways;
	uint64_t granularity;
	unsigned int targets; /* value of a list of names */
	uint64_t size;
	unsigned int line_of[SEGMENT_KEYS];
	unsigned int interleave_at[INTERLEAVE_KEYS];
};

struct topo_range_src {
	struct weft_topo_range out;
	char gfd[WEFT_TOPO_NAME_ROOM];
	unsigned int line_of[RANGE_KEYS];
};

struct topo_group_src {
	struct weft_topo_group out;
	struct topo_items ranges;
	unsigned int line_of[GROUP_KEYS];
};

struct topo_region_src {
	struct weft_topo_region out;
	char gfd[WEFT_TOPO_NAME_ROOM];
	uint16_t segment;
	uint64_t offset; /* in the memory of the GFD, or in the segment */
	unsigned int line_of[REGION_KEYS];
};

struct topo_binding_src {
	char host[WEFT_TOPO_NAME_ROOM];
	char device[WEFT_TOPO_NAME_ROOM];
	uint16_t pid;
	unsigned int line_of[BINDING_KEYS];
};

/* Items of the lists that nodes have. */
struct topo_of_node {
	struct topo_window_src *window;
	struct topo_translation_src *translation;
	struct topo_client_src *client;
};

/* One load, from the first byte to the finished topology or the error. */
struct topo_load {
	const char *file;
	struct weft_topo_error *err;
	bool (*is_stopped)(void); /* whoever waits for a pipe is to give up; NULL: never */
	weft_topo_finding_fn on_error; /* NULL: the first error ends the load */
	void *arg;
	const char *holds; /* what the file is to hold; NULL: a topology */
	bool goes_on; /* in this step one finding does not end it */
	unsigned int n_fails; /* topo_fail() so far */
	unsigned int n_findings; /* told of */
	unsigned int last_line; /* of a finding */
	char where[96]; /* path of the value being looked at, ".nodes[2].pid" */
	struct topo_tree tree;
	struct weft_topo t; /* given away at the end */
	struct topo_node_src *node;
	struct topo_link_src *link;
	struct topo_segment_src *segment; /* those of the file, as the groups */
	struct topo_group_src *group;
	struct topo_range_src *range; /* by group */
	struct topo_binding_src *binding;
	struct topo_region_src *region;
	struct topo_of_node of_node; /* by node */
	unsigned int n[TOPO_SECTIONS]; /* items of these, by section */
	struct topo_items all; /* what the lists at the top gave: all of theirs */
	uint64_t segment_size;
	uint16_t mtu; /* defaults.mtu */
	uint8_t link_form; /* defaults.link_form: enum weft_form */
	unsigned int line_of[ROOT_KEYS];
	unsigned int defaults_at[DEFAULTS_KEYS];
	unsigned int retry_at[RETRY_KEYS];
	unsigned int ide_at[IDE_KEYS];
};

/*
 * topo.c: fill the error as "file:line: where: <fmt>"; returns @err, so a caller can return it.
 * Where all findings are wanted it may count one and return 0: the caller returns that as well, and
 * who builds on its success looks whether l->n_fails grew.
 */
int topo_fail(struct topo_load *l, int err, unsigned int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Say where the next error is; replaces the path. */
void topo_where(struct topo_load *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Write the one-line error text of @e, unprintable bytes replaced. */
void topo_error_text(
	struct weft_topo_error *e, const char *prefix, const char *where, const char *message);

/* topo.c: the whole of file l->file in @buf, the caller's to free, or the error in @l. */
int topo_read_file(struct topo_load *l, char **buf, size_t *len);
/* tree.c: parse @len bytes into l->tree. */
int topo_tree_build(struct topo_load *l, const char *yaml, size_t len);
void topo_tree_free(struct topo_tree *tree);

/* Add a word to a list in an error, or as much of it as has room. */
void topo_add_word(char *list, size_t room, const char *between, const char *word);
int topo_bad(struct topo_load *l, const struct topo_value *v, const char *what,
	const char *expected, ...) __attribute__((format(printf, 4, 5)));

/*
 * Readers of one value into the struct @base of the key's mapping. In value.c; a list of names is
 * stored as the number of its value, and empty if the key's min is 0.
 */
topo_read_fn topo_read_number, topo_read_share, topo_read_size, topo_read_word, topo_read_text;
topo_read_fn topo_read_names, topo_read_pci, topo_read_lcores, topo_read_at, topo_read_numa;
/* wire.c: a mapping of the keys of weft_impair.h, checked as a whole. */
topo_read_fn topo_read_wire;
/*
 * decode.c: a mapping, and a list of mappings, that have rows of their own; what moved to another
 * place, which is refused.
 */
topo_read_fn topo_read_map, topo_read_list, topo_read_moved;
/* wire.c: as "seed=...,key=value", with what is not the default. */
void topo_wire_text(const struct weft_impair_cfg *cfg, char text[WEFT_TOPO_WIRE_ROOM]);

/* decode.c: what a key is where the file does not give it, and those that it gives. */
void topo_set_defaults(struct topo_load *l, const struct topo_section *s, void *base);
int topo_decode_map(
	struct topo_load *l, const struct topo_value *v, const struct topo_section *s, void *base);

/* change.c: fill @err as "file: where: <fmt>"; returns -EINVAL. */
int topo_refuse(struct weft_topo_error *err, const char *file, const char *where, const char *fmt,
	...) __attribute__((format(printf, 4, 5)));
/* What the rows of a section describe, of two of them: the part of their struct that is kept. */
struct topo_kept {
	size_t offset, len;
	const void *now, *next;
};
/* change.c: -EINVAL if a value of two differs that may not change. */
int topo_compare(struct weft_topo_error *err, const char *file, const char *where, const char *path,
	const struct topo_section *s, const struct topo_kept *kept);
/* change.c: whether both have segment @s, and alike. */
bool topo_same_segment(const struct weft_topo *a, const struct weft_topo *b, unsigned int s);

/* Line of a key, or of the mapping that does not give it. */
static inline unsigned int
topo_line(const unsigned int *line_of, unsigned int key)
{
	return line_of[key] != 0 ? line_of[key] : line_of[0];
}

/* decode.c: l->tree into the structs of l and the plain fields of l->t. */
int topo_decode(struct topo_load *l);
/* Words of the enums, NULL-ended. */
extern const char *const topo_driver_words[];
extern const char *const topo_rights_words[];
extern const char *const topo_client_words[];

/* check.c: what one node says, and what nodes say together. */
int topo_check_nodes(struct topo_load *l);
/* ats.c: agents, their clients and translations. After topo_uio(). */
int topo_check_ats(struct topo_load *l);
/* check.c: every host reaches every GFD. After topo_join(). */
int topo_check_paths(struct topo_load *l);
/* attach.c: roles of ports, what may be attached to what, bindings. After topo_join(). */
int topo_check_attached(struct topo_load *l);
/* space.c: place the segments, groups and rights of the file, or those that stand for none. */
int topo_space(struct topo_load *l);

/* regions.c: regions that have a name. After topo_space(). */
int topo_regions(struct topo_load *l);
/* clients.c: who may attach to hosts. After topo_regions(). */
int topo_clients(struct topo_load *l);

/* uio.c: windows, vectors, and what may not be together. After topo_space(). */
int topo_uio(struct topo_load *l);
/*
 * uio.c: whether a segment has memory of the node; whether a host offers some or has such a
 * segment.
 */
bool topo_has_segment(const struct weft_topo *t, unsigned int node);
bool topo_answers_gim(const struct weft_topo *t, unsigned int node);

/* join.c: resolve the names of links, count and number the ports. */
int topo_join(struct topo_load *l);
/* check_link.c: settle devices, drivers and MTUs of the ports. After topo_join(). */
int topo_check_links(struct topo_load *l);

/* graph.c: hops of every node to one node; UINT16_MAX where there is no way through switches. */
struct topo_hops {
	uint16_t hop[WEFT_TOPO_NODES];
};
void topo_hops_to(const struct weft_topo *t, unsigned int node, struct topo_hops *h);

/* route.c: choose an engine and fill t.route. After topo_check_links(). */
int topo_route(struct topo_load *l);
extern const char *const topo_routing_words[];

/* An engine: fill t->route, all none before. -EINVAL and f->text if it is not for this fabric. */
typedef int (*topo_route_fn)(struct weft_topo *t, struct weft_topo_fault *f);
int topo_route_shortest(struct weft_topo *t, struct weft_topo_fault *f);
int topo_route_layers(struct weft_topo *t, struct weft_topo_fault *f);
int topo_route_root(struct weft_topo *t, struct weft_topo_fault *f);
int topo_route_dimension(struct weft_topo *t, struct weft_topo_fault *f);
int topo_route_rising(struct weft_topo *t, struct weft_topo_fault *f);
/* graph.c: row of @node for @to; and the rows of all that are no switches from those that are. */
uint8_t *topo_route_at(struct weft_topo *t, unsigned int node, unsigned int to);
void topo_route_ends(struct weft_topo *t);
/* route_equal.c: deal destinations out to links that an engine could as well have chosen. */
void topo_route_equal(struct weft_topo *t);
/* The first of the equals of each port, by index. */
void topo_equal_lowest(const struct weft_topo *t, uint8_t *lowest);
/* graph.c: lowest port of @node that leads one hop nearer, or -1. */
int topo_nearer_port(const struct weft_topo *t, unsigned int node, const struct topo_hops *h);
/* graph.c: port number of @node on the way to @to, or -1. */
int topo_next_port(const struct weft_topo *t, unsigned int node, unsigned int to);

#endif /* TOPO_PRIV_H */
