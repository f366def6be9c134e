/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The keys of the topology file, one table for each mapping, and the walk that applies them. A key
 * that is in no table, there twice, or missing although required is an error. A new key is a row
 * here, its place in topo_priv.h and a line in doc/topology.md.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_ide.h"
#include "weft_isn.h"
#include "weft_wire.h"
#include "weft_words.h"

#include "topo_keys.h"

#define MAX_PID 0xFFE /* 0xFFF is reserved: fabric.md section 2.1 */
#define MIN_MTU 68
#define MIN_MEMORY 4096
#define MAX_MEMORY (UINT64_C(1) << WEFT_TOPO_SEGMENT_LOG2)
#define MIN_SEGMENT (UINT64_C(1) << WEFT_TOPO_SEGMENT_LOG2)
#define MAX_SEGMENT (UINT64_C(1) << WEFT_TOPO_SEGMENT_LOG2_MAX)
#define MAX_LINES (MAX_MEMORY / 64)
#define MIN_WINDOW 8 /* of lib/link; the number on the wire allows MAX_WINDOW */
#define MAX_WINDOW 511
#define MAX_TRANSFER (UINT64_C(1) << 30) /* the host holds all of it */
#define MAX_REQUESTS (UINT64_C(1) << 48)
#define MAX_REKEY_MS 86400000 /* a day */

/* Index = value of the enum; the last word is followed by NULL. */
static const char *const override_words[] = { "none", "gim-forward", NULL };
const char *const weft_topo_kind_words[] = { [WEFT_TOPO_HOST] = "host",
	[WEFT_TOPO_SWITCH] = "switch",
	[WEFT_TOPO_GFD] = "gfd",
	[WEFT_TOPO_DEVICE] = "device",
	[WEFT_TOPO_HBR] = "hbr",
	NULL };
static const char *const role_words[] = { [TOPO_ROLE_AUTO] = "auto",
	[TOPO_ROLE_USP] = "usp",
	[TOPO_ROLE_DSP] = "dsp",
	[TOPO_ROLE_FPORT] = "fport",
	NULL };
/* enum weft_topo_transfer_kind */
const char *const topo_transfer_words[] = { "write", "read", "copy", NULL };
const char *const weft_topo_outcomes[] = { "ok", "bad_guard", "bad_apptag", "bad_reftag",
	"poisoned", "lost", "mismatch", "memory_lost", NULL };
const char *const topo_driver_words[] = { [WEFT_TOPO_AUTO] = "auto",
	[WEFT_TOPO_VFIO] = "vfio",
	[WEFT_TOPO_AF_XDP] = "af_xdp",
	[WEFT_TOPO_AF_PACKET] = "af_packet",
	[WEFT_TOPO_MEMIF] = "memif",
	[WEFT_TOPO_RING] = "ring",
	[WEFT_TOPO_VDEV] = "vdev",
	NULL };

static const struct topo_key *
find_key(const struct topo_key *keys, unsigned int n, const char *name)
{
	for (unsigned int i = 0; i < n; i++) {
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	}
	return NULL;
}

static int
unknown_key(struct topo_load *l, const struct topo_value *v, const struct topo_key *keys,
	unsigned int n)
{
	char list[256] = "";

	for (unsigned int i = 0; i < n; i++)
		topo_add_word(list, sizeof(list), keys[i].name);
	return topo_fail(
		l, -EINVAL, v->key_line, "unknown key, expected %s, got \"%.48s\"", list, v->key);
}

/* Read one pair of a mapping into @base, with its key on the path. */
static int
decode_pair(struct topo_load *l, const struct topo_value *v, const struct topo_key *key, void *base,
	unsigned int *line)
{
	size_t end = strlen(l->where);
	int rc;

	snprintf(l->where + end, sizeof(l->where) - end, ".%s", key->name);
	if (*line != 0) {
		rc = topo_fail(l, -EINVAL, v->key_line,
			"duplicate key, expected it once, got it again after line %u", *line);
	} else {
		*line = v->line;
		rc = key->read(l, v, key, base);
	}
	if (rc == 0)
		l->where[end] = '\0';
	return rc;
}

int
topo_decode_map(struct topo_load *l, const struct topo_value *v, const struct topo_key *keys,
	unsigned int n, void *base, unsigned int *at)
{
	int rc;

	if (v->kind != TOPO_MAP)
		return topo_bad(l, v, "wrong type", "a mapping");
	for (unsigned int i = v->first; i != 0; i = l->tree.value[i].next) {
		const struct topo_value *pair = &l->tree.value[i];
		const struct topo_key *key = find_key(keys, n, pair->key);

		if (key == NULL)
			return unknown_key(l, pair, keys, n);
		rc = decode_pair(l, pair, key, base, &at[key - keys]);
		if (rc < 0)
			return rc;
	}
	for (unsigned int i = 0; i < n; i++) {
		if (keys[i].required && at[i] == 0)
			return topo_fail(l, -EINVAL, v->line, "key missing, expected %s, got none",
				keys[i].name);
	}
	return 0;
}

