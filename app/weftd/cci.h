/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CCI of the switches and GFDs here, and of hosts whose memory a manager gives out (fabric.md
 * section 4): cci-NODE.sock in the run folder, packets both ways (doc/cci.md). Served by the
 * control thread, never by an lcore: nobody who is connected can make it wait.
 */
#ifndef CCI_H
#define CCI_H

#include "daemon.h"
#include "weft_cci_gfd.h"
#include "weft_cci_host.h"
#include "weft_cci_switch.h"

#define CCI_REPORTS 64

/** Reports of a GFD on their way: the lcore that serves it puts, the control thread takes. */
struct cci_reports {
	uint32_t put, taken;
	uint64_t dropped; /* there was no room; by the lcore */
	uint64_t next_ns;
	unsigned int n_sent; /* until then */
	uint64_t sent, kept_back;
	struct weft_gfam_report report[CCI_REPORTS];
};

/** A component that runs here. */
struct cci_component {
	struct node *node;
	int fd; /* its socket */
	char path[108];
	struct weft_cci_component component;
	struct weft_cci_switch sw; /* of a switch */
	struct cci_resets {
		unsigned int n; /* ports in reset */
		uint64_t until_ns[UINT8_MAX]; /* by port; 0: it is not; UINT64_MAX: held by PERST */
	} resets; /* likewise */
	struct weft_cci_gfd gfd; /* of a GFD with tables of rights */
	struct cci_reports *reports; /* likewise; NULL: it makes none */
	struct weft_cci_host *host; /* of a host; NULL: it is none */
	bool is_taking; /* likewise: the change to what it was told (C101h) is under way */
	bool is_waiting; /* or it waits for the end of another one */
	int took; /* what came of the last */
	struct weft_cci_command *rows; /* of a switch */
	bool is_by_link; /* its primary manager came by a link */
};

/** Where a request came from, and its answer goes. */
struct cci_way {
	struct cci_component *to;
	struct weft_cci_caller who;
	int conn; /* of a socket; -1: it came by a link */
	uint64_t since_ns; /* of that connection */
	uint8_t head[8], head_len; /* of its packets, before the message */
	uint16_t port, dpid; /* link: came by, and answers go to */
	uint8_t tag, type; /* of MCTP, likewise */
};

/** Of enum cci_mode. */
extern const char *const cci_mode_words[];

/** Open the sockets. 0, or -errno with a line; what was not asked for is left out instead. */
int cci_init(struct daemon *d, char *err, size_t err_len);

/** Answer requests for @p ms milliseconds. Control thread. */
void cci_serve(struct daemon *d, unsigned int ms);

/** Run a request, and answer it now, or when what it waits for has come. False: it is none. */
bool cci_take(const struct cci_way *w, const uint8_t *msg, size_t len);

/** Run a request. @return bytes of the response; 0: it is no request */
size_t cci_run(const struct cci_way *w, const uint8_t *msg, size_t len, uint8_t *rsp, size_t room);

/** Send an answer where it goes; a connection that does not take it is closed. */
void cci_reply(const struct cci_way *w, const uint8_t *rsp, size_t len);

/** Take the sockets away. Once the control thread has ended. */
void cci_fini(void);

/** {node: {owner, connections, requests, refused, garbage}} of each component with a socket. */
json_t *cci_json(const struct daemon *d);

/** Component @p i of those with a socket, NULL: there are no more. */
struct cci_component *cci_component_at(unsigned int i);

/* --- cci_nodes.c --- */

/**
 * What a node is to its manager: 0; -ENOTSUP: it is no component; -EPROTO with a line: a command of
 * the manager that is built in was refused; or -errno.
 */
int cci_begin(struct cci_component *c, struct node *n, char *err, size_t err_len);

/** Whether @p pid is of a host or device of the fabric. */
bool cci_is_requester(const struct daemon *d, uint16_t pid);

/** A component has something to tell its primary manager. */
void cci_notify(void *component, uint16_t fm_pid, const uint8_t *msg, size_t len);

/* --- cci_ports.c --- */

/** Physical Port Control (5102h): a return code. Control thread, as the next one. */
uint16_t cci_port_control(void *component, unsigned int port, enum weft_cci_port_op op);

/** Let frames pass ports again whose reset is over. */
void cci_end_resets(struct cci_component *c, uint64_t now_ns);

/* --- cci_gfd.c --- */

/** Rows of a GFD, if it has rights to be commanded. 0, or -ENOMEM. */
int cci_begin_gfd(struct cci_component *c, struct weft_cci_component_cfg *cfg);

/** Tell the primary manager of accesses that failed. Control thread. */
void cci_gfd_send_reports(struct cci_component *c, uint64_t now_ns);

/* --- cci_host.c --- */

/** Rows of a host, where a manager gives out memory: else -ENOTSUP. 0, or -ENOMEM. */
int cci_begin_host(struct cci_component *c, struct weft_cci_component_cfg *cfg);

/** Hosts that wait take what they were told, once no other change is under way. */
void cci_hosts_go_on(void);

/** Hosts here keep in a topology of the file what the manager has said. 0, or -errno. */
int cci_keep_memory(struct weft_topo *t);

#endif /* CCI_H */
