/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CCI of the switches and GFDs here (fabric.md section 4): cci-NODE.sock in the run folder, packets
 * both ways (doc/cci.md). Served by the control thread, never by an lcore: nobody who is connected
 * can make it wait.
 */
#ifndef CCI_H
#define CCI_H

#include "daemon.h"
#include "weft_cci_switch.h"

/** A component that runs here. */
struct cci_component {
	struct node *node;
	int fd; /* its socket */
	char path[108];
	struct weft_cci_component component;
	struct weft_cci_switch sw; /* of a switch */
};

/** Of enum cci_mode. */
extern const char *const cci_mode_words[];

/** Open the sockets. 0, or -errno with a line; what was not asked for is left out instead. */
int cci_init(struct daemon *d, char *err, size_t err_len);

/** Answer requests for @p ms milliseconds. Control thread. */
void cci_serve(struct daemon *d, unsigned int ms);

/** Take the sockets away. Once the control thread has ended. */
void cci_fini(void);

/** {node: {owner, connections, requests, refused, garbage}} of each component with a socket. */
json_t *cci_json(void);

/* --- cci_nodes.c --- */

/** What a node is to its manager: 0; -ENOTSUP: it is no component; or -errno. */
int cci_begin(struct cci_component *c, struct node *n);

/** Whether @p pid is of a host or device of the fabric. */
bool cci_is_requester(const struct daemon *d, uint16_t pid);

/** A component has something to tell its primary manager. */
void cci_notify(void *component, uint16_t fm_pid, const uint8_t *msg, size_t len);

#endif /* CCI_H */
