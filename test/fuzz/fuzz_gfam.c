/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Tables of a GFD, by a script of commands and accesses, against plain arrays that are searched
 * from the text of fabric.md sections 1.6, 1.7, 1.9 and 1.12. A command is done if and only if its
 * rules are kept, and one that is refused has changed nothing. Every access is decided as the
 * arrays say, alone, in a run and by UIO, and the way back leads to where it came from.
 *
 *   bytes 0..5  the device: rows, groups, DMPs, blocks, knobs, media
 *   then        steps: what, and what it needs (step())
 */

#include "weft_fuzz.h"

#include "weft_gfam.h"

#define MB256 (UINT64_C(256) << 20)
#define BLOCKS_MAX 32
#define RUN 24
#define NONE WEFT_GFAM_NO_GROUP

static const uint16_t pids[] = { 0, 1, 2, 0x100, 0xFFE, 0xFFF, 0x1000, 0xFFFF };
#define PIDS WEFT_ARRAY_SIZE(pids)
#define PIDS_GOOD 5 /* that may be a requester's */

struct dmp {
	uint64_t base, len, block;
};

struct region {
	uint64_t base, decode_len, len;
};

struct script {
	struct fuzz_in in;
	struct weft_gfam_cfg cfg;
	struct weft_gfam *t, *before;
	struct dmp dmp[WEFT_GFAM_DMPS];
	uint8_t mgt[WEFT_GFAM_DMPS][BLOCKS_MAX];
	struct region region[WEFT_GFAM_REGIONS];
	uint64_t sat[PIDS];
	uint16_t owner[PIDS];
	struct weft_gfam_decoder gdt[PIDS][WEFT_GFAM_DECODERS];
};

/* --- what an input says --- */

/* A multiple of a power of two, often; any number sometimes. */
static uint64_t
number(struct fuzz_in *in, unsigned int log2)
{
	const uint8_t b = fuzz_u8(in);

	if (b == 0xFF)
		return fuzz_u64(in);
	return ((uint64_t)(b & 0x1F) << log2) + (b & 0x80 ? (uint64_t)fuzz_u8(in) << 6 : 0);
}

/* An address with bits where ways are, too; or one a little below. */
static uint64_t
address(struct fuzz_in *in)
{
	const bool is_below = in->n > 0 && (in->p[0] & 0x40) != 0;
	const uint64_t hpa = number(in, 28), low = fuzz_u8(in);
	const uint64_t off = low << 7 ^ (uint64_t)fuzz_u8(in) << 14;

	return is_below ? hpa - off : hpa + off;
}

/* --- the reference --- */

/* Whether @p len bytes from @p at end by 2^64. */
static bool
fits(uint64_t at, uint64_t len)
{
	return len == 0 || at + (len - 1) >= at;
}

static bool
within(uint64_t at, uint64_t len, uint64_t base, uint64_t room)
{
	return room != 0 && fits(at, len) && at >= base && at + (len - 1) <= base + (room - 1);
}

static bool
overlap(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
	return a_len != 0 && b_len != 0 && a <= b + (b_len - 1) && b <= a + (a_len - 1);
}

static int
dmp_of(const struct script *x, uint64_t dpa)
{
	for (int i = 0; i < x->cfg.dmps; i++)
		if (within(dpa, 1, x->dmp[i].base, x->dmp[i].len))
			return i;
	return -1;
}

static uint8_t
group_of(const struct script *x, uint64_t dpa)
{
	const int i = dmp_of(x, dpa);

	return i < 0 ? NONE : x->mgt[i][(dpa - x->dmp[i].base) / x->dmp[i].block];
}

static bool
any_grouped(const struct script *x, uint64_t base, uint64_t len)
{
	const int i = len == 0 ? -1 : dmp_of(x, base);

	for (uint64_t at = 0; i >= 0 && at < len; at += x->dmp[i].block)
		if (group_of(x, base + at) != NONE)
			return true;
	return false;
}

static bool
is_granted(const struct script *x, int dmp, uint8_t flag)
{
	return (x->cfg.media[dmp].flags & flag) != 0;
}

