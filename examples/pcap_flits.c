/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Print every flit of a capture: its kind, the number it has, what FEC made of it, and whether its
 * CRC holds. Needs the protocol libraries alone, no daemon and no DPDK.
 *
 *   cc pcap_flits.c -o pcap_flits $(pkg-config --cflags --libs weft-proto)
 *   weft-gen --flits 20 --errors burst=4:0.2 --out trace.pcap
 *   ./pcap_flits trace.pcap
 *
 * A capture is pcap or pcapng with Ethernet frames. In rxl mode nothing of a flit says its number:
 * sender and receiver both count, and the sender puts the number and the address of the connection
 * into the CRC. What is left of the CRC when the address is taken away is the number; what is left
 * of a damaged flit is none. In cxl mode the number stands in the header, or what is acknowledged.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft_codec.h>
#include <weft_flit.h>
#include <weft_isn.h>
#include <weft_pcap.h>
#include <weft_verdict.h>
#include <weft_wire.h>

#define LINK_ETHERNET 1

static struct weft_codec codec;
static unsigned long n_frames, n_flits, n_good, n_corrected;

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "pcap_flits: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

static void
fail_at(const char *path, const struct weft_pcap_record *r)
{
	fprintf(stderr, "pcap_flits: %s: byte %llu: %s: expected %s\n", path,
		(unsigned long long)r->offset, r->what, r->expected);
	exit(EXIT_FAILURE);
}

static const char *
kind(const uint8_t *flit)
{
	switch (weft_flit_hdr_get(flit).type) {
	case WEFT_FLIT_IO: return "io";
	case WEFT_FLIT_ALMP: return "almp";
	case WEFT_FLIT_IDLE_NOP: return "nop";
	default:
		return weft_flit_is_empty(flit)      ? "empty"
		       : weft_flit_is_protocol(flit) ? "cachemem"
		                                     : "control";
	}
}

static void
print_flit(const struct weft_wire_hdr *h, unsigned int i, uint8_t *flit)
{
	static const char *const fec_words[] = { "clean", "corrected", "uncorrectable" };
	/* Corrects up to three bytes in place; the CRC is of what comes out. */
	const enum weft_fec_status fec = weft_fec_decode_flit(flit, NULL);
	const uint64_t syndrome = weft_codec_syndrome(&codec, flit, WEFT_CRC_R0_FIRST);
	const struct weft_flit_hdr header = weft_flit_hdr_get(flit);
	int number;

	if (weft_wire_all_zero(flit, 1) != 0) {
		printf("frame %lu flit %u: idle\n", n_frames, i);
		return;
	}
	if (h->mode == WEFT_MODE_RXL)
		number = weft_isn_decode(syndrome ^ weft_isn_address(h->spid, h->dpid, h->vc));
	else
		number = syndrome == 0 ? header.seq : -1;
	n_flits++;
	n_good += number >= 0;
	n_corrected += fec == WEFT_FEC_CORRECTED;
	printf("frame %lu flit %u: %s", n_frames, i, number < 0 ? "?" : kind(flit));
	if (number >= 0 && h->mode == WEFT_MODE_CXL && header.replay_cmd != WEFT_REPLAY_EXPLICIT)
		printf(" seq - %s %d", header.replay_cmd == WEFT_REPLAY_ACK ? "ack" : "nak",
			header.seq);
	else if (number >= 0)
		printf(" seq %d", number);
	else
		printf(" seq ?");
	printf(" fec %s crc %s\n", fec_words[fec], number >= 0 ? "good" : "bad");
}

static void
print_frame(uint8_t *bytes, const struct weft_pcap_packet *p)
{
	struct weft_wire_hdr h;
	enum weft_verdict v;

	n_frames++;
	if (p->link != LINK_ETHERNET) {
		printf("frame %lu: no Ethernet but link type %u\n", n_frames, p->link);
		return;
	}
	v = weft_wire_parse(bytes, p->len, &h);
	if (v != WEFT_OK) {
		printf("frame %lu: %s\n", n_frames, weft_verdict_help(v));
		return;
	}
	if (h.kind == WEFT_WIRE_CONTROL)
		printf("frame %lu: link control, %u bytes\n", n_frames, p->len);
	for (unsigned int i = 0; i < h.n_flits; i++)
		print_flit(&h, i, bytes + WEFT_WIRE_FRAME_LEN(i));
}

static uint8_t *
read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes = NULL;
	long size = -1;

	if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0)
		fail(path, strerror(errno));
	rewind(f);
	bytes = malloc((size_t)size + 1);
	if (bytes == NULL || fread(bytes, 1, (size_t)size, f) != (size_t)size)
		fail(path, "cannot be read whole");
	fclose(f);
	*len = (size_t)size;
	return bytes;
}

int
main(int argc, char **argv)
{
	static struct weft_pcap pcap;
	struct weft_pcap_record record;
	enum weft_pcap_status status;
	uint8_t *bytes;
	size_t len;

	if (argc != 2) {
		fprintf(stderr, "usage: pcap_flits CAPTURE\n");
		return 2;
	}
	/* The fastest that this CPU runs. */
	codec.fec = weft_fec_kernel_find(NULL, weft_cpu_detect());
	codec.crc = weft_crc_kernel_find(NULL, weft_cpu_detect());
	bytes = read_file(argv[1], &len);
	weft_pcap_begin(&pcap);
	while (pcap.offset < len) {
		const uint64_t at = pcap.offset;

		status = weft_pcap_next(&pcap, bytes + at, len - at, &record);
		if (status == WEFT_PCAP_PACKET)
			/* It points into the file that is ours: flits are corrected there. */
			print_frame(bytes + (record.packet.data - bytes), &record.packet);
		else if (status == WEFT_PCAP_MORE)
			fail(argv[1], "ends inside a record");
		else if (status == WEFT_PCAP_BROKEN)
			fail_at(argv[1], &record);
	}
	printf("%lu frames, %lu flits: crc good %lu, bad %lu; fec corrected %lu\n", n_frames,
		n_flits, n_good, n_flits - n_good, n_corrected);
	free(bytes);
	return EXIT_SUCCESS;
}
