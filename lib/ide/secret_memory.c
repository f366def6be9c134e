/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Memory and random bytes for keys, and the process that holds them. */

#include "weft_secret.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

static size_t
secret_whole_pages(size_t len)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (len + page - 1) / page * page;
}

void *
weft_secret_alloc(size_t len)
{
	const size_t size = secret_whole_pages(len);
	void *mem;

	if (len == 0 || size < len) {
		errno = EINVAL;
		return NULL;
	}
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return NULL;
	if (mlock(mem, size) == 0 && madvise(mem, size, MADV_DONTDUMP) == 0 &&
		madvise(mem, size, MADV_WIPEONFORK) == 0)
		return mem;
	munmap(mem, size);
	return NULL;
}

void
weft_secret_free(void *mem, size_t len)
{
	if (mem == NULL)
		return;
	explicit_bzero(mem, len);
	munmap(mem, secret_whole_pages(len));
}

int
weft_secret_process(void)
{
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return -errno;
	return 0;
}

bool
weft_secret_random(void *arg, uint8_t *out, size_t len)
{
	size_t have = 0;

	(void)arg;
	while (have < len) {
		const ssize_t n = getrandom(out + have, len - have, 0);

		if (n <= 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			memset(out, 0, len);
			return false;
		}
		have += (size_t)n;
	}
	return true;
}
