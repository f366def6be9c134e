/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The ladder table of doc/runtime.md, its lines, and the devargs it ends in. Starts no DPDK. */

#include "weft_test.h"

#include "port_priv.h"

#define ROOT .can_packet = true, .can_xdp = true
#define UP .is_up = true

static const struct {
	struct weft_port_spec spec;
	struct port_facts facts;
	enum weft_port_driver driver;
	const char *why;
} rows[] = {
	{ { .pci = "0000:3b:00.0" }, { 0 }, WEFT_PORT_PCI, "a PCI device is named" },
	{ { .netif = "v0" }, { .mtu = 3498, .buffer_len = 4096, UP, ROOT }, WEFT_PORT_AF_XDP,
		"fastest for a kernel interface, MTU 3498" },
	{ { .netif = "v0" }, { .mtu = 3499, .buffer_len = 4096, UP, ROOT }, WEFT_PORT_AF_PACKET,
		"af_xdp needs MTU <= 3498, this is 3499" },
	{ { .netif = "v0" }, { .mtu = 1500, .buffer_len = 4097, UP, ROOT }, WEFT_PORT_AF_PACKET,
		"af_xdp needs buffers of at most 4096 bytes, these are 4097" },
	{ { .netif = "v0" }, { .mtu = 1500, .buffer_len = 4096, UP, .can_packet = true },
		WEFT_PORT_AF_PACKET,
		"af_xdp needs CAP_BPF and CAP_NET_ADMIN outside a user namespace" },
	{ { .netif = "v0", .driver = WEFT_PORT_AF_PACKET }, { .mtu = 1500, UP, ROOT },
		WEFT_PORT_AF_PACKET, "as configured" },
	{ { .socket = "/run/x/s" }, { 0 }, WEFT_PORT_MEMIF, "both ends on this host" },
	{ { .vdev = "net_null0,size=288" }, { 0 }, WEFT_PORT_VDEV, "named by its devargs" },
};

WEFT_TEST(highest_rung_that_holds_is_taken)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		struct weft_port_spec spec = rows[i].spec;
		struct port_choice choice;
		char err[PORT_LINE_MAX] = "";

		spec.name = "p";
		spec.max_flits = 5;
		if (port_choose(&spec, &rows[i].facts, &choice, err, sizeof(err)) != 0)
			fail_msg("row %zu: %s", i, err);
		assert_int_equal(choice.driver, rows[i].driver);
		assert_string_equal(choice.why, rows[i].why);
		/* Only the ladder's own af_xdp may be given up; a configured one is meant. */
		assert_int_equal(choice.may_fall,
			spec.driver == WEFT_PORT_AUTO && choice.driver == WEFT_PORT_AF_XDP);
	}
}

static const struct {
	struct weft_port_spec spec;
	struct port_facts facts;
	int rc;
	const char *line;
} bad_rows[] = {
	{ { .max_flits = 5 }, { 0 }, -EINVAL,
		"port p: names no device (pci, netif, vdev or socket)" },
	{ { .netif = "v", .socket = "/s", .max_flits = 5 }, { 0 }, -EINVAL,
		"port p: names more than one of pci, netif, vdev and socket" },
	{ { .netif = "v" }, { 0 }, -EINVAL, "port p: flits per frame must be 1 to 64, not 0" },
	{ { .netif = "v", .max_flits = 65 }, { 0 }, -EINVAL,
		"port p: flits per frame must be 1 to 64, not 65" },
	{ { .netif = "v", .driver = WEFT_PORT_PCI, .max_flits = 5 }, { 0 }, -EINVAL,
		"port p: driver pci needs \"pci\"" },
	{ { .driver = WEFT_PORT_RING, .max_flits = 5 }, { 0 }, -EINVAL,
		"port p: a ring needs both ends in one process" },
	{ { .netif = "a,b", .max_flits = 5 }, { 0 }, -EINVAL,
		"port p: interface name a,b cannot be handed to DPDK" },
	{ { .netif = "v0", .max_flits = 5 }, { .netif_rc = -ENODEV }, -ENODEV,
		"port p: interface v0: no such interface here (ip link shows them)" },
	{ { .netif = "v0", .max_flits = 35 }, { .mtu = 8977, UP, ROOT }, -EMSGSIZE,
		"port p: MTU of v0 is 8977, but 35 flits per frame need 8978: "
		"ip link set v0 mtu 8978, or at most 34 flits" },
	{ { .netif = "v0", .max_flits = 5 }, { .mtu = 1500, ROOT }, -ENETDOWN,
		"port p: interface v0 is down: ip link set v0 up" },
	{ { .netif = "v0", .max_flits = 5 }, { .mtu = 1500, UP }, -EPERM,
		"port p: no right to open raw sockets on v0: needs CAP_NET_RAW (root, a user "
		"namespace, or setcap cap_net_raw,cap_net_admin+ep)" },
	{ { .netif = "v0", .driver = WEFT_PORT_AF_XDP, .max_flits = 5 }, { .mtu = 3499, UP, ROOT },
		-EMSGSIZE,
		"port p: af_xdp needs an MTU of at most 3498, that of v0 is 3499: "
		"ip link set v0 mtu 3498, or driver af_packet" },
	{ { .netif = "v0", .driver = WEFT_PORT_AF_XDP, .max_flits = 5 },
		{ .mtu = 1500, .buffer_len = 4097, UP, ROOT }, -EMSGSIZE,
		"port p: af_xdp needs buffers of at most 4096 bytes, 5 flits per frame need 4097: "
		"fewer flits, or driver af_packet" },
	{ { .netif = "v0", .max_flits = 5 },
		{ .mtu = 9000, UP, .can_packet = true, .is_group_taken = true }, -EADDRINUSE,
		"port p: the kernel's packet group of this process number on v0 is in use on "
		"another interface: start again, for another number" },
};

