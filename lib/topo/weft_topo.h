/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The topology file: one YAML document describes every node and link of a fabric, and each daemon
 * runs the nodes of its own machine. Loading parses and cross-checks everything before it returns,
 * so a topology that exists is consistent: names resolve, every host reaches every GFD, frames fit
 * their links. doc/topology.md lists the keys; reliability.md S16.
 *
 * Words of a topology:
 *
 *   1. A node has a PID and ports; a link joins two ports. A host, GFD or device has one link.
 *   2. A segment is a part of the fabric's addresses with memory behind it; every host sees the
 *      same addresses.
 *   3. A group is memory that belongs together; access of a host or device is a list of groups.
 *   4. A window is a part of a host's own memory that it opens to some others, by UIO.
 *   5. Routes are computed by an engine and proved by a checker that knows none of them.
 *   6. A region is memory that has a name for programs; a client is a user or group whose programs
 *      may attach to a host.
 *   7. A change is another topology of the same fabric: only what its rows in keys.def allow may
 *      differ.
 *
 * What hosts and devices send is no part of it: see weft_load.h.
 *
 * Thread rule for the whole file: a loaded topology is never written again but for
 * weft_load_open(), weft_topo_client_is() and weft_topo_set_memory(), before others see it; any
 * thread may read it until one thread frees it.
 */
#ifndef WEFT_TOPO_H
#define WEFT_TOPO_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_TOPO_BYTES (1u << 20) /**< largest file */
#define WEFT_TOPO_NODES 4095 /**< one for each PID */
#define WEFT_TOPO_LINKS 8192
#define WEFT_TOPO_SWITCH_PORTS 255
#define WEFT_TOPO_NODE_LCORES 16

#define WEFT_TOPO_NAME_ROOM 33 /**< 32 characters and the end */
#define WEFT_TOPO_SERVER_ROOM 65
#define WEFT_TOPO_DEVICE_ROOM 256
#define WEFT_TOPO_SOCKET_ROOM 108 /**< what sockaddr_un holds */
#define WEFT_TOPO_PATH_ROOM 256
#define WEFT_TOPO_TRANSLATIONS 1024 /**< of all agents */
#define WEFT_TOPO_USER_ROOM 65 /**< name of a user or group */
#define WEFT_TOPO_WIRE_ROOM 640 /**< every key of weft_impair.h at its longest */

/** Fabric addresses: segment k begins at base + k segment sizes (fabric.md section 1.2). */
#define WEFT_TOPO_SEGMENT_LOG2 36 /**< least, and where the file gives none */
#define WEFT_TOPO_SEGMENT_LOG2_MAX 43
#define WEFT_TOPO_FAST_BASE (UINT64_C(1) << 40)

struct weft_drt;

/** What computes the routes; doc/topology.md says when each is free of circles. */
enum weft_topo_routing {
	WEFT_TOPO_ROUTING_AUTO,
	WEFT_TOPO_ROUTING_SHORTEST,
	WEFT_TOPO_ROUTING_UPDOWN,
	WEFT_TOPO_ROUTING_DIMENSION,
	WEFT_TOPO_ROUTING_RISING
};

/** Who writes the tables of switches, and gives out the memory of GFDs. */
enum weft_topo_management {
	WEFT_TOPO_MANAGED_BY_FILE,
	/** a fabric manager, by CCI: they start empty, and memory is nobody's until it gives it */
	WEFT_TOPO_MANAGED_BY_FM
};

/** Words of weft_topo_management. */
extern const char *const weft_topo_management_words[];

