/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The strings that ask DPDK's drivers for devices of the size our frames need. */

#include "port_priv.h"

#include <errno.h>
#include <stdio.h>

#define DEVARGS_PAGE 4096
#define DEVARGS_AF_PACKET_FRAMES 512
#define DEVARGS_AF_PACKET_FRAMES_MIN 16 /* a block, at the slot sizes that need most */

/*
 * af_packet: a slot of the kernel's ring holds the frame after at most 80 bytes of the kernel's
 * own, and must divide a block, which is whole pages. Slots of 256 bytes more than the flits do.
 */
static int
devargs_af_packet(char *text, size_t len, const char *name, const struct weft_port_spec *spec,
	const struct port_facts *facts)
{
	unsigned int slot = WEFT_WIRE_FLIT_LEN * (spec->max_flits + 1), block = slot;
	unsigned int frames = DEVARGS_AF_PACKET_FRAMES;

	while (block % DEVARGS_PAGE != 0)
		block *= 2;
	/*
	 * Both rings are locked memory, of which an ordinary user has 8 MB: leave some to others.
	 */
	while (frames > DEVARGS_AF_PACKET_FRAMES_MIN &&
		2 * (size_t)frames * slot > facts->lockable / 4)
		frames /= 2;
	return snprintf(text, len, "%s,iface=%s,framesz=%u,blocksz=%u,framecnt=%u", name,
		spec->netif, slot, block, frames);
}

static int
devargs_memif(char *text, size_t len, const char *name, const struct weft_port_spec *spec)
{
	unsigned int frames = spec->ring_frames != 0 ? spec->ring_frames : PORT_RING_FRAMES;
	unsigned int log2_frames = 0;

	while (log2_frames < 14 && (1u << log2_frames) < frames)
		log2_frames++;
	return snprintf(text, len,
		"%s,role=%s,id=%u,socket=%s,socket-abstract=no,rsize=%u,bsize=%u", name,
		spec->memif_server ? "server" : "client", spec->memif_id, spec->socket, log2_frames,
		WEFT_WIRE_FLIT_LEN * (spec->max_flits + 1));
}

static int
devargs_verbatim(struct port_devargs *args, const char *text)
{
	size_t name_len = strcspn(text, ",");

	if (name_len >= sizeof(args->name))
		return -ENAMETOOLONG;
	memcpy(args->name, text, name_len);
	args->name[name_len] = '\0';
	return snprintf(args->text, sizeof(args->text), "%s", text);
}

/* The wire is called after the port, so that telemetry can be asked for it. */
static int
devargs_wire(struct port_devargs *args, const struct weft_port_spec *spec)
{
	if (spec->wire == NULL) {
		args->wire_name[0] = '\0';
		return 0;
	}
	snprintf(args->wire_name, sizeof(args->wire_name), "net_flitwire_%s", spec->name);
	return snprintf(args->wire_text, sizeof(args->wire_text), "%s,port=%s,%s", args->wire_name,
		args->name, spec->wire);
}

int
port_devargs_write(struct port_devargs *args, const struct weft_port_spec *spec,
	const struct port_facts *facts, enum weft_port_driver driver, unsigned int index)
{
	int n = 0;

	/* A virtual device finds its driver by how its name begins. */
	snprintf(args->name, sizeof(args->name), "net_%s_weft%u", weft_port_driver_word(driver),
		index);
	switch (driver) {
	case WEFT_PORT_AF_PACKET:
		n = devargs_af_packet(args->text, sizeof(args->text), args->name, spec, facts);
		break;
	case WEFT_PORT_AF_XDP:
		n = snprintf(
			args->text, sizeof(args->text), "%s,iface=%s", args->name, spec->netif);
		break;
	case WEFT_PORT_MEMIF:
		n = devargs_memif(args->text, sizeof(args->text), args->name, spec);
		break;
	case WEFT_PORT_PCI: n = devargs_verbatim(args, spec->pci); break;
	case WEFT_PORT_VDEV: n = devargs_verbatim(args, spec->vdev); break;
	case WEFT_PORT_AUTO:
	case WEFT_PORT_RING: break;
	}
	if (n < 0 || (size_t)n >= sizeof(args->text))
		return -ENAMETOOLONG;
	n = devargs_wire(args, spec);
	return n < 0 || (size_t)n >= sizeof(args->wire_text) ? -ENAMETOOLONG : 0;
}
