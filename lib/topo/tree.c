/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * YAML events into a tree of values that remember their line. Working from events keeps two
 * promises: nesting is cut off at TOPO_DEPTH before anything deeper is read, and no alias can make
 * a small file large. No recursion follows the input (reliability.md S16).
 */

#include <errno.h>
#include <stdlib.h>

#include <yaml.h>

#include "topo_priv.h"

struct topo_builder {
	struct topo_load *load;
	unsigned int depth; /* open collections */
	unsigned int open[TOPO_DEPTH];
	unsigned int last[TOPO_DEPTH]; /* latest child of each, 0 = none yet */
	char *key; /* waits for its value; owned */
	unsigned int key_line;
	bool has_document;
};

void
topo_tree_free(struct topo_tree *tree)
{
	for (unsigned int i = 0; i < tree->n; i++) {
		free(tree->value[i].key);
		free(tree->value[i].text);
	}
	free(tree->value);
	*tree = (struct topo_tree){ 0 };
}

static struct topo_value *
tree_append(struct topo_tree *tree)
{
	if (tree->n == tree->room) {
		unsigned int room = tree->room == 0 ? 64 : 2 * tree->room;
		struct topo_value *grown = realloc(tree->value, room * sizeof(*grown));

		if (grown == NULL)
			return NULL;
		tree->value = grown;
		tree->room = room;
	}
	tree->value[tree->n] = (struct topo_value){ 0 };
	return &tree->value[tree->n++];
}

/* Append a value below the innermost open collection; a waiting key becomes its own. */
static struct topo_value *
tree_builder_add(struct topo_builder *b, enum topo_value_kind kind, unsigned int line)
{
	struct topo_tree *tree = &b->load->tree;
	unsigned int index = tree->n;
	struct topo_value *v = tree_append(tree);

	if (v == NULL)
		return NULL;
	v->kind = kind;
	v->line = line;
	v->key = b->key;
	v->key_line = b->key_line;
	b->key = NULL;
	if (b->depth > 0) {
		struct topo_value *parent = &tree->value[b->open[b->depth - 1]];
		unsigned int *last = &b->last[b->depth - 1];

		if (*last == 0)
			parent->first = index;
		else
			tree->value[*last].next = index;
		*last = index;
		parent->count++;
	}
	return v;
}

static bool
tree_builder_wants_key(const struct topo_builder *b)
{
	return b->depth > 0 && b->key == NULL &&
	       b->load->tree.value[b->open[b->depth - 1]].kind == TOPO_MAP;
}

static int
tree_builder_scalar(struct topo_builder *b, const yaml_event_t *e, unsigned int line)
{
	const char *text = (const char *)e->data.scalar.value;
	bool is_plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct topo_value *v;
	char *copy;

	if (memchr(text, 0, e->data.scalar.length) != NULL)
		return topo_fail(
			b->load, -EINVAL, line, "zero byte in a value, expected text, got \"\\0\"");
	copy = strdup(text);
	if (copy == NULL)
		return -ENOMEM;
	if (tree_builder_wants_key(b)) {
		b->key = copy;
		b->key_line = line;
		return 0;
	}
	v = tree_builder_add(b, TOPO_SCALAR, line);
	if (v == NULL) {
		free(copy);
		return -ENOMEM;
	}
	v->text = copy;
	v->quoted = !is_plain;
	return 0;
}

static int
tree_builder_open(struct topo_builder *b, enum topo_value_kind kind, unsigned int line)
{
	unsigned int index = b->load->tree.n;

	if (tree_builder_wants_key(b))
		return topo_fail(
			b->load, -EINVAL, line, "bad key, expected a word, got a collection");
	if (b->depth == TOPO_DEPTH)
		return topo_fail(b->load, -EFBIG, line,
			"nested too deep, expected at most %d levels, got more", TOPO_DEPTH);
	if (tree_builder_add(b, kind, line) == NULL)
		return -ENOMEM;
	b->open[b->depth] = index;
	b->last[b->depth] = 0;
	b->depth++;
	return 0;
}

/* Anchors, aliases and tags have no use here, and each is a way to say something unexpected. */
static int
tree_builder_plain_yaml(struct topo_builder *b, const yaml_event_t *e, unsigned int line)
{
	bool has_anchor = false;
	bool has_tag = false;

	switch (e->type) {
	case YAML_ALIAS_EVENT: has_anchor = true; break;
	case YAML_SCALAR_EVENT:
		has_anchor = e->data.scalar.anchor != NULL;
		has_tag = e->data.scalar.tag != NULL;
		break;
	case YAML_SEQUENCE_START_EVENT:
		has_anchor = e->data.sequence_start.anchor != NULL;
		has_tag = e->data.sequence_start.tag != NULL;
		break;
	case YAML_MAPPING_START_EVENT:
		has_anchor = e->data.mapping_start.anchor != NULL;
		has_tag = e->data.mapping_start.tag != NULL;
		break;
	default: break;
	}
	if (has_anchor)
		return topo_fail(b->load, -EINVAL, line,
			"anchors and aliases are not used here, expected a value, got & or *");
	if (has_tag)
		return topo_fail(
			b->load, -EINVAL, line, "tags are not used here, expected a value, got !");
	return 0;
}

static int
tree_builder_event(struct topo_builder *b, const yaml_event_t *e)
{
	unsigned int line = (unsigned int)e->start_mark.line + 1;
	int rc = tree_builder_plain_yaml(b, e, line);

	if (rc < 0)
		return rc;
	switch (e->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (b->has_document)
			return topo_fail(b->load, -EINVAL, line,
				"second document, expected one, got another \"---\"");
		b->has_document = true;
		return 0;
	case YAML_SCALAR_EVENT: return tree_builder_scalar(b, e, line);
	case YAML_SEQUENCE_START_EVENT: return tree_builder_open(b, TOPO_LIST, line);
	case YAML_MAPPING_START_EVENT: return tree_builder_open(b, TOPO_MAP, line);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT: b->depth--; return 0;
	default: return 0;
	}
}

/* A byte that is not text has an offset and no line: count the lines before it. */
static unsigned int
tree_line_of_offset(const char *yaml, size_t len, size_t offset)
{
	unsigned int line = 1;

	for (size_t i = 0; i < offset && i < len; i++)
		line += yaml[i] == '\n';
	return line;
}

static int
tree_parser_fail(struct topo_load *l, const yaml_parser_t *p, const char *yaml, size_t len)
{
	unsigned int line = (unsigned int)p->problem_mark.line + 1;

	if (p->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (p->error == YAML_READER_ERROR)
		line = tree_line_of_offset(yaml, len, p->problem_offset);
	return topo_fail(l, -EINVAL, line, "not YAML, expected %s, got: %s",
		l->holds == NULL ? "a topology" : l->holds,
		p->problem != NULL ? p->problem : "unknown error");
}

int
topo_tree_build(struct topo_load *l, const char *yaml, size_t len)
{
	struct topo_builder b = { .load = l };
	yaml_parser_t parser;
	yaml_event_t event;
	bool is_done = false;
	int rc = 0;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)yaml, len);
	while (!is_done && rc == 0) {
		if (!yaml_parser_parse(&parser, &event)) {
			rc = tree_parser_fail(l, &parser, yaml, len);
			break;
		}
		rc = tree_builder_event(&b, &event);
		is_done = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	free(b.key);
	yaml_parser_delete(&parser);
	if (rc == 0 && l->tree.n == 0)
		rc = topo_fail(l, -EINVAL, 1, "empty file, expected %s, got nothing",
			l->holds == NULL ? "fabric, nodes and links" : l->holds);
	return rc;
}