static const struct topo_key traffic_keys[TRAFFIC_KEYS] = {
	[TRAFFIC_REQUESTS] = NUMBER(
		"requests", OPTIONAL, struct topo_node_src, out.traffic.requests, 0, MAX_REQUESTS),
	[TRAFFIC_OUTSTANDING] = NUMBER(
		"outstanding", OPTIONAL, struct topo_node_src, out.traffic.outstanding, 1, 4096),
	[TRAFFIC_WRITE_PERCENT] = NUMBER(
		"write_percent", OPTIONAL, struct topo_node_src, out.traffic.write_percent, 0, 100),
	[TRAFFIC_LINES] =
		NUMBER("lines", OPTIONAL, struct topo_node_src, out.traffic.lines, 1, MAX_LINES),
	[TRAFFIC_SEED] =
		NUMBER("seed", OPTIONAL, struct topo_node_src, out.traffic.seed, 0, UINT64_MAX),
	[TRAFFIC_TIMEOUT_MS] = NUMBER(
		"timeout_ms", OPTIONAL, struct topo_node_src, out.traffic.timeout_ms, 1, 60000),
	[TRAFFIC_RATE] = NUMBER(
		"rate", OPTIONAL, struct topo_node_src, out.traffic.rate, 0, WEFT_TOPO_RATE_MAX),
};

static int
read_traffic(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	struct topo_node_src *src = base;

	(void)k;
	src->out.has_traffic = true;
	src->out.traffic = (struct weft_topo_traffic){
		.requests = 100000,
		.seed = 1,
		.lines = 4096,
		.outstanding = 64,
		.timeout_ms = WEFT_TOPO_TIMEOUT_MS,
		.write_percent = 50,
	};
	return topo_decode_map(l, v, traffic_keys, TRAFFIC_KEYS, src, src->traffic_at);
}

#define TRANSFER_NUMBER(word, member, high)                                                        \
	NUMBER(word, OPTIONAL, struct topo_transfer_src, out.member, 0, high)
static const struct topo_key transfer_keys[TRANSFER_KEYS] = {
	[TRANSFER_NAME] = TEXT("name", OPTIONAL, struct topo_transfer_src, out.name, NAME_CHARS),
	[TRANSFER_KIND] =
		WORD("kind", REQUIRED, struct topo_transfer_src, out.kind, topo_transfer_words),
	[TRANSFER_GFD] = TEXT("gfd", REQUIRED, struct topo_transfer_src, gfd, NAME_CHARS),
	[TRANSFER_OFFSET] =
		SIZE("offset", OPTIONAL, struct topo_transfer_src, out.offset, 0, MAX_MEMORY - 1),
	[TRANSFER_TO] = TEXT("to", OPTIONAL, struct topo_transfer_src, to, NAME_CHARS),
	[TRANSFER_TO_OFFSET] = SIZE(
		"to_offset", OPTIONAL, struct topo_transfer_src, out.to_offset, 0, MAX_MEMORY - 1),
	[TRANSFER_BYTES] =
		SIZE("bytes", REQUIRED, struct topo_transfer_src, out.bytes, 1, MAX_TRANSFER),
	[TRANSFER_MEM] = TEXT("mem", OPTIONAL, struct topo_transfer_src, out.mem, NULL),
	[TRANSFER_WIRE] = TEXT("wire", OPTIONAL, struct topo_transfer_src, out.wire, NULL),
	[TRANSFER_CHECK_MASK] = TRANSFER_NUMBER("check_mask", check_mask, UINT8_MAX),
	[TRANSFER_COPY_MASK] = TRANSFER_NUMBER("copy_mask", copy_mask, UINT8_MAX),
	[TRANSFER_BLOCK0] = TRANSFER_NUMBER("block0", block0, UINT32_MAX),
	[TRANSFER_SEED] = TRANSFER_NUMBER("seed", seed, UINT64_MAX),
	[TRANSFER_FILL] = TRANSFER_NUMBER("fill", fill, UINT8_MAX),
	[TRANSFER_FILE] = TEXT("file", OPTIONAL, struct topo_transfer_src, out.file, NULL),
	[TRANSFER_EXPECT] =
		WORD("expect", OPTIONAL, struct topo_transfer_src, out.expect, weft_topo_outcomes),
};

