/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A passive monitor of IDE: it sees each sealed flit in the order of sending, counts epochs along,
 * and fails the test if one key and IV ever had two ciphertexts or two MACs (reliability.md, S9).
 * What it saw is kept for the whole program, whatever streams come and go.
 */
#ifndef WEFT_IDE_MONITOR_H
#define WEFT_IDE_MONITOR_H

#include "weft_test.h"

#include "weft_flit.h"
#include "weft_ide.h"

/* --- what was seen --- */

#define WEFT_IDE_SEEN_MAC 255

struct weft_ide_seen {
	uint64_t key, counter;
	uint64_t content; /* hash of the ciphertext, or of the MAC; 0: the place is free */
	uint64_t what; /* flit of the epoch, or WEFT_IDE_SEEN_MAC */
};

static struct {
	struct weft_ide_seen *seen;
	size_t room, n; /* room is a power of two, n at most half of it */
} weft_ide_all;

static inline uint64_t
weft_ide_hash(const void *bytes, size_t n, uint64_t h)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001B3);
	return h | 1;
}

static inline struct weft_ide_seen *
weft_ide_find(uint64_t key, uint64_t counter, uint64_t what)
{
	const uint64_t word[3] = { key, counter, what };
	size_t i = weft_ide_hash(word, sizeof(word), UINT64_C(0xCBF29CE484222325)) >> 1;
	struct weft_ide_seen *s;

	for (;; i++) {
		s = &weft_ide_all.seen[i & (weft_ide_all.room - 1)];
		if (s->content == 0 || (s->key == key && s->counter == counter && s->what == what))
			return s;
	}
}

static inline void
weft_ide_make_room(void)
{
	const size_t was = weft_ide_all.room;
	struct weft_ide_seen *old = weft_ide_all.seen;

	weft_ide_all.room = was == 0 ? 4096 : 2 * was;
	weft_ide_all.seen = calloc(weft_ide_all.room, sizeof(*old));
	assert_non_null(weft_ide_all.seen);
	for (size_t i = 0; i < was; i++)
		if (old[i].content != 0)
			*weft_ide_find(old[i].key, old[i].counter, old[i].what) = old[i];
	free(old);
}

/* Remember @p content. @return false if @p what of this key and counter was another one before */
static inline bool
weft_ide_agrees(uint64_t key, uint64_t counter, uint64_t what, uint64_t content)
{
	struct weft_ide_seen *s;

	if (2 * weft_ide_all.n >= weft_ide_all.room)
		weft_ide_make_room();
	s = weft_ide_find(key, counter, what);
	if (s->content == 0) {
		*s = (struct weft_ide_seen){ key, counter, content, what };
		weft_ide_all.n++;
	}
	return s->content == content;
}

static inline void
weft_ide_note(uint64_t key, uint64_t counter, uint64_t what, uint64_t content)
{
	if (!weft_ide_agrees(key, counter, what, content))
		fail_msg("two %s under counter %llu of one key",
			what == WEFT_IDE_SEEN_MAC ? "MACs" : "ciphertexts",
			(unsigned long long)counter);
}

/* --- a stream --- */

struct weft_ide_monitor {
	uint64_t key, next_key; /* hashes; next_key 0: none waits */
	uint64_t counter;
	uint64_t mac_key, mac_counter; /* of the full epoch whose MAC has not come */
	unsigned int epoch_flits, flits;
	bool is_lopt, after_tmac, is_stopped;
	struct weft_ide_seen last; /* the last protocol flit */
};

static inline uint64_t
weft_ide_key_id(const uint8_t *key)
{
	return weft_ide_hash(key, WEFT_IDE_KEY_LEN, UINT64_C(0xCBF29CE484222325));
}

/** Begin with a stream as it was set up. */
static inline void
weft_ide_monitor_begin(struct weft_ide_monitor *m, enum weft_ide_mode mode,
	enum weft_ide_format format, const uint8_t *key, uint64_t counter)
{
	*m = (struct weft_ide_monitor){ .key = weft_ide_key_id(key),
		.counter = counter,
		.epoch_flits = weft_ide_epoch_flits(mode),
		.is_lopt = format == WEFT_IDE_LOPT };
}

/** The key that the next IDE.Start takes. */
static inline void
weft_ide_monitor_next_key(struct weft_ide_monitor *m, const uint8_t *key)
{
	m->next_key = weft_ide_key_id(key);
}

/* Hash of what is ciphertext in a protocol flit. */
static inline uint64_t
weft_ide_ciphertext(const struct weft_ide_monitor *m, const uint8_t *flit)
{
	const bool is_mac = weft_slot_fmt(flit + WEFT_FLIT_H_OFF) == WEFT_SLOT_FMT_LLCTRL;
	const uint8_t nibble = flit[2] & 0xF0;
	uint64_t h = UINT64_C(0xCBF29CE484222325);

	if (!is_mac) {
		h = weft_ide_hash(&nibble, 1, h);
		h = weft_ide_hash(flit + 3, 13, h);
	}
	if (!m->is_lopt)
		return weft_ide_hash(flit + 16, 224, h);
	h = weft_ide_hash(flit + 16, 106, h);
	h = weft_ide_hash(flit + 128, 112, h);
	return weft_ide_hash(flit + 242, 2, h);
}

static inline void
weft_ide_monitor_mac(uint64_t key, uint64_t counter, const uint8_t *flit)
{
	weft_ide_note(key, counter, WEFT_IDE_SEEN_MAC,
		weft_ide_hash(flit + 4, WEFT_IDE_MAC_LEN, UINT64_C(0xCBF29CE484222325)));
}

static inline void
weft_ide_monitor_protocol(struct weft_ide_monitor *m, const uint8_t *flit)
{
	if (weft_slot_fmt(flit + WEFT_FLIT_H_OFF) == WEFT_SLOT_FMT_LLCTRL)
		weft_ide_monitor_mac(m->mac_key, m->mac_counter, flit);
	m->last = (struct weft_ide_seen){ m->key, m->counter, weft_ide_ciphertext(m, flit),
		m->flits };
	weft_ide_note(m->last.key, m->last.counter, m->last.what, m->last.content);
	if (++m->flits == m->epoch_flits) {
		m->mac_key = m->key;
		m->mac_counter = m->counter++;
		m->flits = 0;
	}
}

/** The next flit, sent for the first time. */
static inline void
weft_ide_monitor_flit(struct weft_ide_monitor *m, const uint8_t *flit)
{
	const bool after_tmac = m->after_tmac;
	const int c = weft_llctrl_get(flit + WEFT_FLIT_H_OFF);

	if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM)
		return;
	m->after_tmac = false;
	if (c == WEFT_LLCTRL_IDE_START && m->next_key != 0) {
		m->key = m->next_key;
		m->next_key = 0;
		m->counter = 1;
		m->is_stopped = false;
	} else if (c == WEFT_LLCTRL_IDE_STOP && after_tmac) {
		m->is_stopped = true;
	} else if (m->is_stopped) {
		return;
	} else if (c == WEFT_LLCTRL_IDE_TMAC) {
		weft_ide_monitor_mac(m->key, m->counter++, flit);
		m->flits = 0;
		m->after_tmac = true;
	} else if (weft_flit_is_protocol(flit)) {
		weft_ide_monitor_protocol(m, flit);
	}
}

/** The last protocol flit, sent again: must be the same ciphertext. */
static inline void
weft_ide_monitor_again(const struct weft_ide_monitor *m, const uint8_t *flit)
{
	assert_true(m->last.content == weft_ide_ciphertext(m, flit));
}

#endif /* WEFT_IDE_MONITOR_H */
