/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Fuzz targets without a fuzzer, for any compiler: each file of a folder, and each file cut short,
 * once through a target. What a fuzzer once found stays found.
 *
 *   fuzz_replay TARGET FILE_OR_FOLDER...
 */

#include "weft_fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

#define FILE_MAX (1u << 20)
#define CUTS 64 /* of a file, about evenly */

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

int
main(int argc, char **argv)
{
	unsigned int target = 0;
	int rc = 0;

	while (target < WEFT_ARRAY_SIZE(targets) &&
		(argc < 3 || strcmp(argv[1], targets[target].name) != 0))
		target++;
	if (target == WEFT_ARRAY_SIZE(targets)) {
		fprintf(stderr, "usage: fuzz_replay TARGET FILE_OR_FOLDER...; targets:");
		for (target = 0; target < WEFT_ARRAY_SIZE(targets); target++)
			fprintf(stderr, " %s", targets[target].name);
		fprintf(stderr, "\n");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		rc |= replay_path(target, argv[i]);
	printf("%u files\n", n_files);
	return n_files == 0 ? 1 : rc;
}
