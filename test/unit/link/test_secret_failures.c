/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where the kernel or libcrypto fails there is no key: none that may be swapped out or dumped, none
 * that is half derived, and no random bytes that are none. Each call fails in its turn.
 */

#include "weft_fail.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft_derive.h"
#include "weft_secret.h"

WEFT_FAIL(void *, mmap64, (void *at, size_t len, int prot, int flags, int fd, off_t off),
	(at, len, prot, flags, fd, off), MAP_FAILED)
WEFT_FAIL(int, mlock, (const void *at, size_t len), (at, len), -1)
WEFT_FAIL(int, madvise, (void *at, size_t len, int advice), (at, len, advice), -1)
WEFT_FAIL(int, setrlimit64, (unsigned int what, const struct rlimit *r), (what, r), -1)
WEFT_FAIL(int, prctl,
	(int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d),
	(what, a, b, c, d), -1)
WEFT_FAIL(int, fstat64, (int fd, struct stat *st), (fd, st), -1)
WEFT_FAIL(EVP_KDF *, EVP_KDF_fetch, (OSSL_LIB_CTX * lib, const char *name, const char *props),
	(lib, name, props), NULL)
WEFT_FAIL(EVP_KDF_CTX *, EVP_KDF_CTX_new, (EVP_KDF * kdf), (kdf), NULL)
WEFT_FAIL(int, EVP_KDF_derive,
	(EVP_KDF_CTX * ctx, unsigned char *key, size_t len, const OSSL_PARAM *params),
	(ctx, key, len, params), 0)
WEFT_FAIL(unsigned char *, EVP_Q_mac,
	(OSSL_LIB_CTX * lib, const char *name, const char *props, const char *sub,
		const OSSL_PARAM *params, const void *key, size_t key_len,
		const unsigned char *data, size_t data_len, unsigned char *out, size_t room,
		size_t *out_len),
	(lib, name, props, sub, params, key, key_len, data, data_len, out, room, out_len), NULL)

/* Bytes come in pieces, as they do for more than 256 and where a signal comes between. */
static unsigned int pieces;
ssize_t __real_getrandom(void *out, size_t len, unsigned int flags);
ssize_t __wrap_getrandom(void *out, size_t len, unsigned int flags);

ssize_t
__wrap_getrandom(void *out, size_t len, unsigned int flags)
{
	if (weft_fail_now("getrandom"))
		return -1;
	pieces++;
	return __real_getrandom(out, len < 7 ? len : 7, flags);
}

static char dir[] = "/tmp/weft-test-fail-XXXXXX";
static char path[64];
static struct weft_psk *psk;

static bool
no_memory(const char *name, int error, unsigned int nth)
{
	void *mem;
	bool failed;

	weft_fail_set(name, error, nth);
	mem = weft_secret_alloc(100);
	failed = weft_fail_end();
	assert_int_equal(mem == NULL, failed);
	weft_secret_free(mem, 100);
	return failed;
}

WEFT_TEST(memory_that_is_not_safe_is_not_given)
{
	weft_fail_each("mmap64", ENOMEM, no_memory);
	weft_fail_each("mlock", EPERM, no_memory);
	weft_fail_each("madvise", EINVAL, no_memory);
}

static bool
no_key_file(const char *name, int error, unsigned int nth)
{
	struct weft_psk *got;
	char err[256] = "", want[128];
	bool failed;
	int e;

	weft_fail_set(name, error, nth);
	got = weft_psk_load(path, err, sizeof(err));
	e = errno;
	failed = weft_fail_end();
	assert_int_equal(got == NULL, failed);
	weft_psk_free(got);
	if (!failed)
		return false;
	assert_int_equal(e, error);
	snprintf(want, sizeof(want), "key file %s: ", path);
	if (strncmp(err, want, strlen(want)) != 0 || strstr(err, strerror(error)) == NULL ||
		strchr(err, '\n') != NULL)
		fail_msg("said: %s", err);
	return true;
}

WEFT_TEST(a_key_file_says_why_it_is_not_taken)
{
	weft_fail_each("fstat64", EIO, no_key_file);
	weft_fail_each("mlock", ENOMEM, no_key_file);
}