#define WEFT_TOPO_SEGMENTS 4096
#define WEFT_TOPO_WAYS 256
#define WEFT_TOPO_DECODERS 8 /**< segments that may have memory of one GFD */
#define WEFT_TOPO_GROUPS 64
#define WEFT_TOPO_FM_GROUPS 31 /**< that a command can name (fabric.md section (b), Q4) */
#define WEFT_TOPO_WINDOWS 64 /**< of one host */
#define WEFT_TOPO_BLOCK 4096 /**< unit of groups, windows, regions and shares of segments */
#define WEFT_TOPO_REGIONS 1024 /**< that the file names */
#define WEFT_TOPO_CLIENTS 256 /**< rows of one host */
#define WEFT_TOPO_SHARE_MAX 100
#define WEFT_TOPO_UIO_UNIT 256 /**< bytes; no UIO request crosses a multiple of it */
#define WEFT_TOPO_DIMENSIONS 4
#define WEFT_TOPO_NO_ROUTE 0xFF /**< in weft_topo.route */

enum weft_topo_kind {
	WEFT_TOPO_HOST,
	WEFT_TOPO_SWITCH, /**< PBR switch */
	WEFT_TOPO_GFD,
	WEFT_TOPO_DEVICE, /**< a device that is no GFD */
	WEFT_TOPO_HBR /**< HBR switch: a host's or a PBR port's hierarchy goes on below it */
};

/** "host", "switch", "gfd", "device", "hbr". */
extern const char *const weft_topo_kind_words[];

/** What a port is (fabric.md section 3.1). */
enum weft_topo_role {
	WEFT_TOPO_ROLE_ROOT, /**< of a host */
	WEFT_TOPO_ROLE_DEVICE,
	WEFT_TOPO_ROLE_GFD,
	WEFT_TOPO_ROLE_PBR_USP,
	WEFT_TOPO_ROLE_PBR_DSP, /**< an HBR port unless a GFD is behind it */
	WEFT_TOPO_ROLE_FPORT,
	WEFT_TOPO_ROLE_HBR_USP,
	WEFT_TOPO_ROLE_HBR_DSP
};

/** What opens a port. AUTO leaves the choice to the port ladder. */
enum weft_topo_driver {
	WEFT_TOPO_AUTO,
	WEFT_TOPO_VFIO,
	WEFT_TOPO_AF_XDP,
	WEFT_TOPO_AF_PACKET,
	WEFT_TOPO_MEMIF,
	WEFT_TOPO_RING,
	WEFT_TOPO_VDEV
};

/** What weft_topo_port.device names. */
enum weft_topo_device {
	WEFT_TOPO_NO_DEVICE, /**< nothing named: memif or ring, or the ladder's choice of them */
	WEFT_TOPO_PCI, /**< PCI address "0000:5e:00.0" */
	WEFT_TOPO_NETIF, /**< network interface of the kernel */
	WEFT_TOPO_DEVARGS /**< DPDK virtual device with its arguments, verbatim */
};

/** Nodes by name: list[first .. first + n - 1] of the topology. */
struct weft_topo_names {
	uint32_t first;
	uint16_t n;
	bool is_given;
};

/** How a host translates addresses (weft_ats_atc.h). */
struct weft_topo_ats {
	uint32_t entries; /**< of its cache, for pages of one size: a power of 2, 8..2^20 */
	uint16_t agent; /**< node whom it asks */
	uint8_t prefetch; /**< translations of one request at most, 1..15 */
};

/** Bits of weft_topo_translation.rights. */
enum weft_topo_rights { WEFT_TOPO_R = 1 << 0, WEFT_TOPO_W = 1 << 1 };

/** Pages of a host: addresses from va on stand for memory from pa on. */
struct weft_topo_translation {
	uint64_t va; /**< below 2^52; a multiple of the page, as all of these */
	uint64_t pa; /**< fabric address, all of it in one segment */
	uint64_t size; /**< bytes */
	uint64_t alt_pa; /**< where its pages are moved, and back from; 0: nowhere */
	uint32_t line; /**< of the file that gives its pa */
	uint16_t host; /**< node */
	uint8_t page_log2; /**< 12..30 */
	uint8_t rights; /**< enum weft_topo_rights */
	uint8_t on_demand; /**< 1: a page is there once it was asked for */
};

/** Bits of weft_topo_client.rights. */
enum weft_topo_client_rights { WEFT_TOPO_CLIENT_READ = 1 << 0, WEFT_TOPO_CLIENT_WRITE = 1 << 1 };