WEFT_TEST(what_cannot_be_is_refused_in_a_line)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad_rows); i++) {
		struct weft_port_spec spec = bad_rows[i].spec;
		struct port_choice choice;
		char err[PORT_LINE_MAX] = "";

		spec.name = "p";
		assert_int_equal(port_choose(&spec, &bad_rows[i].facts, &choice, err, sizeof(err)),
			bad_rows[i].rc);
		assert_string_equal(err, bad_rows[i].line);
	}
}

static const struct port_facts no_limit = { .lockable = SIZE_MAX };

WEFT_TEST(devargs_fit_the_frames)
{
	struct weft_port_spec spec = { .name = "p", .netif = "veth1", .max_flits = 35 };
	struct port_devargs args;

	assert_int_equal(port_devargs_write(&args, &spec, &no_limit, WEFT_PORT_AF_PACKET, 4), 0);
	assert_string_equal(args.name, "net_af_packet_weft4");
	assert_string_equal(args.text,
		"net_af_packet_weft4,iface=veth1,framesz=9216,blocksz=36864,framecnt=512");
	assert_int_equal(port_devargs_write(&args, &spec, &no_limit, WEFT_PORT_AF_XDP, 5), 0);
	assert_string_equal(args.text, "net_af_xdp_weft5,iface=veth1");

	spec = (struct weft_port_spec){ .name = "p",
		.socket = "/run/s",
		.max_flits = 15,
		.memif_server = true,
		.memif_id = 3,
		.ring_frames = 1500 };
	assert_int_equal(port_devargs_write(&args, &spec, &no_limit, WEFT_PORT_MEMIF, 6), 0);
	assert_string_equal(args.text, "net_memif_weft6,role=server,id=3,socket=/run/s,"
				       "socket-abstract=no,rsize=11,bsize=4096");

	spec = (struct weft_port_spec){ .name = "p", .vdev = "net_null7,size=288,copy=1" };
	assert_int_equal(port_devargs_write(&args, &spec, &no_limit, WEFT_PORT_VDEV, 7), 0);
	assert_string_equal(args.name, "net_null7");
	assert_string_equal(args.text, spec.vdev);
}

/* For each size: slots hold the kernel's part and the frame, blocks are pages and whole slots. */
WEFT_TEST(af_packet_slots_divide_whole_pages)
{
	struct weft_port_spec spec = { .name = "p", .netif = "v" };

	for (spec.max_flits = 1; spec.max_flits <= 64; spec.max_flits++) {
		struct port_devargs args;
		unsigned int slot, block, count;

		assert_int_equal(
			port_devargs_write(&args, &spec, &no_limit, WEFT_PORT_AF_PACKET, 0), 0);
		assert_int_equal(
			sscanf(strstr(args.text, "framesz="), "framesz=%u,blocksz=%u,framecnt=%u",
				&slot, &block, &count),
			3);
		assert_true(slot >= WEFT_WIRE_FRAME_LEN(spec.max_flits) + 80);
		assert_int_equal(block % slot, 0);
		assert_int_equal(block % 4096, 0);
		assert_int_equal(count % (block / slot), 0);
	}
}

static unsigned int
frames_for(size_t lockable)
{
	const struct weft_port_spec spec = { .name = "p", .netif = "v", .max_flits = 35 };
	const struct port_facts facts = { .lockable = lockable };
	struct port_devargs args;
	unsigned int frames;

	assert_int_equal(port_devargs_write(&args, &spec, &facts, WEFT_PORT_AF_PACKET, 0), 0);
	assert_int_equal(sscanf(strstr(args.text, "framecnt="), "framecnt=%u", &frames), 1);
	return frames;
}

/* Two rings of 9216-byte slots in a quarter of what may still be locked. */
WEFT_TEST(af_packet_rings_keep_to_the_limit_of_locked_memory)
{
	const size_t full = 4 * 2 * 512 * (size_t)9216;

	assert_int_equal(frames_for(full), 512);
	assert_int_equal(frames_for(full - 1), 256);
	assert_int_equal(frames_for(8u << 20), 64);
	assert_int_equal(frames_for(0), 16);
}