static bool
dmp_may(const struct script *x, unsigned int i, const struct dmp *d)
{
	const struct dmp *old = &x->dmp[i % WEFT_GFAM_DMPS];

	if (i >= x->cfg.dmps || any_grouped(x, old->base, old->len))
		return false;
	for (unsigned int k = 0; k < WEFT_GFAM_REGIONS; k++)
		if (overlap(x->region[k].base, x->region[k].decode_len, old->base, old->len))
			return false;
	if (d->len == 0)
		return true;
	if (__builtin_popcountll(d->block) != 1 || !(x->cfg.media[i].block_sizes & d->block) ||
		d->base % MB256 != 0 || d->len % MB256 != 0 || !fits(d->base, d->len) ||
		d->base % d->block != 0 || d->len % d->block != 0)
		return false;
	for (unsigned int k = 0; k < x->cfg.dmps; k++)
		if (k != i && overlap(d->base, d->len, x->dmp[k].base, x->dmp[k].len))
			return false;
	return d->len / d->block <= x->cfg.blocks;
}

static bool
region_may(const struct script *x, unsigned int i, const struct region *r, uint64_t block)
{
	const int d = dmp_of(x, r->base);

	if (i >= WEFT_GFAM_REGIONS || any_grouped(x, x->region[i].base, x->region[i].len))
		return false;
	if (r->decode_len == 0)
		return true;
	if (d < 0 || !is_granted(x, d, WEFT_GFAM_DC) || block != x->dmp[d].block ||
		!within(r->base, r->decode_len, x->dmp[d].base, x->dmp[d].len) ||
		r->base % block != 0 || r->decode_len % MB256 != 0 || r->len == 0 ||
		r->len > r->decode_len || r->len % block != 0)
		return false;
	for (unsigned int k = 0; k < WEFT_GFAM_REGIONS; k++)
		if (k != i &&
			overlap(r->base, r->decode_len, x->region[k].base, x->region[k].decode_len))
			return false;
	return true;
}

static bool
blocks_may(const struct script *x, uint64_t dpa, uint64_t len, uint8_t group)
{
	const int d = dmp_of(x, dpa);
	bool in_region = false;

	if (d < 0 || len == 0 || (group >= x->cfg.groups && group != NONE) ||
		(dpa - x->dmp[d].base) % x->dmp[d].block != 0 || len % x->dmp[d].block != 0 ||
		!within(dpa, len, x->dmp[d].base, x->dmp[d].len))
		return false;
	for (unsigned int k = 0; k < WEFT_GFAM_REGIONS; k++)
		in_region |= within(dpa, len, x->region[k].base, x->region[k].len);
	return in_region || !is_granted(x, d, WEFT_GFAM_DC);
}

/* Of the whole set; it ends by 2^64. */
static uint64_t
set_len(const struct weft_gfam_decoder *d)
{
	return d->dpa_len << d->intlv;
}

static bool
decoder_may(const struct script *x, const struct weft_gfam_decoder *d)
{
	const int i = dmp_of(x, d->dpa_base);
	const unsigned __int128 end =
		((unsigned __int128)d->dpa_len << (d->intlv & 15)) + d->hpa_base;

	if (d->intlv > 8 || d->gran > 6 || d->way >= 1u << d->intlv || i < 0 || d->dpa_len == 0 ||
		!within(d->dpa_base, d->dpa_len, x->dmp[i].base, x->dmp[i].len))
		return false;
	if (d->hpa_base % x->dmp[i].block != 0 || d->dpa_base % x->dmp[i].block != 0 ||
		d->dpa_len % x->dmp[i].block != 0 ||
		d->hpa_base % (UINT64_C(256) << d->gran << d->intlv) != 0)
		return false;
	return end <= (unsigned __int128)1 << 64 &&
	       (!d->coherent || is_granted(x, i, WEFT_GFAM_COHERENT));
}

static unsigned int
n_valid(const struct weft_gfam_decoder *row)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < WEFT_GFAM_DECODERS; i++)
		n += row[i].valid;
	return n;
}

