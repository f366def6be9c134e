/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The door before a memif server, and what passes through it: messages of 128 bytes, of which some
 * carry a descriptor. The format is memif's (version 2), in the byte order of the machine.
 */
#ifndef WEFT_MEMIF_DOOR_PRIV_H
#define WEFT_MEMIF_DOOR_PRIV_H

#include "port_priv.h"

enum memif_type {
	MEMIF_ACK = 1,
	MEMIF_HELLO,
	MEMIF_INIT,
	MEMIF_ADD_REGION,
	MEMIF_ADD_RING,
	MEMIF_CONNECT,
	MEMIF_CONNECTED,
	MEMIF_DISCONNECT,
};

#define WEFT_MEMIF_REASON 96
#define MEMIF_RING_C2S 1 /* flag of a ring: from client to server */

struct memif_msg {
	uint16_t type; /* enum memif_type */
	union {
		struct __attribute__((packed)) {
			uint16_t index;
			uint64_t size;
		} region;
		struct __attribute__((packed)) {
			uint16_t flags;
			uint16_t index;
			uint16_t region;
			uint32_t offset;
			uint8_t log2_size;
			uint16_t private_len;
		} ring;
		struct __attribute__((packed)) {
			uint32_t code;
			char reason[WEFT_MEMIF_REASON];
		} disconnect;
		uint8_t bytes[126];
	};
} __attribute__((packed));

static_assert(sizeof(struct memif_msg) == 128, "memif messages");

enum memif_received { MEMIF_RECEIVED, MEMIF_NOTHING, MEMIF_ENDED };

/*
 * Receive a message and the descriptor it carries, or -1. ENDED: hung up, or no message of memif.
 */
enum memif_received memif_receive(int fd, struct memif_msg *msg, int *carried);

/* Send a message with @carried, if that is not -1. */
bool memif_send(int fd, const struct memif_msg *msg, int carried);
void memif_send_disconnect(int fd, const char *why);

#define MEMIF_NAME_MAX 64

/*
 * A name that nobody else has, for a socket in the folder of @path: the name of that folder's
 * descriptor, which is returned and has to stay open, and a random one in it. Or -errno.
 */
int memif_name_beside(const char *path, char *name, size_t len);

#define MEMIF_HAND_REGIONS 4
#define MEMIF_HAND_MSGS (1 + MEMIF_HAND_REGIONS + 2 + 1) /* init, regions, two rings, connect */

/* The handshake of a caller. */
struct memif_hand {
	int fd; /* -1: none */
	uint64_t until_ms;
	unsigned int n;
	struct memif_msg msg[MEMIF_HAND_MSGS];
	int msg_fd[MEMIF_HAND_MSGS];
};

void memif_hand_begin(struct memif_hand *h, int fd, uint64_t until_ms);
void memif_hand_close(struct memif_hand *h);

enum memif_hand_verdict { MEMIF_HAND_MORE, MEMIF_HAND_WHOLE, MEMIF_HAND_BAD };

/*
 * Take what the caller has sent: its next message, which is kept and acknowledged. BAD: @why says
 * what is wrong, a constant. @is_taken: the port has a client.
 */
enum memif_hand_verdict memif_hand_step(struct memif_hand *h, bool is_taken, const char **why);

/* Make a door for @port at @path. NULL: no memory, or the folder cannot be opened. */
struct memif_door *port_memif_door_new(struct weft_port *port, const char *path);

/* Where the driver is to make its socket. */
const char *port_memif_door_behind(const struct memif_door *d);

/* Once the driver has its socket: take its name away and open the door. 0 or -errno. */
int port_memif_door_open(struct memif_door *d);

/* Also of one that was never opened; NULL is allowed. Before the device is stopped. */
void port_memif_door_close(struct memif_door *d);

/* Callers turned away so far, and why the last. Any thread. */
uint64_t port_memif_door_refused(struct memif_door *d, char *reason, size_t len);

#endif /* WEFT_MEMIF_DOOR_PRIV_H */