#define WEFT_TOPO_NO_ID UINT32_MAX /**< of no user and no group */

/** A row of those who may attach to a host: the first that is about somebody decides. */
struct weft_topo_client {
	bool is_group; /**< all who have the group; otherwise a user */
	bool is_all; /**< every region; otherwise those of the list */
	uint8_t rights; /**< enum weft_topo_client_rights; 0: turned away */
	uint8_t share; /**< weight of each program, 1..WEFT_TOPO_SHARE_MAX */
	uint16_t n_regions;
	uint32_t first_region; /**< attach.list[first_region] and those behind */
	uint32_t id; /**< uid or gid; WEFT_TOPO_NO_ID: a name nobody has looked up: no one */
	uint32_t line; /**< of the file that says who */
	char name[WEFT_TOPO_USER_ROOM]; /**< to be looked up where the host runs; "": id is given */
};

/** Rows of one host. */
struct weft_topo_clients {
	uint32_t first; /**< attach.client[first] and those behind, in order */
	uint16_t n; /**< 0: the file gives none */
};

/** How the retry layers are to work (weft_llr.h); what is not given is the program's choice. */
struct weft_topo_retry {
	uint16_t window; /**< flits that may be out, 8..511; 0 = not given */
	uint16_t ack_every; /**< flits for one Ack, 1..255; 0 = not given */
	uint16_t rx_buffer; /**< flits kept behind a missing one, 1..511; 0 = not given */
	int8_t selective; /**< 1: ask for single flits, 0: go back N; -1 = not given */
};

/** One node. Its ports are port[first_port .. first_port + n_ports - 1] of the topology. */
struct weft_topo_node {
	char name[WEFT_TOPO_NAME_ROOM];
	char server[WEFT_TOPO_SERVER_ROOM]; /**< "" = not given; given for all nodes or for none */
	uint8_t kind; /**< enum weft_topo_kind */
	uint16_t pid; /**< 0..0xFFE */
	uint16_t order; /**< index among the nodes of its kind, in file order */
	uint16_t first_port;
	uint16_t n_ports; /**< exactly 1 for a host, GFD or device, up to 255 for a switch */
	uint16_t n_lcores; /**< 0 = the daemon chooses */
	uint16_t lcore[WEFT_TOPO_NODE_LCORES]; /**< CPU numbers, as written, no duplicates */
	int16_t numa; /**< GFD: NUMA node of its memory, or -1 for the one that serves it */
	uint16_t at[WEFT_TOPO_DIMENSIONS]; /**< switch: coordinates in a mesh */
	uint8_t n_at; /**< 1..4, the same for all that have them; 0 = not given */
	struct weft_topo_clients clients; /**< host */
	uint64_t access; /**< host, device: bit k = may reach group k; others 0 */
	/**
	 * GFD, device: bytes, a multiple of 4 KiB, 4 KiB .. 64 GiB; a device may have none; others
	 * 0
	 */
	uint64_t memory;
	double late_poison; /**< GFD: share of reads whose data turns out bad late, 0..1 */
	uint64_t late_poison_seed; /**< of its draws */
	uint64_t gim; /**< host: bytes of memory that it offers to others, as above; 0: none */
	uint32_t first_window; /**< host: window[first_window] and those behind, in order */
	uint16_t n_windows;
	uint8_t ingress_prefix; /**< host, device: 1 = requests may come in with VendPrefixL0 */
	uint8_t egress_prefix; /**< host, device: 1 = requests with PIF leave with VendPrefixL0 */
	uint8_t is_manager; /**< host: 1 = a fabric manager may send messages in by its port */
	struct weft_topo_uio_rules {
		uint8_t forward; /**< host: 1 = UIO of devices below it goes on to the fabric */
		uint8_t override; /**< host: 1 = in spite of fabric.md section 3.5 */
	} uio;
	struct weft_topo_names vtv; /**< host, device; weft_topo_in_vtv() reads it */
	struct weft_topo_names lav; /**< device; weft_topo_in_lav() reads it */
	bool translates; /**< host: its requests are by virtual addresses, see `ats` */
	struct weft_topo_ats ats;
	uint16_t first_translation; /**< agent: translation[first_translation] and those behind */
	uint16_t n_translations; /**< 0: it is no agent */
};