/* @p row as it will be; new are those from @p start on. */
static bool
row_may(const struct script *x, const struct weft_gfam_decoder *row, unsigned int start,
	unsigned int n)
{
	for (unsigned int i = start; i < start + n; i++) {
		const struct weft_gfam_decoder *a = &row[i];

		if (a->valid && !decoder_may(x, a))
			return false;
		for (unsigned int k = 0; k < WEFT_GFAM_DECODERS; k++) {
			const struct weft_gfam_decoder *b = &row[k];

			if (k == i || !a->valid || !b->valid || (k > i && k < start + n))
				continue;
			if (overlap(a->dpa_base, a->dpa_len, b->dpa_base, b->dpa_len))
				return false;
			if (!(x->cfg.knobs & WEFT_GFAM_HPA_OVERLAP) &&
				overlap(a->hpa_base, set_len(a), b->hpa_base, set_len(b)))
				return false;
		}
	}
	return true;
}

/* Step 1 of section 1.6. @return whether the decoder holds the address, its way aside */
static bool
cut(const struct weft_gfam_decoder *d, uint64_t hpa, uint64_t *off)
{
	const unsigned int g = 8u + d->gran, n = d->intlv;
	const uint64_t from_base = hpa - d->hpa_base;

	*off = (from_base >> (g + n) << g) | (from_base & (WEFT_BIT64(g) - 1));
	return d->valid && hpa >= d->hpa_base && *off < d->dpa_len;
}

static struct weft_gfam_decision
decide(const struct script *x, unsigned int p, uint64_t hpa, bool write)
{
	struct weft_gfam_decision out = { .group = NONE };
	unsigned int hits = 0, near = 0;
	int i;

	for (unsigned int k = 0; k < WEFT_GFAM_DECODERS; k++) {
		const struct weft_gfam_decoder *d = &x->gdt[p][k];
		uint64_t off;

		if (!cut(d, hpa, &off))
			continue;
		near++;
		if (!(x->cfg.knobs & WEFT_GFAM_ANY_WAY) &&
			(hpa >> (8 + d->gran) & ((1u << d->intlv) - 1)) != d->way)
			continue;
		hits++;
		out.dpa = d->dpa_base + off;
		out.decoder = (uint8_t)k;
	}
	if (hits != 1) {
		out = (struct weft_gfam_decision){ .group = NONE };
		out.result = n_valid(x->gdt[p]) == 0 ? WEFT_GFAM_NO_ROW
		             : hits > 1              ? WEFT_GFAM_SEVERAL
		             : near > 0              ? WEFT_GFAM_WRONG_WAY
		                                     : WEFT_GFAM_NO_HIT;
		return out;
	}
	out.result = WEFT_GFAM_UNGROUPED;
	i = dmp_of(x, out.dpa);
	if (i < 0 || group_of(x, out.dpa) == NONE)
		return out;
	out.dmp = (uint8_t)i;
	out.group = group_of(x, out.dpa);
	if (!(x->sat[p] >> out.group & 1)) {
		out.result = WEFT_GFAM_DENIED;
	} else if (write && is_granted(x, i, WEFT_GFAM_READ_ONLY)) {
		out.result = WEFT_GFAM_NO_WRITE;
	} else {
		out.result = WEFT_GFAM_ALLOWED;
		out.coherent =
			x->gdt[p][out.decoder].coherent && is_granted(x, i, WEFT_GFAM_COHERENT);
	}
	return out;
}

/* Whether exactly one decoder hit. */
static bool
is_decoded(const struct weft_gfam_decision *d)
{
	return d->result == WEFT_GFAM_ALLOWED ||
	       (d->result >= WEFT_GFAM_UNGROUPED && d->result <= WEFT_GFAM_NO_WRITE);
}

