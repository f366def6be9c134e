/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A fabric in memory for tests of the manager: switches and GFDs that answer commands as fabric.md
 * section 4.6 says, cables between them, and a network of messages that loses, repeats and delays.
 */
#ifndef FM_FAKE_H
#define FM_FAKE_H

#include "weft_cci.h"
#include "weft_cci_payload.h"
#include "weft_fm.h"
#include "weft_pbr.h"
#include "weft_rand.h"
#include "weft_test.h"
#include "weft_route.h"

#define FAKE_PORTS 64
#define FAKE_EXTENTS 64
#define FAKE_MESSAGE (WEFT_CCI_HDR + WEFT_CCI_MAX_PAYLOAD)
#define FAKE_BLOCK 4096

enum fake_far { FAKE_NOTHING, FAKE_HOST, FAKE_COMPONENT };

struct fake_port {
	uint8_t far; /* enum fake_far */
	bool is_up, is_silent; /* silent: it says of the other end nothing */
	uint16_t far_component;
	uint8_t far_port;
	uint16_t pid;
};

#define FAKE_GROUP_ROWS 64 /* of an RGT */

struct fake_component {
	bool is_gfd, is_dead, is_mad; /* mad: its answers are cut */
	bool is_host; /* the daemon of a host, which is told what memory it has */
	bool is_other_file; /* its ports may have other PIDs alone */
	bool is_fixed; /* GFD: takes no commands about its memory */
	unsigned int n_busy; /* answers of Busy to come, and of Retry Required */
	uint64_t serial;
	uint16_t pid, fm_pid, sec_pid;
	uint8_t fm_uuid[16], sec_uuid[16];
	unsigned int known; /* caller that claimed last: others may do little more than that */
	unsigned int n_ports, n_extents;
	struct fake_port port[FAKE_PORTS];
	struct weft_drt drt;
	struct weft_rgt_entry rgt[FAKE_GROUP_ROWS];
	struct weft_fm_extent extent[FAKE_EXTENTS];
	uint32_t sat[WEFT_PIDS];
	bool is_told; /* host, these three: what it was told last, announcements apart */
	uint64_t slow_ns; /* host: takes so long, in the background; 0: at once */
	uint64_t taken_ns; /* it has then, what follows; 0: nothing */
	size_t n_taking;
	uint8_t taking[WEFT_CCI_MAX_PAYLOAD];
	unsigned int n_told;
	uint8_t told[WEFT_FM_HOST_EXTENTS * WEFT_CCI_HOST_EXTENT_LEN];
	unsigned int n_writes, n_drt_writes;
};

struct fake_message {
	uint64_t at_ns;
	uint32_t path;
	bool is_answer;
	unsigned int manager; /* answers reach the manager that asked, and no later one */
	uint16_t spid;
	size_t len;
	uint8_t bytes[FAKE_MESSAGE];
};

struct fake {
	struct fake_component *component;
	unsigned int n_components, n_switches;
	struct fake_message *message;
	unsigned int n_messages, room;
	uint64_t now_ns;
	struct weft_rand rand;
	/* Of 1000 messages: lost, twice, late beyond any time-out. */
	unsigned int lost, repeated, late;
	uint64_t n_sent;
	unsigned int manager; /* to be counted up for each that begins */
	uint16_t spid; /* of that manager, where it is all that components know it by; or 0 */
	const struct weft_fm_intent *intent; /* no write may open what it does not */
};

/* A fabric of @n_switches switches without cables, then @n_gfds GFDs. */
void fake_init(struct fake *f, unsigned int n_switches, unsigned int n_gfds, uint64_t seed);
void fake_free(struct fake *f);
/* Join two components by their next ports, or lead a port to a host; number of the port at @a. */
unsigned int fake_join(struct fake *f, unsigned int a, unsigned int b);
unsigned int fake_host(struct fake *f, unsigned int a);
/* Both ends of the cable at a port go up or down. */
void fake_set_up(struct fake *f, unsigned int a, unsigned int port, bool is_up);
/* A component begins again with nothing. */
void fake_reboot(struct fake *f, unsigned int a);

/* Carry out a whole request of component @path; length of the whole answer at @rsp. */
size_t fake_serve(struct fake *f, uint32_t path, unsigned int caller, const uint8_t *msg,
	size_t len, uint8_t rsp[FAKE_MESSAGE]);

/* The transport. */
int fake_send(void *arg, uint32_t path, const uint8_t *msg, size_t len);
/* Carry messages and time until the manager has converged, or @until_ns; whether it has. */
bool fake_run(struct fake *f, struct weft_fm *fm, uint64_t until_ns);
/* Carry messages for so long, whether it has converged or not. */
void fake_pass(struct fake *f, struct weft_fm *fm, uint64_t ns);
/* Carry messages until @n more were sent, or it has converged. */
bool fake_run_sends(struct fake *f, struct weft_fm *fm, uint64_t n);

#endif /* FM_FAKE_H */