/** One end of a link. Its number at its node is its index less the node's first_port. */
struct weft_topo_port {
	uint16_t node; /**< index of the node it belongs to */
	uint16_t link; /**< index of the link it ends */
	uint16_t peer; /**< index in port[] of the other end */
	uint16_t mtu; /**< bytes behind the Ethernet header; at least one flit fits */
	uint8_t device_kind; /**< enum weft_topo_device */
	uint8_t role; /**< enum weft_topo_role */
	uint8_t form; /**< enum weft_form of the link, the same at both ends; rxl: PBR */
	uint8_t driver; /**< enum weft_topo_driver; agrees with the device */
	char device[WEFT_TOPO_DEVICE_ROOM]; /**< "" for WEFT_TOPO_NO_DEVICE */
	char socket[WEFT_TOPO_SOCKET_ROOM]; /**< memif socket, the same at both ends; "" = chosen */
	/** What happens to frames sent here: "key=value,..." for weft_impair.h; "" = nothing. */
	char wire[WEFT_TOPO_WIRE_ROOM];
};

/** A link joins port[a] and port[b]. */
struct weft_topo_link {
	uint16_t a;
	uint16_t b;
};

/** IDE; its options are of no meaning when it is off. */
struct weft_topo_ide {
	uint8_t mode; /**< enum weft_ide_mode (weft_ide.h) */
	char key_file[WEFT_TOPO_PATH_ROOM]; /**< "" when it is off and none is given */
	uint8_t pcrc; /**< 1: on; the others likewise */
	uint8_t stop;
	uint8_t poison;
	uint32_t rekey_ms; /**< a key is changed after so long, at least 1 */
	uint64_t rekey_flits; /**< or when it has sealed so many flits, at least 1 */
};

/**
 * A segment of the fabric address space: memory of one GFD, of several that take turns, or of
 * another host (GIM). Its ways are target[first_target .. first_target + (1 << ways_log2) - 1].
 */
struct weft_topo_segment {
	uint64_t base; /**< fabric address */
	/** bytes that lead somewhere, from the base on; each way has an equal share */
	uint64_t size;
	uint32_t first_target;
	uint8_t ways_log2; /**< 0..8, as Intlv */
	uint8_t gran; /**< 0..6, as Gran: 256 << gran bytes go to a way at a time */
	bool is_gim;
};

/** A way of a segment. */
struct weft_topo_target {
	uint16_t node; /**< GFD, device, or host of a GIM segment */
	uint8_t decoder; /**< which of its decoders, 0..7 */
	uint64_t dpa; /**< where the share begins in its memory, multiple of WEFT_TOPO_BLOCK */
};

/** A memory group: number k in the topology is number k in every GFD. */
struct weft_topo_group {
	char name[WEFT_TOPO_NAME_ROOM];
};

/** Memory of a GFD that belongs to a group. No two ranges overlap; what is in none is nobody's. */
struct weft_topo_range {
	uint16_t gfd; /**< node */
	uint8_t group;
	uint64_t base; /**< in the GFD's memory, multiple of WEFT_TOPO_BLOCK */
	uint64_t size; /**< the same, above 0 */
};

/** Memory of a host that some nodes may reach by GIM. No two windows of a host overlap. */
struct weft_topo_window {
	uint16_t host; /**< node */
	struct weft_topo_names nodes; /**< hosts and devices */
	uint64_t base; /**< in the memory that the host offers, multiple of WEFT_TOPO_BLOCK */
	uint64_t size; /**< the same, above 0 */
};