static int
read_transfer(struct topo_load *l, const struct topo_value *v, unsigned int index)
{
	struct topo_transfer_src *src = &l->transfer[l->n_transfers++];

	*src = (struct topo_transfer_src){ .line = v->line, .out.check_mask = UINT8_MAX };
	snprintf(src->out.name, sizeof(src->out.name), "%u", index);
	strcpy(src->out.mem, "none");
	strcpy(src->out.wire, "none");
	return topo_decode_map(l, v, transfer_keys, TRANSFER_KEYS, src, src->at);
}

static int
read_transfers(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	struct topo_node_src *src = base;
	int rc = topo_check_list(l, v, WEFT_TOPO_TRANSFERS - l->n_transfers);
	struct topo_transfer_src *more;

	(void)k;
	if (rc < 0)
		return rc;
	more = realloc(l->transfer, (l->n_transfers + v->count) * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	l->transfer = more;
	src->out.first_transfer = l->n_transfers;
	src->out.n_transfers = (uint16_t)v->count;
	return topo_decode_list(l, v, read_transfer);
}

static const struct topo_key node_keys[NODE_KEYS] = {
	[NODE_NAME] = TEXT("name", REQUIRED, struct topo_node_src, out.name, NAME_CHARS),
	[NODE_KIND] = WORD("kind", REQUIRED, struct topo_node_src, out.kind, weft_topo_kind_words),
	[NODE_SERVER] = TEXT("server", OPTIONAL, struct topo_node_src, out.server, HOST_CHARS),
	[NODE_PID] = NUMBER("pid", REQUIRED, struct topo_node_src, out.pid, 0, MAX_PID),
	[NODE_LCORES] = OTHER("lcores", OPTIONAL, topo_read_lcores),
	[NODE_MEMORY] =
		SIZE("memory", OPTIONAL, struct topo_node_src, out.memory, MIN_MEMORY, MAX_MEMORY),
	[NODE_LATE_POISON] = OTHER_AT(
		"late_poison", OPTIONAL, topo_read_share, struct topo_node_src, out.late_poison),
	[NODE_LATE_POISON_SEED] = NUMBER("late_poison_seed", OPTIONAL, struct topo_node_src,
		out.late_poison_seed, 0, UINT64_MAX),
	[NODE_SOCKET] = OTHER("socket", OPTIONAL, topo_read_numa),
	[NODE_TRAFFIC] = OTHER("traffic", OPTIONAL, read_traffic),
	[NODE_TRANSFERS] = OTHER("transfers", OPTIONAL, read_transfers),
	[NODE_ACCESS] =
		NAMES("access", OPTIONAL, struct topo_node_src, access, 0, WEFT_TOPO_GROUPS),
	[NODE_ATS] = OTHER("ats", OPTIONAL, topo_read_ats),
	[NODE_TRANSLATIONS] = OTHER("translations", OPTIONAL, topo_read_translations),
	[NODE_CHANGE] = OTHER("change", OPTIONAL, topo_read_change),
	[NODE_AT] = OTHER("at", OPTIONAL, topo_read_at),
	[NODE_GIM] = SIZE("gim", OPTIONAL, struct topo_node_src, out.gim, MIN_MEMORY, MAX_MEMORY),
	[NODE_WINDOWS] = OTHER("windows", OPTIONAL, topo_read_windows),
	[NODE_VTV] = NAMES("vtv", OPTIONAL, struct topo_node_src, vtv, 0, WEFT_TOPO_NODES),
	[NODE_LAV] = NAMES("lav", OPTIONAL, struct topo_node_src, lav, 0, WEFT_TOPO_NODES),
	[NODE_INGRESS_PREFIX] = WORD("ingress_prefix", OPTIONAL, struct topo_node_src,
		out.ingress_prefix, weft_bool_words),
	[NODE_EGRESS_PREFIX] = WORD("egress_prefix", OPTIONAL, struct topo_node_src,
		out.egress_prefix, weft_bool_words),
	[NODE_FORWARD] =
		WORD("forward", OPTIONAL, struct topo_node_src, out.forward, weft_bool_words),
	[NODE_OVERRIDE] =
		WORD("override", OPTIONAL, struct topo_node_src, out.override, override_words),
	[NODE_UIO] = OTHER("uio", OPTIONAL, topo_read_uio),
};

static int
read_node(struct topo_load *l, const struct topo_value *v, unsigned int index)
{
	struct topo_node_src *src = &l->node[index];

	src->line = v->line;
	src->out.numa = -1;
	topo_change_defaults(&src->out.change);
	return topo_decode_map(l, v, node_keys, NODE_KEYS, src, src->at);
}

static const struct topo_key end_keys[END_KEYS] = {
	[END_PCI] = OTHER_AT("pci", OPTIONAL, topo_read_pci, struct topo_end_src, pci),
	[END_NETIF] = TEXT("netif", OPTIONAL, struct topo_end_src, netif, HOST_CHARS),
	[END_VDEV] = TEXT("vdev", OPTIONAL, struct topo_end_src, vdev, NULL),
	[END_DRIVER] = WORD("driver", OPTIONAL, struct topo_end_src, driver, topo_driver_words),
	[END_MTU] = NUMBER("mtu", OPTIONAL, struct topo_end_src, mtu, MIN_MTU, UINT16_MAX),
	[END_SOCKET] = TEXT("socket", OPTIONAL, struct topo_end_src, socket, SOCKET_CHARS),
	[END_ROLE] = WORD("role", OPTIONAL, struct topo_end_src, role, role_words),
	[END_WIRE] = OTHER_AT("wire", OPTIONAL, topo_read_wire, struct topo_end_src, wire),
};

static int
read_end(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	struct topo_end_src *end = (struct topo_end_src *)((char *)base + k->offset);

	end->line = v->line;
	return topo_decode_map(l, v, end_keys, END_KEYS, end, end->at);
}

static const struct topo_key link_keys[LINK_KEYS] = {
	[LINK_A] = TEXT("a", REQUIRED, struct topo_link_src, name[0], NAME_CHARS),
	[LINK_B] = TEXT("b", REQUIRED, struct topo_link_src, name[1], NAME_CHARS),
	[LINK_DRIVER] = WORD("driver", OPTIONAL, struct topo_link_src, driver, topo_driver_words),
	[LINK_A_PORT] = OTHER_AT("a_port", OPTIONAL, read_end, struct topo_link_src, end[0]),
	[LINK_B_PORT] = OTHER_AT("b_port", OPTIONAL, read_end, struct topo_link_src, end[1]),
	[LINK_WIRE] = OTHER_AT("wire", OPTIONAL, topo_read_wire, struct topo_link_src, wire),
};

static int
read_link(struct topo_load *l, const struct topo_value *v, unsigned int index)
{
	struct topo_link_src *src = &l->link[index];

	src->line = v->line;
	src->end[0].line = v->line;
	src->end[1].line = v->line;
	return topo_decode_map(l, v, link_keys, LINK_KEYS, src, src->at);
}

int
topo_decode_list(struct topo_load *l, const struct topo_value *v,
	int (*read_item)(struct topo_load *, const struct topo_value *, unsigned int))
{
	size_t end = strlen(l->where);
	unsigned int index = 0;

	for (unsigned int i = v->first; i != 0; i = l->tree.value[i].next) {
		int rc;

		snprintf(l->where + end, sizeof(l->where) - end, "[%u]", index);
		rc = read_item(l, &l->tree.value[i], index++);
		if (rc < 0)
			return rc;
	}
	l->where[end] = '\0';
	return 0;
}

int
topo_check_list(struct topo_load *l, const struct topo_value *v, unsigned int max)
{
	/* Nobody can go on with the items: an error in any case. */
	if (v->kind != TOPO_LIST || v->count == 0) {
		topo_bad(l, v, v->kind == TOPO_LIST ? "empty list" : "wrong type",
			"a list of 1..%u", max);
		return -EINVAL;
	}
	if (v->count > max)
		return topo_fail(
			l, -EFBIG, v->line, "too long, expected at most %u, got %u", max, v->count);
	return 0;
}

static int
read_nodes(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	int rc = topo_check_list(l, v, WEFT_TOPO_NODES);

	(void)k;
	(void)base;
	if (rc < 0)
		return rc;
	l->node = calloc(v->count, sizeof(*l->node));
	if (l->node == NULL)
		return -ENOMEM;
	l->t.n_nodes = (uint16_t)v->count;
	return topo_decode_list(l, v, read_node);
}

static int
read_links(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	int rc = topo_check_list(l, v, WEFT_TOPO_LINKS);

	(void)k;
	(void)base;
	if (rc < 0)
		return rc;
	l->link = calloc(v->count, sizeof(*l->link));
	if (l->link == NULL)
		return -ENOMEM;
	l->t.n_links = (uint16_t)v->count;
	return topo_decode_list(l, v, read_link);
}

static const struct topo_key retry_keys[RETRY_KEYS] = {
	[RETRY_ACK_EVERY] =
		NUMBER("ack_every", OPTIONAL, struct topo_load, t.retry.ack_every, 1, 255),
	[RETRY_WINDOW] = NUMBER(
		"window", OPTIONAL, struct topo_load, t.retry.window, MIN_WINDOW, MAX_WINDOW),
	[RETRY_SELECTIVE] =
		WORD("selective", OPTIONAL, struct topo_load, t.retry.selective, weft_bool_words),
	[RETRY_RX_BUFFER] =
		NUMBER("rx_buffer", OPTIONAL, struct topo_load, t.retry.rx_buffer, 1, MAX_WINDOW),
};

static int
read_retry(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	(void)k;
	return topo_decode_map(l, v, retry_keys, RETRY_KEYS, base, l->retry_at);
}

static const struct topo_key defaults_keys[DEF_KEYS] = {
	[DEF_MTU] = NUMBER("mtu", OPTIONAL, struct topo_load, mtu, MIN_MTU, UINT16_MAX),
	[DEF_FLITS] = NUMBER("flits_per_frame", OPTIONAL, struct topo_load, t.flits_per_frame, 0,
		WEFT_WIRE_FLITS_MAX),
	[DEF_ISN] = WORD_TO("isn", OPTIONAL, struct topo_load, t.isn, weft_isn_words, WEFT_ISN_XOR),
	[DEF_CRC] =
		WORD("crc_order", OPTIONAL, struct topo_load, t.crc_order, weft_crc_order_words),
	[DEF_RETRY] = OTHER("retry", OPTIONAL, read_retry),
	[DEF_CXL_IO] =
		NUMBER("cxl_io", OPTIONAL, struct topo_load, t.cxl_io, 0, WEFT_TOPO_CXL_IO_MAX),
};

static int
read_defaults(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	(void)k;
	return topo_decode_map(l, v, defaults_keys, DEF_KEYS, base, l->defaults_at);
}

static const struct topo_key ide_keys[IDE_KEYS] = {
	[IDE_MODE] = WORD("mode", REQUIRED, struct topo_load, t.ide, weft_ide_mode_words),
	[IDE_KEY_FILE] = TEXT("key_file", OPTIONAL, struct topo_load, t.key_file, NULL),
	[IDE_PCRC] = WORD("pcrc", OPTIONAL, struct topo_load, t.ide_opts.pcrc, weft_switch_words),
	[IDE_STOP] = WORD("stop", OPTIONAL, struct topo_load, t.ide_opts.stop, weft_switch_words),
	[IDE_POISON] =
		WORD("poison", OPTIONAL, struct topo_load, t.ide_opts.poison, weft_switch_words),
	[IDE_REKEY_FLITS] = NUMBER("rekey_flits", OPTIONAL, struct topo_load,
		t.ide_opts.rekey_flits, 1, UINT64_C(1) << 48),
	[IDE_REKEY_MS] = NUMBER(
		"rekey_ms", OPTIONAL, struct topo_load, t.ide_opts.rekey_ms, 1, MAX_REKEY_MS),
};

static int
read_ide(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	(void)k;
	return topo_decode_map(l, v, ide_keys, IDE_KEYS, base, l->ide_at);
}

static const struct topo_key root_keys[ROOT_KEYS] = {
	[ROOT_FABRIC] = TEXT("fabric", REQUIRED, struct topo_load, t.fabric, NAME_CHARS),
	[ROOT_MODE] = WORD("mode", OPTIONAL, struct topo_load, t.mode, weft_mode_words),
	[ROOT_ROUTING] = WORD("routing", OPTIONAL, struct topo_load, t.routing, topo_routing_words),
	[ROOT_DEFAULTS] = OTHER("defaults", OPTIONAL, read_defaults),
	[ROOT_IDE] = OTHER("ide", OPTIONAL, read_ide),
	[ROOT_SEGMENT_SIZE] = SIZE(
		"segment_size", OPTIONAL, struct topo_load, segment_size, MIN_SEGMENT, MAX_SEGMENT),
	[ROOT_SEGMENTS] = OTHER("segments", OPTIONAL, topo_read_segments),
	[ROOT_GROUPS] = OTHER("groups", OPTIONAL, topo_read_groups),
	[ROOT_BINDINGS] = OTHER("bindings", OPTIONAL, topo_read_bindings),
	[ROOT_NODES] = OTHER("nodes", REQUIRED, read_nodes),
	[ROOT_LINKS] = OTHER("links", REQUIRED, read_links),
};

int
topo_decode(struct topo_load *l)
{
	return topo_decode_map(l, &l->tree.value[0], root_keys, ROOT_KEYS, l, l->at);
}