/* Section 1.9: what is hit in part, or by two decoders, crosses a limit. */
static struct weft_gfam_decision
decide_uio(const struct script *x, unsigned int p, uint64_t hpa, uint32_t len, bool write)
{
	const struct weft_gfam_decision crosses = { .result = WEFT_GFAM_CROSSES, .group = NONE };
	struct weft_gfam_decision first = decide(x, p, hpa, write), out = first;

	if (!(x->cfg.knobs & WEFT_GFAM_UIO))
		return (struct weft_gfam_decision){ .result = WEFT_GFAM_UIO_OFF, .group = NONE };
	for (uint64_t at = (hpa | 63) + 1; at - hpa < len; at += 64) {
		const struct weft_gfam_decision d = decide(x, p, at, write);

		if (is_decoded(&d) != is_decoded(&first) || d.decoder != first.decoder)
			return crosses;
		if (out.result == WEFT_GFAM_ALLOWED && d.result != WEFT_GFAM_ALLOWED)
			out = d;
	}
	return out;
}

/* --- commands --- */

static void
set_dmp(struct script *x, uint8_t how)
{
	const unsigned int i = how >> 3 & 7;
	const struct dmp d = { number(&x->in, 28), number(&x->in, 28),
		UINT64_C(1) << (fuzz_u8(&x->in) & 63) };
	const int rc = weft_gfam_set_dmp(x->t, i, d.base, d.len, d.block);

	FUZZ_CHECK((rc == 0) == dmp_may(x, i, &d));
	if (rc == 0)
		x->dmp[i] = d.len != 0 ? d : (struct dmp){ 0 };
}

static void
set_region(struct script *x, uint8_t how)
{
	const unsigned int i = (how >> 3) % (WEFT_GFAM_REGIONS + 1);
	const struct region r = { number(&x->in, 28), number(&x->in, 28), number(&x->in, 26) };
	const uint64_t block = UINT64_C(1) << (fuzz_u8(&x->in) & 63);
	const int rc = weft_gfam_set_region(x->t, i, r.base, r.decode_len, r.len, block);

	FUZZ_CHECK((rc == 0) == region_may(x, i, &r, block));
	if (rc == 0)
		x->region[i] = r.decode_len != 0 ? r : (struct region){ 0 };
}

static void
set_blocks(struct script *x)
{
	const uint64_t dpa = number(&x->in, 26), len = number(&x->in, 26);
	const uint8_t group = fuzz_u8(&x->in);
	const int rc = weft_gfam_set_blocks(x->t, dpa, len, group);
	int d;

	FUZZ_CHECK((rc == 0) == blocks_may(x, dpa, len, group));
	if (rc != 0)
		return;
	d = dmp_of(x, dpa);
	for (uint64_t at = 0; at < len; at += x->dmp[d].block)
		x->mgt[d][(dpa + at - x->dmp[d].base) / x->dmp[d].block] = group;
}

static void
set_sat(struct script *x, uint8_t how)
{
	const unsigned int p = (how >> 3) % PIDS;
	const uint64_t vec = how & 0x40 ? fuzz_u64(&x->in) : UINT64_C(1) << (fuzz_u8(&x->in) & 63);
	const int rc = weft_gfam_set_sat(x->t, pids[p], vec);

	FUZZ_CHECK((rc == 0) == (p < PIDS_GOOD && (vec & ~weft_mask64(x->cfg.groups)) == 0));
	if (rc == 0)
		x->sat[p] = vec;
}

static void
set_owner(struct script *x, uint8_t how)
{
	const unsigned int p = (how >> 3) % PIDS, owner = fuzz_u8(&x->in) % PIDS;
	const int rc = weft_gfam_set_owner(x->t, pids[p], pids[owner]);

	FUZZ_CHECK((rc == 0) == (p < PIDS_GOOD && owner < PIDS_GOOD));
	if (rc == 0)
		x->owner[p] = pids[owner];
}