#define WEFT_TOPO_NO_PID 0xFFF
#define WEFT_TOPO_CXL_IO_MAX 127 /**< as WEFT_LINK_IO_ROOM_MAX */
#define WEFT_TOPO_CXL_IO_USUAL 64 /**< where translations or load by UIO need some */

/** A vDSP of a host's switch bound to the vUSP above a device (fabric.md section 3.2). */
struct weft_topo_binding {
	uint16_t host; /**< node */
	uint16_t device; /**< node, a device or an HBR switch */
	uint16_t host_switch; /**< node */
	uint16_t device_switch; /**< node; if that of the host, the binding is of ordinary vPPBs */
	uint16_t pid; /**< of the downstream FPort; WEFT_TOPO_NO_PID at one switch */
};

/** CXL.io packets of each class that an end takes. */
struct weft_topo_cxl_io {
	uint8_t packets; /**< 0..WEFT_TOPO_CXL_IO_MAX; 0 with IDE on */
	bool is_given; /**< by the file: load by UIO may not switch it on */
};

/** The fabric address space. */
struct weft_topo_map {
	uint8_t segment_log2; /**< size of every segment, 36..43 */
	/**
	 * Hosts, PBR switches and GFDs only, and no load by UIO; one segment for each GFD in file
	 * order with all its memory, and every host may reach it, by its own address.
	 */
	bool is_default;
	uint16_t n_segments;
	uint32_t n_targets;
	struct weft_topo_segment *segment;
	struct weft_topo_target *target;
};

/** Who may reach which memory. */
struct weft_topo_access {
	uint8_t management; /**< enum weft_topo_management */
	uint16_t n_groups;
	uint16_t n_ranges;
	uint32_t n_windows;
	struct weft_topo_group *group;
	struct weft_topo_range *range;
	struct weft_topo_window *window;
};

/** Memory with a name for programs: part of a segment of GFDs. */
struct weft_topo_region {
	char name[WEFT_TOPO_NAME_ROOM];
	uint16_t segment;
	bool is_given; /**< by `regions`; otherwise all of a segment */
	uint64_t offset; /**< in the segment */
	uint64_t size;
};

/** Programs: what they open and who they are. */
struct weft_topo_attach {
	uint16_t n_regions;
	uint32_t n_clients;
	uint32_t n_list;
	/** Those that the file names, then every segment of GFDs in order. */
	struct weft_topo_region *region;
	struct weft_topo_client *client;
	uint16_t *list; /**< indexes of regions: what weft_topo_client points to */
};

/** Those of all agents. */
struct weft_topo_translations {
	uint16_t n;
	struct weft_topo_translation *entry; /**< NULL without any */
};

/** A whole fabric. Arrays stand in file order, ports by node and then by link. */
struct weft_topo {
	char fabric[WEFT_TOPO_NAME_ROOM];
	uint8_t mode; /**< enum weft_mode (weft_wire.h) */
	uint8_t isn; /**< enum weft_isn_form (weft_isn.h), never NONE */
	uint8_t routing; /**< enum weft_topo_routing, the one that was taken: never AUTO */
	uint8_t crc_order; /**< enum weft_crc_order (weft_crc.h) */
	struct weft_topo_ide ide;
	uint8_t flits_per_frame; /**< 1..64 and fits every link; 0 = as many as fit */
	struct weft_topo_retry retry;
	struct weft_topo_cxl_io cxl_io;
	uint16_t n_nodes;
	uint16_t n_links;
	uint16_t n_ports; /**< 2 * n_links */
	uint16_t n_hosts;
	uint16_t n_gfds;
	uint16_t n_switches;
	uint16_t n_bindings;
	uint32_t n_list;
	struct weft_topo_map map;
	struct weft_topo_access access;
	struct weft_topo_attach attach;
	struct weft_topo_translations translations;
	struct weft_topo_binding *binding;
	uint16_t *list; /**< n_list node indexes: what weft_topo_names point to */
	struct weft_topo_node *node;
	struct weft_topo_link *link;
	struct weft_topo_port *port;
	/** n_ports: node at the other end; what port[] says, close together */
	uint16_t *neighbour;
	uint16_t *host; /**< n_hosts indexes into node[] */
	uint16_t *gfd; /**< n_gfds indexes into node[] */
	uint8_t *route; /**< n_nodes rows of n_nodes; weft_topo_next_port() reads them */
};

