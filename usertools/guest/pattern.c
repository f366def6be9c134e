/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stores a pattern into memory, or loads it and says whether it is there: memory of a file, or a
 * device, that can be mapped. Words of 8 bytes, made of a seed and their place in the pattern. Runs
 * in guests (guest-demo.sh) and beside them.
 *
 *   pattern write|check FILE OFFSET SIZE SEED
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAP_UNIT (UINT64_C(2) << 20) /* devices are mapped in units of it */

static uint64_t
pattern_word(uint64_t seed, uint64_t place)
{
	uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + place;

	x = (x ^ (x >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ (x >> 29);
}

static int
pattern_check(const volatile uint64_t *word, uint64_t size, uint64_t seed)
{
	for (uint64_t i = 0; i < size / sizeof(*word); i++) {
		const uint64_t got = word[i];

		if (got == pattern_word(seed, i))
			continue;
		printf("byte %" PRIu64 " of it: expected %016" PRIx64 ", got %016" PRIx64 "\n",
			i * sizeof(*word), pattern_word(seed, i), got);
		return EXIT_FAILURE;
	}
	printf("%" PRIu64 " bytes are as seed %" PRIu64 " makes them\n", size, seed);
	return EXIT_SUCCESS;
}

static int
pattern_write(volatile uint64_t *word, uint64_t size, uint64_t seed)
{
	for (uint64_t i = 0; i < size / sizeof(*word); i++)
		word[i] = pattern_word(seed, i);
	printf("%" PRIu64 " bytes written, seed %" PRIu64 "\n", size, seed);
	return EXIT_SUCCESS;
}

static int
pattern_fail(const char *file)
{
	printf("%s: %s\n", file, strerror(errno));
	return EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
	uint64_t offset, size, seed, from;
	char *map;
	int fd;

	if (argc != 6 || (strcmp(argv[1], "write") != 0 && strcmp(argv[1], "check") != 0)) {
		puts("usage: pattern write|check FILE OFFSET SIZE SEED");
		return 2;
	}
	offset = strtoull(argv[3], NULL, 0) & ~UINT64_C(7);
	size = strtoull(argv[4], NULL, 0) & ~UINT64_C(7);
	seed = strtoull(argv[5], NULL, 0);
	from = offset & ~(MAP_UNIT - 1);
	fd = open(argv[2], O_RDWR);
	if (fd < 0)
		return pattern_fail(argv[2]);
	map = mmap(NULL, (offset + size - from + MAP_UNIT - 1) & ~(MAP_UNIT - 1),
		PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
	if (map == MAP_FAILED)
		return pattern_fail(argv[2]);
	if (argv[1][0] == 'w')
		return pattern_write((void *)(map + (offset - from)), size, seed);
	return pattern_check((void *)(map + (offset - from)), size, seed);
}