static void
set_gdt(struct script *x, uint8_t how)
{
	struct weft_gfam_decoder d[3] = { { 0 } }, row[WEFT_GFAM_DECODERS];
	const unsigned int p = (how >> 3) % PIDS, n = fuzz_u8(&x->in) % 4;
	const unsigned int start = fuzz_u8(&x->in) % (WEFT_GFAM_DECODERS + 1);
	const uint16_t caller = how & 0x40 ? pids[fuzz_u8(&x->in) % PIDS] : WEFT_GFAM_SELF;
	unsigned int rows = 0;
	bool may = p < PIDS_GOOD && n > 0 && start + n <= WEFT_GFAM_DECODERS &&
	           (caller == WEFT_GFAM_SELF || caller == pids[p] || caller == x->owner[p]);
	int rc;

	memcpy(row, x->gdt[p], sizeof(row));
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t flags = fuzz_u8(&x->in);

		d[i] = (struct weft_gfam_decoder){ number(&x->in, 28), number(&x->in, 26),
			number(&x->in, 26), (flags & 1) == 0, (flags & 2) != 0, flags >> 2 & 0xF,
			flags >> 4 & 7, fuzz_u8(&x->in) };
		if (start + i < WEFT_GFAM_DECODERS)
			row[start + i] =
				d[i].valid ? d[i] : (struct weft_gfam_decoder){ .valid = false };
	}
	rc = weft_gfam_set_gdt(x->t, caller, pids[p], start, d, n);
	for (unsigned int i = 0; i < PIDS; i++)
		rows += i != p && n_valid(x->gdt[i]) > 0;
	may = may && row_may(x, row, start, n) && (n_valid(row) == 0 || rows < x->cfg.rows);
	FUZZ_CHECK((rc == 0) == may);
	if (rc == 0)
		memcpy(x->gdt[p], row, sizeof(row));
}

/* --- accesses --- */

static void
check_decision(const struct weft_gfam_decision *got, const struct weft_gfam_decision *want)
{
	FUZZ_CHECK(got->result == want->result && got->dpa == want->dpa);
	FUZZ_CHECK(got->decoder == want->decoder && got->dmp == want->dmp);
	FUZZ_CHECK(got->group == want->group && got->coherent == want->coherent);
}

/* The decoders of one requester share no byte of the device. */
static void
check_back(const struct script *x, unsigned int p, uint64_t hpa, const struct weft_gfam_decision *d)
{
	struct weft_gfam_decision again;
	uint64_t back = 0;

	if (!is_decoded(d))
		return;
	FUZZ_CHECK(weft_gfam_reverse(x->t, pids[p], d->dpa, &back) == 0);
	FUZZ_CHECK((x->cfg.knobs & WEFT_GFAM_ANY_WAY) || back == hpa);
	again = decide(x, p, back, false);
	if (!(x->cfg.knobs & (WEFT_GFAM_ANY_WAY | WEFT_GFAM_HPA_OVERLAP)))
		FUZZ_CHECK(again.dpa == d->dpa && again.decoder == d->decoder);
}

static void
accesses(struct script *x, uint8_t how)
{
	const unsigned int n = 1 + (how >> 3) % RUN;
	uint16_t spid[RUN];
	uint64_t hpa[RUN];
	bool write[RUN];
	struct weft_gfam_decision got[RUN], one, want;
	const uint64_t base = address(&x->in), stride = UINT64_C(64) << (fuzz_u8(&x->in) & 31);
	const uint8_t who = fuzz_u8(&x->in);

	for (unsigned int i = 0; i < n; i++) {
		spid[i] = pids[(who >> (i & 4)) % PIDS];
		hpa[i] = base + i * stride;
		write[i] = (who >> (i & 7) & 1) != 0;
	}
	weft_gfam_decide_run(x->t, spid, hpa, write, got, n);
	for (unsigned int i = 0; i < n; i++) {
		const unsigned int p = (who >> (i & 4)) % PIDS;

		want = decide(x, p, hpa[i], write[i]);
		check_decision(&got[i], &want);
		weft_gfam_decide(x->t, spid[i], hpa[i], write[i], &one);
		check_decision(&one, &want);
		check_back(x, p, hpa[i], &one);
	}
}

static void
uio(struct script *x, uint8_t how)
{
	const unsigned int p = (how >> 3) % PIDS;
	const uint64_t hpa = address(&x->in) + fuzz_u8(&x->in);
	const uint32_t len = 1 + fuzz_u8(&x->in) * 16u;
	struct weft_gfam_decision got, want = decide_uio(x, p, hpa, len, (how & 0x80) != 0);

	weft_gfam_decide_uio(x->t, pids[p], hpa, len, (how & 0x80) != 0, &got);
	check_decision(&got, &want);
}