/** Why a topology was refused. */
struct weft_topo_error {
	unsigned int line; /**< 1.. = line of the file; 0 = the file as a whole */
	char text[512]; /**< printable, no newline: "file:line: where: what, expected, got" */
};

/** Built-in fabric for demonstrations: 2 hosts, 2 switches, 2 GFDs, ring links, no server. */
extern const char weft_topo_demo_yaml[];

/** File name to give weft_topo_parse() with weft_topo_demo_yaml. */
#define WEFT_TOPO_DEMO_NAME "<built-in>"

/**
 * Load a topology file.
 *
 * @param out   receives the topology, the caller's to free; NULL on error
 * @param path  file to read, at most WEFT_TOPO_BYTES
 * @param err   filled on error; may be NULL
 * @return 0; -EINVAL for content that is wrong; -EFBIG for a file, list or nesting over its limit;
 *         -ENOMEM; or the error of opening or reading the file
 */
int weft_topo_load(struct weft_topo **out, const char *path, struct weft_topo_error *err);

/**
 * The same from memory.
 *
 * @param name  stands for the file's name in errors
 * @param yaml  @p len bytes, need not end in a zero; not kept
 * @return as weft_topo_load(), without the errors of files
 */
int weft_topo_parse(struct weft_topo **out, const char *name, const char *yaml, size_t len,
	struct weft_topo_error *err);

/** Told of each finding; @p e lives as long as the call. */
typedef void (*weft_topo_finding_fn)(void *arg, const struct weft_topo_error *e);

/**
 * Say what is wrong with a text as for weft_topo_parse(), not only the first: all findings of one
 * step of loading (words, nodes, address space, links, attachment, devices, paths, routes), as
 * later steps build on it; one for a line.
 *
 * @return how many findings; 0 for one that loads
 */
unsigned int weft_topo_check_text(
	const char *name, const char *yaml, size_t len, weft_topo_finding_fn fn, void *arg);

/**
 * Whether a fabric that began as @p now may go on as @p next, as far as its load does not say
 * otherwise (weft_load_check_change()): only routes, segments, groups and rights may differ.
 *
 * @param file  stands for the file's name in errors
 * @param err   filled on -EINVAL, with line 0; may be NULL
 * @return 0, or -EINVAL
 */
int weft_topo_check_change(const struct weft_topo *now, const struct weft_topo *next,
	const char *file, struct weft_topo_error *err);

/**
 * Whether no links wait for each other in a circle while some nodes route by @p now and some by
 * @p next, which differ in nothing else. Whether a mixed way is ever gone is not asked, so that it
 * may refuse a change that would do no harm.
 *
 * @return as above, or -ENOMEM
 */
int weft_topo_check_mixed_routes(const struct weft_topo *now, const struct weft_topo *next,
	const char *file, struct weft_topo_error *err);

/** A copy in *@p out, the caller's to free. 0, or -ENOMEM. */
int weft_topo_copy(struct weft_topo **out, const struct weft_topo *t);

/** Free a topology. NULL is allowed. */
void weft_topo_free(struct weft_topo *t);

/** Index of the node called @p name, or -ENOENT. */
int weft_topo_find(const struct weft_topo *t, const char *name);

/**
 * Nodes this daemon runs: those named, or else those whose server is @p server, or all of them if
 * the file gives no server. A server without a dot also matches the first label of a full
 * host name.
 *
 * @param server  this machine's name; may be NULL when @p names is given or the file has no server
 * @param names   comma-separated node names, or NULL; they win over @p server
 * @param node    room for n_nodes indexes; receives them in file order, each once
 * @param err     filled on error; may be NULL
 * @return how many (at least 1); -ENOENT for an unknown name, or when nothing matches
 */
