/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Fuzz targets without a fuzzer, for any compiler: each file of a folder, and each file cut short,
 * once through a target. What a fuzzer once found stays found. Then DRAWN inputs of up to MOST
 * bytes, drawn from these files and noise; the seed is printed, and WEFT_TEST_SEED=N draws the
 * same.
 *
 *   fuzz_replay TARGET DRAWN MOST FILE_OR_FOLDER...
 */

#include "weft_fuzz.h"

#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

#include "weft_rand.h"

#define FILE_MAX (1u << 20)
#define CUTS 64 /* of a file, about evenly */
#define FILES_MAX 64 /* that inputs are drawn from */

/* WEFT_FUZZ_TARGETS is a list of X(target), from meson.build. */
#define X(target) int weft_fuzz_##target(const uint8_t *data, size_t len);
WEFT_FUZZ_TARGETS
#undef X

static const struct {
	const char *name;
	int (*run)(const uint8_t *data, size_t len);
} targets[] = {
#define X(target) { #target, weft_fuzz_##target },
	WEFT_FUZZ_TARGETS
#undef X
};

static unsigned int n_files;
static struct {
	uint8_t *data;
	size_t len;
} kept[FILES_MAX];

static int
replay_file(unsigned int target, const char *path)
{
	uint8_t *data = fuzz_alloc(FILE_MAX);
	FILE *f = fopen(path, "rb");
	size_t len, step;

	if (f == NULL) {
		perror(path);
		free(data);
		return 1;
	}
	len = fread(data, 1, FILE_MAX, f);
	fclose(f);
	step = len / CUTS + 1;
	fprintf(stderr, "%s\n", path); /* who looks at a crash wants to know */
	targets[target].run(data, len);
	for (size_t cut = 0; cut < len; cut += step)
		targets[target].run(data, cut);
	if (n_files < FILES_MAX) {
		kept[n_files].data = fuzz_copy(data, len);
		kept[n_files].len = len;
	}
	n_files++;
	free(data);
	return 0;
}

static int
replay_path(unsigned int target, const char *path)
{
	struct dirent **entries;
	struct stat st;
	int rc = 0, n;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return replay_file(target, path);
	n = scandir(path, &entries, NULL, alphasort);
	if (n < 0) {
		perror(path);
		return 1;
	}
	for (int i = 0; i < n; i++) {
		char *file;

		if (entries[i]->d_name[0] != '.' &&
			asprintf(&file, "%s/%s", path, entries[i]->d_name) > 0) {
			rc |= replay_file(target, file);
			free(file);
		}
		free(entries[i]);
	}
	free(entries);
	return rc;
}

/* Up to @p room bytes: noise, or of a kept input. @return how many */
static size_t
draw_bytes(struct weft_rand *r, uint8_t *to, size_t room)
{
	const unsigned int n = n_files < FILES_MAX ? n_files : FILES_MAX;
	const unsigned int k = (unsigned int)weft_rand_below(r, n + n / 4 + 1);
	size_t from, len;

	if (k >= n || kept[k].len == 0) {
		len = weft_rand_below(r, (room < 256 ? room : 256) + 1);
		weft_rand_fill(r, to, len);
		return len;
	}
	from = weft_rand_below(r, 4) != 0 ? 0 : weft_rand_below(r, kept[k].len);
	len = kept[k].len - from < room ? kept[k].len - from : room;
	memcpy(to, kept[k].data + from, len);
	return len;
}

/* Begin and length of the word at a random place, or of nothing where there is none. */
static size_t
word_at(struct weft_rand *r, const uint8_t *data, size_t len, size_t *n)
{
	size_t at = weft_rand_below(r, len + 1);

	while (at > 0 && isalnum(data[at - 1]))
		at--;
	for (*n = 0; at + *n < len && *n < 16 && isalnum(data[at + *n]);)
		++*n;
	return at;
}

/* Change, take out or put in some of @p len bytes. @return how many there are now */
static size_t
damage(struct weft_rand *r, uint8_t *data, size_t len, size_t most)
{
	size_t at = weft_rand_below(r, len + 1), n = weft_rand_below(r, 17), more = 0;
	uint8_t other[16];

	n = n < len - at ? n : len - at;
	switch (weft_rand_below(r, 7)) {
	case 0:
		if (at < len)
			data[at] ^= (uint8_t)(1u << weft_rand_below(r, 8));
		return len;
	case 1: weft_rand_fill(r, data + at, n); return len;
	case 2: memset(data + at, weft_rand_below(r, 2) == 0 ? 0 : 0xFF, n); return len;
	case 3: break; /* less */
	case 4:
		n = 0;
		more = draw_bytes(r, other, sizeof(other));
		break;
	default: /* one word in the place of another */
		at = word_at(r, data, len, &more);
		memcpy(other, data + at, more);
		at = word_at(r, data, len, &n);
		break;
	}
	if (len - n + more > most)
		return len;
	memmove(data + at + more, data + at + n, len - at - n);
	memcpy(data + at, other, more);
	return len - n + more;
}

static void
run_drawn(unsigned int target, unsigned long n, size_t most)
{
	uint8_t *data = fuzz_alloc(most);
	const char *given = getenv("WEFT_TEST_SEED");
	const uint64_t seed = given != NULL ? strtoull(given, NULL, 0)
	                                    : (uint64_t)time(NULL) * 1000003u + (uint64_t)clock();
	struct weft_rand r;

	fprintf(stderr, "%s: WEFT_TEST_SEED=%llu\n", targets[target].name,
		(unsigned long long)seed);
	weft_rand_seed(&r, seed);
	if (getenv("WEFT_TEST_AGAIN") != NULL)
		n = (n + 4) / 5;
	for (unsigned long i = 0; i < n; i++) {
		size_t len = draw_bytes(&r, data, most);

		for (uint64_t k = weft_rand_below(&r, 8); k > 0; k--)
			len = damage(&r, data, len, most);
		targets[target].run(data, len);
	}
	free(data);
}

int
main(int argc, char **argv)
{
	unsigned int target = 0;
	int rc = 0;

	while (target < WEFT_ARRAY_SIZE(targets) &&
		(argc < 5 || strcmp(argv[1], targets[target].name) != 0))
		target++;
	if (target == WEFT_ARRAY_SIZE(targets)) {
		fprintf(stderr, "usage: fuzz_replay TARGET DRAWN MOST FILE_OR_FOLDER...; targets:");
		for (target = 0; target < WEFT_ARRAY_SIZE(targets); target++)
			fprintf(stderr, " %s", targets[target].name);
		fprintf(stderr, "\n");
		return 2;
	}
	for (int i = 4; i < argc; i++)
		rc |= replay_path(target, argv[i]);
	run_drawn(target, strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
	for (unsigned int i = 0; i < FILES_MAX; i++)
		free(kept[i].data);
	printf("%u files\n", n_files);
	return n_files == 0 ? 1 : rc;
}
