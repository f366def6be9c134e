/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Management frames. Every packet that comes out of flits is well formed, those put into flits anew
 * come out again the same, a message that is whole is not longer than one may be, and a host is
 * let say no more than it may.
 *
 *   the bytes 2..237 of flits, one after another; what is missing of the last is 0
 */

#include "weft_fuzz.h"

#include "weft_io.h"
#include "weft_management.h"

#define PACKETS_MAX (WEFT_MANAGEMENT_FLITS * WEFT_IO_LEN / 20)

struct heard {
	unsigned int n;
	struct weft_management_packet p[PACKETS_MAX];
};

static struct heard first, second;

static void
hear(void *arg, const struct weft_management_packet *p)
{
	struct heard *h = arg;

	FUZZ_CHECK(p->spid <= 0xFFF && p->dpid <= 0xFFF && h->n < PACKETS_MAX);
	FUZZ_CHECK(p->len > WEFT_CCI_MCTP_HDR && p->len <= sizeof(p->mctp));
	h->p[h->n++] = *p;
}

/* A host that is no manager's asks nobody, and answers nobody but managers, in its own name. */
static void
check_host(const struct weft_management_packet *p)
{
	static struct weft_management_managers managers;
	const bool is_request = weft_management_is_request(p);

	weft_management_add_manager(&managers, 0x101);
	if (weft_management_may_enter(&managers, WEFT_MANAGEMENT_FROM_HOST, 0x102, p))
		FUZZ_CHECK(p->spid == 0x102 && p->dpid == 0x101 && !is_request);
	if (weft_management_may_leave(&managers, WEFT_MANAGEMENT_FROM_HOST, p))
		FUZZ_CHECK(p->spid == 0x101 && is_request);
	if (weft_management_is_asked(&managers, 0x102, p))
		FUZZ_CHECK(p->spid == 0x101 && p->dpid == 0x102 && is_request);
}

static void
check_messages(void)
{
	static struct weft_management_rx rx;

	memset(&rx, 0, sizeof(rx));
	for (unsigned int i = 0; i < first.n; i++) {
		const struct weft_cci_mctp_rx *m = weft_management_take(&rx, 1, &first.p[i]);

		check_host(&first.p[i]);
		FUZZ_CHECK(m == NULL || (m->len >= 1 && m->len <= sizeof(m->message)));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint64_t no_number[WEFT_MANAGEMENT_FLITS];
	const struct weft_codec codec = { &weft_fec_kernels[weft_fec_n_kernels - 1],
		&weft_crc_kernels[weft_crc_n_kernels - 1] };
	const size_t all = (len + WEFT_IO_LEN - 1) / WEFT_IO_LEN;
	const unsigned int n =
		all < WEFT_MANAGEMENT_FLITS ? (unsigned int)all : WEFT_MANAGEMENT_FLITS;
	uint8_t *flits = fuzz_alloc((size_t)n * WEFT_FLIT_LEN), *flit[WEFT_MANAGEMENT_FLITS];
	enum weft_verdict v;

	memset(flits, 0, (size_t)n * WEFT_FLIT_LEN);
	for (unsigned int i = 0; i < n; i++) {
		const size_t at = (size_t)i * WEFT_IO_LEN;

		flit[i] = flits + (size_t)i * WEFT_FLIT_LEN;
		flit[i][0] = WEFT_FLIT_IO << 6;
		memcpy(flit[i] + WEFT_IO_OFF, data + at,
			len - at < WEFT_IO_LEN ? len - at : WEFT_IO_LEN);
	}
	weft_codec_protect(&codec, flit, n, WEFT_CRC_R0_FIRST, no_number);
	first.n = 0;
	v = weft_management_get(flits, n, &codec, WEFT_CRC_R0_FIRST, hear, &first);
	FUZZ_CHECK(v == WEFT_OK || v == WEFT_DROP_IO_STREAM || v == WEFT_DROP_WRONG_CLASS);
	free(flits);
	check_messages();
	second.n = 0;
	for (unsigned int i = 0, used; i < first.n;) {
		flits = fuzz_alloc((size_t)WEFT_MANAGEMENT_FLITS * WEFT_FLIT_LEN);
		i += weft_management_put(flits, WEFT_MANAGEMENT_FLITS, &first.p[i], first.n - i,
			&codec, WEFT_CRC_R0_FIRST, &used);
		FUZZ_CHECK(used >= 1 && used <= WEFT_MANAGEMENT_FLITS);
		FUZZ_CHECK(weft_management_get(flits, used, &codec, WEFT_CRC_R0_FIRST, hear,
				   &second) == WEFT_OK);
		free(flits);
	}
	FUZZ_CHECK(first.n == second.n);
	for (unsigned int i = 0; i < first.n; i++)
		FUZZ_CHECK(memcmp(&first.p[i], &second.p[i], sizeof(first.p[i])) == 0);
	return 0;
}