int weft_topo_select(const struct weft_topo *t, const char *server, const char *names,
	uint16_t *node, struct weft_topo_error *err);

/** Node at the other end of port @p number of node @p node, or -ENOENT if there is no such port. */
int weft_topo_neighbour(const struct weft_topo *t, unsigned int node, unsigned int number);

/** Word of enum weft_topo_routing as in the file; "unknown" out of range. Constant. */
const char *weft_topo_routing_word(unsigned int routing);

/** Whether paths may lead through node @p node: a switch of either kind. */
bool weft_topo_is_transit(const struct weft_topo *t, unsigned int node);

/**
 * Port number of @p node on the way to the node with PID @p dpid. Only switches are passed through.
 *
 * @return 0..254; -1 if @p dpid is nobody's, is the node's own, or cannot be reached
 */
int weft_topo_next_port(const struct weft_topo *t, unsigned int node, uint16_t dpid);

/**
 * Fill the DPID routing table of node @p node: for every node of the fabric the port that
 * weft_topo_next_port() names, and for the FPort PID of every binding that to its switch; all
 * other rows invalid.
 *
 * @param drt  written whole (weft_pbr.h)
 * @return 0, or -EINVAL if there is no such node
 */
int weft_topo_routes(const struct weft_topo *t, unsigned int node, struct weft_drt *drt);

/**
 * Ports that lead to node @p to from everywhere: as weft_topo_next_port() for its PID, in one walk.
 *
 * @param port  room for n_nodes; receives a port number, or -1, for each node
 * @return 0, or -EINVAL if there is no such node
 */
int weft_topo_routes_to(const struct weft_topo *t, unsigned int to, int16_t *port);

enum weft_topo_fault_kind {
	/** a node that is linked cannot be reached, or only through an end */
	WEFT_TOPO_FAULT_NO_ROUTE,
	WEFT_TOPO_FAULT_LOOP, /**< a message would go round for ever */
	/** links would wait for each other: they may stand still for ever */
	WEFT_TOPO_FAULT_DEADLOCK_CYCLE
};

/** What is wrong with routing tables. */
struct weft_topo_fault {
	uint8_t kind; /**< enum weft_topo_fault_kind */
	char text[256]; /**< names the nodes, for a circle in their order */
};

/**
 * A routing table to be judged: port number by which node @p node sends on a message for @p dpid
 * that came in by its port @p in (-1: it began here); -1 for none.
 */
typedef int (*weft_topo_port_fn)(const void *arg, unsigned int node, int in, uint16_t dpid);

/**
 * Prove routing tables: hosts and GFDs reach every node that they are linked with and are reached
 * from it, no message goes round, and no links wait for each other in a circle (fabric.md section
 * 3.3). Loading has done so with the topology's own tables.
 *
 * @param port  called from within, many times
 * @param f     filled on -EINVAL
 * @return 0, -EINVAL for a fault, -ENOMEM
 */
int weft_topo_check_routes(const struct weft_topo *t, weft_topo_port_fn port, const void *arg,
	struct weft_topo_fault *f);

/**
 * Whether @p other is in the VTV of the edge port of node @p node: those that the file names there,
 * or else every host that offers memory or that a GIM segment names, and at a host that offers
 * memory every other host and device.
 */
bool weft_topo_in_vtv(const struct weft_topo *t, unsigned int node, unsigned int other);

/**
 * Whether @p other is in the LAV of the port of device @p node: devices with memory that the file
 * names there, or else all; and devices in whose LAV @p node is, as it answers them.
 */
bool weft_topo_in_lav(const struct weft_topo *t, unsigned int node, unsigned int other);

/**
 * Whether node @p from, a host or device, may ask node @p to by UIO: @p to has memory in a segment
 * that @p from's port decodes. Rights are another question.
 */
bool weft_topo_may_ask(const struct weft_topo *t, unsigned int from, unsigned int to);

