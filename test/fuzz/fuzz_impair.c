/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Settings of a bad wire as text. What is refused changes nothing and says why in a line; what is
 * taken, printed and read again, is the same, and a wire that takes it can be started.
 */

#include "weft_fuzz.h"

#include "weft_impair.h"

#define ERR_ROOM 64

static void
check_line(const char *err, size_t room)
{
	FUZZ_CHECK(memchr(err, '\0', room) != NULL && err[0] != '\0' && strchr(err, '\n') == NULL);
}

static void
check_again(const struct weft_impair_cfg *cfg)
{
	struct weft_impair_cfg again;
	char text[32], err[ERR_ROOM];

	weft_impair_defaults(&again);
	/*
	 * A number may switch on the probability that is read before it: so what differs once more.
	 */
	for (unsigned int i = 0; i < 2 * weft_impair_n_keys; i++) {
		const unsigned int key = i % weft_impair_n_keys;
		char now[32];

		weft_impair_print(cfg, key, text, sizeof(text));
		weft_impair_print(&again, key, now, sizeof(now));
		if (strcmp(text, now) != 0)
			FUZZ_CHECK(weft_impair_parse(&again, weft_impair_keys[key].name, text, err,
					   sizeof(err)) == 0);
	}
	for (unsigned int i = 0; i < weft_impair_n_keys; i++) {
		char now[32];

		weft_impair_print(cfg, i, text, sizeof(text));
		weft_impair_print(&again, i, now, sizeof(now));
		FUZZ_CHECK(strcmp(text, now) == 0);
	}
}

static void
check_wire(const struct weft_impair_cfg *cfg)
{
	struct weft_impair *w = fuzz_alloc(sizeof(*w));
	uint8_t *flits = fuzz_alloc(4 * 256);
	struct weft_impair_fate fate;

	memset(flits, 0, 4 * 256);
	FUZZ_CHECK(weft_impair_init(w, cfg) == 0);
	for (unsigned int i = 0; i < 4; i++) {
		FUZZ_CHECK(weft_impair_flits(w, flits, 4) < 16);
		weft_impair_frame(w, &fate);
		FUZZ_CHECK(fate.copies <= 2 && fate.drop == (fate.copies == 0));
		FUZZ_CHECK(fate.replay_back <= i);
	}
	free(flits);
	free(w);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = fuzz_text(data, len), err[ERR_ROOM];
	struct weft_impair_cfg cfg, was;
	int rc;

	weft_impair_defaults(&cfg);
	was = cfg;
	rc = weft_impair_parse_list(&cfg, text, err, sizeof(err));
	FUZZ_CHECK(rc == 0 || rc == -ENOENT || rc == -EINVAL);
	if (rc != 0) {
		check_line(err, sizeof(err));
		FUZZ_CHECK(memcmp(&cfg, &was, sizeof(cfg)) == 0);
	} else if (weft_impair_check(&cfg, err, sizeof(err)) != 0) {
		check_line(err, sizeof(err));
	} else {
		check_again(&cfg);
		check_wire(&cfg);
	}
	free(text);
	return 0;
}
