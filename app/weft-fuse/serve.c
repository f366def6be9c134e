/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Threads that answer, the one that tells, and the main thread. To stop, the kernel is first made
 * to write back what was stored through maps, which the threads must answer; then they end.
 */

#include "serve.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli.h"
#include "ops.h"
#include "watch.h"
#include "weft_base.h"

struct serve_thread {
	pthread_t id;
	struct fabric_client client;
	struct fuse_buf request; /* libfuse's */
	uint8_t *data;
};

static struct {
	struct serve_options o;
	struct fuse_session *se;
	struct serve_thread *thread;
	int event; /* for the main thread: the session or the telling has come to an end */
	/* Of the thread that tells. */
	pthread_t teller;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t more;
	bool is_telling; /* it has something to do */
	bool is_over;
} serve = { .event = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER };

static _Thread_local struct serve_thread *serve_me;

const struct serve_options *
serve_options(void)
{
	return &serve.o;
}

struct fabric_client *
serve_client(void)
{
	return &serve_me->client;
}

uint8_t *
serve_data(void)
{
	return serve_me->data;
}

int
serve_prepare(const struct serve_options *o)
{
	int rc = 0;

	serve.o = *o;
	serve.thread = calloc(o->n_threads, sizeof(*serve.thread));
	serve.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (serve.thread == NULL || serve.event < 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < o->n_threads && rc == 0; i++) {
		serve.thread[i].data = aligned_alloc(4096, SERVE_MOST);
		rc = serve.thread[i].data == NULL ? -ENOMEM
		                                  : fabric_attach(&serve.thread[i].client);
	}
	return rc;
}

void
serve_look(void)
{
	serve_me = &serve.thread[0];
	(void)ops_refresh(0);
	serve_me = NULL;
}

/* Wake the main thread. */
static void
serve_wake(void)
{
	const uint64_t one = 1;

	/* It fails only where it would say the same once more. */
	if (write(serve.event, &one, sizeof(one)) < 0)
		return;
}

static void *
serve_answer(void *arg)
{
	int ignored, n = 1;

	serve_me = arg;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ignored);
	while (!fuse_session_exited(serve.se) && (n > 0 || n == -EINTR)) {
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &ignored);
		n = fuse_session_receive_buf(serve.se, &serve_me->request);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ignored);
		if (n > 0)
			fuse_session_process_buf(serve.se, &serve_me->request);
	}
	fuse_session_exit(serve.se);
	serve_wake();
	return NULL;
}

/* --- telling --- */

static void *
serve_tell(void *arg)
{
	struct node *node;

	pthread_mutex_lock(&serve.lock);
	while (!serve.is_over) {
		node = nodes_take_doubtful();
		if (node == NULL) {
			serve.is_telling = false;
			serve_wake();
			pthread_cond_wait(&serve.more, &serve.lock);
			continue;
		}
		pthread_mutex_unlock(&serve.lock);
		/* It writes back what is to be written, and fails where nothing is known. */
		(void)fuse_lowlevel_notify_inval_inode(serve.se, nodes_number(node), 0, 0);
		pthread_mutex_lock(&serve.lock);
	}
	pthread_mutex_unlock(&serve.lock);
	return arg;
}

void
serve_doubt(struct node *node)
{
	pthread_mutex_lock(&serve.lock);
	if (nodes_doubt(node)) {
		serve.is_telling = true;
		pthread_cond_signal(&serve.more);
	}
	pthread_mutex_unlock(&serve.lock);
}

static bool
serve_is_telling(void)
{
	bool is_telling;

	pthread_mutex_lock(&serve.lock);
	is_telling = serve.is_telling;
	pthread_mutex_unlock(&serve.lock);
	return is_telling;
}

/* --- main thread --- */

/* Sleep until something is to be done; signals come only here. */
static void
serve_sleep(const sigset_t *signals)
{
	struct pollfd p[] = { { .events = POLLIN }, { .events = POLLIN },
		{ .fd = serve.event, .events = POLLIN } };
	int fds[2];
	uint64_t n;

	fabric_fds(fds);
	p[0].fd = fds[0];
	p[1].fd = fds[1];
	if (ppoll(p, WEFT_ARRAY_SIZE(p), NULL, signals) <= 0)
		return;
	if ((p[0].revents | p[1].revents) != 0 && fabric_keep()) {
		cli_warn("the daemon of %s has gone: what is open fails with EIO; what is opened "
			 "when it is back works",
			fabric_node());
		serve_doubt(NULL);
	}
	if (p[2].revents != 0 && read(serve.event, &n, sizeof(n)) < 0)
		return;
}

static void
serve_start(void)
{
	int rc = pthread_create(&serve.teller, NULL, serve_tell, NULL);

	if (rc == 0)
		rc = watch_begin();
	for (unsigned int i = 0; i < serve.o.n_threads && rc == 0; i++)
		rc = pthread_create(&serve.thread[i].id, NULL, serve_answer, &serve.thread[i]);
	if (rc != 0) {
		fuse_session_unmount(serve.se);
		cli_fail("no thread can be started: %s", strerror(rc));
	}
}

static void
serve_stop(void)
{
	fabric_stop();
	pthread_mutex_lock(&serve.lock);
	serve.is_over = true;
	pthread_cond_signal(&serve.more);
	pthread_mutex_unlock(&serve.lock);
	for (unsigned int i = 0; i < serve.o.n_threads; i++)
		pthread_cancel(serve.thread[i].id);
	for (unsigned int i = 0; i < serve.o.n_threads; i++)
		pthread_join(serve.thread[i].id, NULL);
	pthread_join(serve.teller, NULL);
	watch_end();
}

void
serve_run(struct fuse_session *se, void (*ready)(void))
{
	sigset_t signals;

	pthread_sigmask(SIG_SETMASK, NULL, &signals);
	sigdelset(&signals, SIGINT);
	sigdelset(&signals, SIGTERM);
	sigdelset(&signals, SIGHUP);
	serve.se = se;
	serve_start();
	ready();
	while (!cli_is_stopped() && !fuse_session_exited(se))
		serve_sleep(&signals);
	if (!fuse_session_exited(se))
		serve_doubt(NULL);
	while (serve_is_telling() && !fuse_session_exited(se))
		serve_sleep(&signals);
	serve_stop();
}

void
serve_end(void)
{
	for (unsigned int i = 0; i < serve.o.n_threads && serve.thread != NULL; i++) {
		fabric_detach(&serve.thread[i].client);
		free(serve.thread[i].request.mem);
		free(serve.thread[i].data);
	}
	free(serve.thread);
	close(serve.event);
}