/* What can be read back is what was written. */
static void
check_tables(const struct script *x)
{
	for (unsigned int p = 0; p < PIDS; p++) {
		FUZZ_CHECK(weft_gfam_sat(x->t, pids[p]) == x->sat[p]);
		for (unsigned int i = 0; i <= WEFT_GFAM_DECODERS; i++) {
			const struct weft_gfam_decoder none = { 0 }, *d = i < WEFT_GFAM_DECODERS
			                                                          ? &x->gdt[p][i]
			                                                          : &none;
			struct weft_gfam_decoder got;

			weft_gfam_get_gdt(x->t, pids[p], i, &got);
			FUZZ_CHECK(got.valid == d->valid && got.hpa_base == d->hpa_base);
			FUZZ_CHECK(got.dpa_base == d->dpa_base && got.dpa_len == d->dpa_len);
			FUZZ_CHECK(got.coherent == d->coherent && got.intlv == d->intlv);
			FUZZ_CHECK(got.gran == d->gran && got.way == d->way);
		}
	}
	for (uint64_t dpa = 0; dpa < 34 * MB256; dpa += MB256 / 4)
		FUZZ_CHECK(weft_gfam_group(x->t, dpa) == group_of(x, dpa));
}

static void
step(struct script *x)
{
	const uint8_t how = fuzz_u8(&x->in);
	const struct script was = *x;

	weft_gfam_copy(x->before, x->t);
	switch (how & 7) {
	case 0: set_dmp(x, how); break;
	case 1: set_region(x, how); break;
	case 2: set_blocks(x); break;
	case 3: set_sat(x, how); break;
	case 4: set_gdt(x, how); break;
	case 5: set_owner(x, how); break;
	case 6: accesses(x, how); break;
	default: uio(x, how); break;
	}
	/* What was refused, or only looked at. */
	if (memcmp(&was.dmp, &x->dmp, sizeof(was) - offsetof(struct script, dmp)) == 0)
		FUZZ_CHECK(!weft_gfam_differs(x->before, x->t));
}

static void *
take(size_t size)
{
	void *p = aligned_alloc(WEFT_CACHE_LINE, size);

	FUZZ_CHECK(size % WEFT_CACHE_LINE == 0 && p != NULL);
	memset(p, 0xA5, size);
	return p;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct script *x = fuzz_alloc(sizeof(*x));
	uint8_t media;
	size_t size;

	memset(x, 0, sizeof(*x));
	x->in = (struct fuzz_in){ data, len };
	x->cfg.rows = fuzz_u8(&x->in) & 7;
	x->cfg.groups = fuzz_u8(&x->in) & 0x7F;
	x->cfg.dmps = fuzz_u8(&x->in) & 7;
	x->cfg.blocks = fuzz_u8(&x->in) % (BLOCKS_MAX + 1);
	x->cfg.knobs = fuzz_u8(&x->in) & 31;
	media = fuzz_u8(&x->in);
	for (unsigned int i = 0; i < WEFT_GFAM_DMPS; i++) {
		x->cfg.media[i].block_sizes = UINT64_C(0xF) << 26;
		x->cfg.media[i].flags = (uint8_t)((media + i * 0x1C) & 0x7C);
	}
	size = weft_gfam_size(&x->cfg);
	FUZZ_CHECK((size != 0) == (x->cfg.rows != 0 && x->cfg.groups - 1u < 64 &&
					  x->cfg.dmps - 1u < 4 && x->cfg.blocks != 0));
	if (size != 0) {
		x->before = take(size);
		x->t = weft_gfam_init(take(size), &x->cfg);
		FUZZ_CHECK(x->t != NULL);
		memset(x->mgt, NONE, sizeof(x->mgt));
		for (unsigned int p = 0; p < PIDS; p++)
			x->owner[p] = pids[p];
		while (x->in.n > 0)
			step(x);
		check_tables(x);
		free(x->t);
		free(x->before);
	}
	free(x);
	return 0;
}