/** Flits that fit a frame over the link of port index @p port, 1..64, by both ends' MTU. */
unsigned int weft_topo_port_flits(const struct weft_topo *t, unsigned int port);

/**
 * Flits of the largest frame to send there: flits_per_frame where the file sets it, else what fits.
 */
unsigned int weft_topo_link_flits(const struct weft_topo *t, unsigned int port);

#define WEFT_TOPO_ANY_SPID 0xFFFF

/**
 * The SPID that frames and messages may come in with by port index @p port: the PID of the host,
 * GFD, device or HBR switch at the other end; WEFT_TOPO_ANY_SPID behind a PBR switch, which has
 * checked.
 */
uint16_t weft_topo_port_spid(const struct weft_topo *t, unsigned int port);

/**
 * Largest number of flits a frame may carry between two nodes, there and back.
 *
 * @param host  node index
 * @param gfd   node index
 * @return flits_per_frame where the file sets it, else 1..64; 0 if there is no path
 */
unsigned int weft_topo_path_flits(const struct weft_topo *t, unsigned int host, unsigned int gfd);

/** Address of segment 0: a multiple of the segment size, not below WEFT_TOPO_FAST_BASE. */
static inline uint64_t
weft_topo_fast_base(const struct weft_topo *t)
{
	const uint64_t size = UINT64_C(1) << t->map.segment_log2;

	return size > WEFT_TOPO_FAST_BASE ? size : WEFT_TOPO_FAST_BASE;
}

/**
 * Fabric address at which the first segment with memory of GFD @p gfd_index (index into t->gfd[])
 * begins; 0 if there is none.
 */
uint64_t weft_topo_hpa(const struct weft_topo *t, unsigned int gfd_index);

/**
 * What the agent of @p host answers about an address, before it has moved anything.
 *
 * @param pa  receives the fabric address
 * @return the translation, or NULL if there is none
 */
const struct weft_topo_translation *weft_topo_translate(
	const struct weft_topo *t, unsigned int host, uint64_t va, uint64_t *pa);

/**
 * Index of the region called by the first @p len characters of @p name, or -ENOENT. A segment has
 * the name of its GFD where that has no other, and takes no turns; any other is called segK, K
 * being its number.
 */
int weft_topo_find_region(const struct weft_topo *t, const char *name, size_t len);

/** Somebody whose program asks. */
struct weft_topo_user {
	uint32_t uid, gid;
	const uint32_t *group; /**< further groups; may be NULL where there are none */
	unsigned int n_groups;
};

/**
 * The row of node @p host that decides about @p who: the first that is about him. NULL: there is
 * none.
 */
const struct weft_topo_client *weft_topo_client_of(
	const struct weft_topo *t, unsigned int host, const struct weft_topo_user *who);

/** Whether a row, or NULL for everything, lets region @p region be opened. */
bool weft_topo_client_may_open(
	const struct weft_topo *t, const struct weft_topo_client *c, unsigned int region);

/** Say whom the name of a row stands for. Before anybody else sees the topology. */
static inline void
weft_topo_client_is(struct weft_topo *t, uint32_t client, uint32_t id)
{
	t->attach.client[client].id = id;
}

/** Memory of a GFD that a host has from a fabric manager. */
struct weft_topo_grant {
	uint16_t host, gfd; /**< nodes */
	uint8_t group; /**< below WEFT_TOPO_FM_GROUPS; it is the same memory for all hosts */
	uint64_t base, size; /**< as those of a range */
};

/**
 * Say which memory hosts have, in place of what the file says of groups and access. Before anybody
 * else sees the topology.
 *
 * @return 0; -EINVAL for a node, group or range that cannot be; -E2BIG; -ENOMEM. Then nothing has
 *         changed
 */
int weft_topo_set_memory(struct weft_topo *t, const struct weft_topo_grant *grant, size_t n);

/** Word for rights: "none", "r", "w", "rw". Constant. */
const char *weft_topo_rights_word(unsigned int rights);

WEFT_END_DECLS

#endif /* WEFT_TOPO_H */
