/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * AES-256-GCM by intel-ipsec-mb's direct calls; no other file includes its header. The key stream
 * comes from a GCM pass without AAD whose hash is thrown away, because the library has no direct
 * call for counter mode alone.
 */

#include "ide_priv.h"

#include <intel-ipsec-mb.h>

#include <stdlib.h>

#include "weft_cpu.h"
#include "weft_ide_direct.h"

struct weft_ide_lib {
	IMB_MGR *mgr;
	const char *kernel;
	const struct ide_pass_kernel *pass;
};

struct ide_gcm {
	struct gcm_key_data key;
	struct gcm_context_data stream;
	const struct weft_ide_lib *lib;
};

struct weft_ide_direct {
	struct ide_gcm gcm;
};

static_assert(_Alignof(struct ide_gcm) <= WEFT_CACHE_LINE, "streams are aligned to 64 bytes");

/* A set of code paths: what Weft's features must allow, what the library must have found. */
struct gcm_path {
	const char *name;
	uint32_t needs;
	uint64_t needs_imb;
	uint64_t flags;
	void (*init)(IMB_MGR *mgr);
};

/*
 * Best first. The library takes VAES by itself within AVX-512 if it sees GFNI too, and keeping GFNI
 * from it is the one way to keep VAES from it.
 */
static const struct gcm_path paths[] = {
	{ "avx512-vaes", WEFT_CPU_AVX512 | WEFT_CPU_VPCLMUL | WEFT_CPU_GFNI, IMB_CPUFLAGS_AVX512_T2,
		0, init_mb_mgr_avx512 },
	{ "avx512", WEFT_CPU_AVX512 | WEFT_CPU_PCLMUL, IMB_CPUFLAGS_AVX512, IMB_FLAG_GFNI_OFF,
		init_mb_mgr_avx512 },
	{ "avx2", WEFT_CPU_AVX2 | WEFT_CPU_PCLMUL, IMB_CPUFLAGS_AVX2, IMB_FLAG_GFNI_OFF,
		init_mb_mgr_avx2 },
	{ "sse", 0, IMB_CPUFLAGS_SSE, IMB_FLAG_GFNI_OFF, init_mb_mgr_sse },
};

/* A manager on @p path, or NULL if the CPU lacks it or the library's self-test fails. */
static IMB_MGR *
gcm_open_path(const struct gcm_path *path)
{
	const uint64_t self_test = IMB_FEATURE_SELF_TEST | IMB_FEATURE_SELF_TEST_PASS;
	IMB_MGR *mgr = alloc_mb_mgr(path->flags);

	if (mgr == NULL)
		return NULL;
	if ((mgr->features & path->needs_imb) == path->needs_imb) {
		path->init(mgr);
		if (imb_get_errno(mgr) == 0 && (mgr->features & self_test) != IMB_FEATURE_SELF_TEST)
			return mgr;
	}
	free_mb_mgr(mgr);
	return NULL;
}

/* Take the first kernel that may run and passes its test, or none. */
static void
gcm_find_pass(struct weft_ide_lib *lib, uint32_t features)
{
	const bool has_aes = (lib->mgr->features & IMB_FEATURE_AESNI) != 0;
	const bool has_vaes = (lib->mgr->features & IMB_FEATURE_VAES) != 0;

	for (unsigned int i = 0; i < ide_pass_n_kernels; i++) {
		lib->pass = &ide_pass_kernels[i];
		if (weft_kernel_usable(&lib->pass->k, features) &&
			(lib->pass->needs_vaes ? has_vaes : has_aes) && ide_pass_agrees(lib))
			return;
	}
	lib->pass = NULL;
}

struct weft_ide_lib *
weft_ide_lib_open(uint32_t features)
{
	struct weft_ide_lib *lib = malloc(sizeof(*lib));

	if (lib == NULL)
		return NULL;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(paths); i++) {
		if ((paths[i].needs & ~features) != 0)
			continue;
		lib->mgr = gcm_open_path(&paths[i]);
		lib->kernel = paths[i].name;
		if (lib->mgr == NULL)
			continue;
		gcm_find_pass(lib, features);
		return lib;
	}
	free(lib);
	return NULL;
}

void
weft_ide_lib_close(struct weft_ide_lib *lib)
{
	if (lib == NULL)
		return;
	free_mb_mgr(lib->mgr);
	free(lib);
}

const char *
weft_ide_lib_kernel(const struct weft_ide_lib *lib)
{
	return lib->kernel;
}

const char *
weft_ide_lib_run_kernel(const struct weft_ide_lib *lib)
{
	return lib->pass == NULL ? "none" : lib->pass->k.name;
}

const struct ide_pass_kernel *
ide_lib_pass(const struct weft_ide_lib *lib)
{
	return lib->pass;
}

size_t
ide_gcm_size(void)
{
	return sizeof(struct ide_gcm);
}

void
ide_gcm_init(struct ide_gcm *g, const struct weft_ide_lib *lib, const uint8_t *key)
{
	g->lib = lib;
	IMB_AES256_GCM_PRE(lib->mgr, key, &g->key);
}

const uint8_t *
ide_gcm_schedule(const struct ide_gcm *g)
{
	return g->key.expanded_keys;
}

void
ide_gcm_start(struct ide_gcm *g, const uint8_t *iv)
{
	IMB_AES256_GCM_INIT(g->lib->mgr, &g->key, &g->stream, iv, iv, 0);
}

void
ide_gcm_xor(struct ide_gcm *g, uint8_t *dst, const uint8_t *src, size_t len)
{
	IMB_AES256_GCM_ENC_UPDATE(g->lib->mgr, &g->key, &g->stream, dst, src, len);
}

void
ide_gcm_tag(struct ide_gcm *g, const uint8_t *iv, const uint8_t *aad, size_t aad_len, uint8_t *text,
	size_t len, uint8_t *tag)
{
	IMB_AES256_GCM_ENC(g->lib->mgr, &g->key, &g->stream, text, text, len, iv, aad, aad_len, tag,
		IDE_TAG_LEN);
}

size_t
weft_ide_direct_size(void)
{
	return sizeof(struct weft_ide_direct);
}

void
weft_ide_direct_init(struct weft_ide_direct *d, const struct weft_ide_lib *lib, const uint8_t *key)
{
	ide_gcm_init(&d->gcm, lib, key);
}

void
weft_ide_direct_ivs(const struct weft_ide_messages *m)
{
	for (unsigned int i = 0; i < m->n; i++) {
		memset(m->iv[i], 0, sizeof(m->iv[i]));
		m->iv[i][0] = 0x80;
		weft_put_be64(m->iv[i] + 4, i + 1);
	}
}

void
weft_ide_direct_seal(struct weft_ide_direct *d, const struct weft_ide_messages *m)
{
	struct ide_gcm *g = &d->gcm;

	for (unsigned int i = 0; i < m->n; i++) {
		uint8_t *text = m->text + i * m->len;

		IMB_AES256_GCM_ENC(g->lib->mgr, &g->key, &g->stream, text, text, m->len, m->iv[i],
			m->aad, m->aad_len, m->tag[i], IDE_TAG_LEN);
	}
}

void
weft_ide_direct_open(struct weft_ide_direct *d, const struct weft_ide_messages *m)
{
	struct ide_gcm *g = &d->gcm;

	for (unsigned int i = 0; i < m->n; i++) {
		uint8_t *text = m->text + i * m->len;

		IMB_AES256_GCM_DEC(g->lib->mgr, &g->key, &g->stream, text, text, m->len, m->iv[i],
			m->aad, m->aad_len, m->tag[i], IDE_TAG_LEN);
	}
}