static bool
no_lowering(const char *name, int error, unsigned int nth)
{
	int rc;

	weft_fail_set(name, error, nth);
	rc = weft_secret_process();
	assert_int_equal(rc, atomic_load(&weft_fail.hit) ? -error : 0);
	return weft_fail_end();
}

WEFT_TEST(a_process_that_can_be_dumped_is_told)
{
	weft_fail_each("setrlimit64", EPERM, no_lowering);
	weft_fail_each("prctl", EINVAL, no_lowering);
}

WEFT_TEST(random_bytes_come_in_pieces_or_not_at_all)
{
	static const uint8_t zeros[40];
	uint8_t out[40];

	pieces = 0;
	assert_true(weft_secret_random(NULL, out, sizeof(out)));
	assert_int_equal(pieces, 6);
	assert_memory_not_equal(out + 33, zeros, 7);
	/* A signal between two pieces costs nothing; any other failure costs all of them. */
	weft_fail_set("getrandom", EINTR, 3);
	assert_true(weft_secret_random(NULL, out, sizeof(out)));
	assert_true(weft_fail_end());
	weft_fail_set("getrandom", EIO, 3);
	assert_false(weft_secret_random(NULL, out, sizeof(out)));
	assert_true(weft_fail_end());
	assert_memory_equal(out, zeros, sizeof(out));
}

static const struct weft_derive_domain domain = { .initiator = 0x101, .responder = 0x200 };
static const struct weft_session_transcript deal = { .session = 7 };

static bool
no_key(const char *name, int error, unsigned int nth)
{
	static const uint8_t zeros[WEFT_TRAFFIC_KEY_LEN];
	uint8_t key[WEFT_TRAFFIC_KEY_LEN];
	bool good, failed;

	memset(key, 0xA5, sizeof(key));
	weft_fail_set(name, error, nth);
	good = weft_derive_key(psk, &domain, &deal, true, 0, key);
	failed = weft_fail_end();
	assert_int_equal(good, !failed);
	if (failed)
		assert_memory_equal(key, zeros, sizeof(key));
	return failed;
}

/* Both keys, or neither: what was there before stays. */
static bool
no_control_keys(const char *name, int error, unsigned int nth)
{
	struct weft_control_keys keys, before;
	bool good, failed;

	memset(&keys, 0xA5, sizeof(keys));
	before = keys;
	weft_fail_set(name, error, nth);
	good = weft_derive_control_keys(psk, &domain, &deal, &keys);
	failed = weft_fail_end();
	assert_int_equal(good, !failed);
	assert_int_equal(memcmp(&keys, &before, sizeof(keys)) == 0, failed);
	return failed;
}

static bool
no_mac(const char *name, int error, unsigned int nth)
{
	const struct weft_control_keys keys = { 0 };
	uint8_t mac[WEFT_CONTROL_MAC_LEN], before[WEFT_CONTROL_MAC_LEN];
	bool good, failed;

	memset(mac, 0xA5, sizeof(mac));
	memcpy(before, mac, sizeof(mac));
	weft_fail_set(name, error, nth);
	good = weft_control_mac(&keys, true, (const uint8_t *)"x", 1, mac);
	failed = weft_fail_end();
	assert_int_equal(good, !failed);
	assert_int_equal(memcmp(mac, before, sizeof(mac)) == 0, failed);
	return failed;
}

WEFT_TEST(what_cannot_be_derived_is_no_key)
{
	static const char *const calls[] = { "EVP_KDF_fetch", "EVP_KDF_CTX_new", "EVP_KDF_derive" };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(calls); i++) {
		weft_fail_each(calls[i], 0, no_key);
		weft_fail_each(calls[i], 0, no_control_keys);
	}
	weft_fail_each("EVP_Q_mac", 0, no_mac);
}

static int
begin(void **state)
{
	char err[256];
	int fd;

	(void)state;
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/key", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || dprintf(fd, "%064x\n", 12345) < 0)
		return -1;
	close(fd);
	psk = weft_psk_load(path, err, sizeof(err));
	return psk == NULL;
}

static int
end(void **state)
{
	(void)state;
	weft_psk_free(psk);
	unlink(path);
	return rmdir(dir);
}

WEFT_TEST_AROUND(begin, end)
