/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The handshake of a memif client: which memory, which two rings in it. What is checked here DPDK's
 * driver takes on trust: that regions are as large as they are said to be and stay so, and that
 * rings lie in them.
 */

#include "memif_door_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft_socket.h"

#define RING_HEAD_LEN 128
#define RING_SLOT_LEN 16
#define RING_LOG2_MAX 14
#define RING_ALIGN 64

union one_fd {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

enum memif_received
memif_receive(int fd, struct memif_msg *msg, int *carried)
{
	union one_fd ctl;
	struct iovec iov = { .iov_base = msg, .iov_len = sizeof(*msg) };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl)
	};
	ssize_t n = recvmsg(fd, &mh, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c;

	*carried = -1;
	if (n != sizeof(*msg))
		msg->type = 0;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? MEMIF_NOTHING : MEMIF_ENDED;
	c = CMSG_FIRSTHDR(&mh);
	if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(carried, CMSG_DATA(c), sizeof(int));
	if (n == sizeof(*msg) && (mh.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		return MEMIF_RECEIVED;
	if (*carried >= 0)
		close(*carried);
	*carried = -1;
	return MEMIF_ENDED;
}

bool
memif_send(int fd, const struct memif_msg *msg, int carried)
{
	struct memif_msg copy = *msg;
	union one_fd ctl = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = &copy, .iov_len = sizeof(copy) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (carried >= 0) {
		mh.msg_control = &ctl;
		mh.msg_controllen = sizeof(ctl);
		ctl.align = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&ctl.align), &carried, sizeof(int));
	}
	return sendmsg(fd, &mh, MSG_NOSIGNAL) == sizeof(copy);
}

void
memif_send_disconnect(int fd, const char *why)
{
	struct memif_msg msg = { .type = MEMIF_DISCONNECT };

	snprintf(msg.disconnect.reason, sizeof(msg.disconnect.reason), "%s", why);
	memif_send(fd, &msg, -1);
}

int
memif_name_beside(const char *path, char *name, size_t len)
{
	char folder[WEFT_SOCKET_PATH_MAX] = ".";
	const char *slash = strrchr(path, '/');
	uint64_t random;
	int fd;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -errno;
	if (slash != NULL)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path) + 1, path);
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* By the descriptor of its folder it is short whatever the folder is called. */
	snprintf(name, len, "/proc/self/fd/%d/.%016llx", fd, (unsigned long long)random);
	return fd;
}

void
memif_hand_begin(struct memif_hand *h, int fd, uint64_t until_ms)
{
	h->fd = fd;
	h->until_ms = until_ms;
	h->n = 0;
}

void
memif_hand_close(struct memif_hand *h)
{
	for (unsigned int i = 0; i < h->n; i++)
		if (h->msg_fd[i] >= 0)
			close(h->msg_fd[i]);
	h->n = 0;
	if (h->fd >= 0)
		close(h->fd);
	h->fd = -1;
}

static unsigned int
hand_count(const struct memif_hand *h, enum memif_type type)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < h->n; i++)
		n += h->msg[i].type == type;
	return n;
}

/* Region @index of those kept, or NULL. */
static const struct memif_msg *
hand_region(const struct memif_hand *h, unsigned int index)
{
	for (unsigned int i = 0; i < h->n; i++)
		if (h->msg[i].type == MEMIF_ADD_REGION && h->msg[i].region.index == index)
			return &h->msg[i];
	return NULL;
}

/* Memory that its owner can make smaller would end us by SIGBUS. */
static const char *
hand_check_region(const struct memif_hand *h, const struct memif_msg *msg, int fd)
{
	struct stat st;
	int seals;

	if (fd < 0)
		return "a region without memory";
	if (hand_count(h, MEMIF_ADD_REGION) == MEMIF_HAND_REGIONS ||
		msg->region.index != hand_count(h, MEMIF_ADD_REGION))
		return "Invalid region index";
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
		return "a region whose memory can shrink";
	if (fstat(fd, &st) != 0 || msg->region.size == 0 || msg->region.size > (uint64_t)st.st_size)
		return "a region larger than its memory";
	return NULL;
}

static const char *
hand_check_ring(const struct memif_hand *h, const struct memif_msg *msg, int fd)
{
	const struct memif_msg *region = hand_region(h, msg->ring.region);
	uint64_t end;

	if (fd < 0)
		return "a ring without an event";
	if (msg->ring.index != 0)
		return "Invalid ring index";
	for (unsigned int i = 0; i < h->n; i++)
		if (h->msg[i].type == MEMIF_ADD_RING &&
			((h->msg[i].ring.flags ^ msg->ring.flags) & MEMIF_RING_C2S) == 0)
			return "a ring twice";
	if (msg->ring.log2_size == 0 || msg->ring.log2_size > RING_LOG2_MAX)
		return "a ring of no good size";
	end = (uint64_t)msg->ring.offset + RING_HEAD_LEN +
	      ((uint64_t)RING_SLOT_LEN << msg->ring.log2_size);
	if (region == NULL || msg->ring.offset % RING_ALIGN != 0 || end > region->region.size)
		return "a ring outside its region";
	return NULL;
}

/* The first thing wrong with the next message of a handshake, or NULL. */
static const char *
hand_check(const struct memif_hand *h, const struct memif_msg *msg, int fd, bool is_taken)
{
	if ((msg->type == MEMIF_INIT) != (h->n == 0))
		return "Unexpected message";
	switch (msg->type) {
	case MEMIF_INIT: return is_taken ? "Already connected" : NULL;
	case MEMIF_ADD_REGION: return hand_check_region(h, msg, fd);
	case MEMIF_ADD_RING: return hand_check_ring(h, msg, fd);
	case MEMIF_CONNECT: return hand_count(h, MEMIF_ADD_RING) == 2 ? NULL : "too few rings";
	default: return "Unexpected message";
	}
}

enum memif_hand_verdict
memif_hand_step(struct memif_hand *h, bool is_taken, const char **why)
{
	static const struct memif_msg ack = { .type = MEMIF_ACK };
	struct memif_msg msg;
	int fd;

	switch (memif_receive(h->fd, &msg, &fd)) {
	case MEMIF_NOTHING: return MEMIF_HAND_MORE;
	case MEMIF_ENDED: *why = "not a memif client, or hung up"; return MEMIF_HAND_BAD;
	case MEMIF_RECEIVED: break;
	}
	*why = hand_check(h, &msg, fd, is_taken);
	if (*why != NULL) {
		if (fd >= 0)
			close(fd);
		return MEMIF_HAND_BAD;
	}
	h->msg[h->n] = msg;
	h->msg_fd[h->n++] = fd;
	if (msg.type == MEMIF_CONNECT)
		return MEMIF_HAND_WHOLE;
	*why = "hung up";
	return memif_send(h->fd, &ack, -1) ? MEMIF_HAND_MORE : MEMIF_HAND_BAD;
}
