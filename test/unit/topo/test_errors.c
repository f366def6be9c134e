/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Every mistake is refused with the file, the exact line, where it is, what was expected and what
 * was found. Each row replaces one line of a good file; nothing else differs.
 */

#include "topo_test.h"

static const char *const good[] = {
	"fabric: lab", /* 1 */
	"defaults: {mtu: 1500}", /* 2 */
	"ide: {mode: off}", /* 3 */
	"nodes:", /* 4 */
	"  - {name: h0, kind: host, pid: 0x101, server: lab1}", /* 5 */
	"  - {name: s0, kind: switch, pid: 0x010, server: lab1}", /* 6 */
	"  - {name: g0, kind: gfd, pid: 0x200, server: lab1, memory: 8K}", /* 7 */
	"links:", /* 8 */
	"  - {a: h0, b: s0}", /* 9 */
	"  - {a: s0, b: g0}", /* 10 */
};

/* A row of the host's clients. */
#define HOST_ROW(keys, text)                                                                       \
	{                                                                                          \
		5,                                                                                 \
			"  - {name: h0, kind: host, pid: 1, server: lab1, clients: [\n    {" keys  \
			"}]}",                                                                     \
			6, "nodes[0].clients[0]" text                                              \
	}

struct error_row {
	unsigned int replaced; /* line of the good file */
	const char *by;
	unsigned int line; /* of the error */
	const char *text; /* part of it, behind "lab.yaml:LINE: " */
};

static const struct error_row rows[] = {
	/* YAML itself */
	{ 2, "defaults: {mtu: 1500", 3, "not YAML, expected a topology, got: did not find" },
	{ 2, "\tdefaults: {}", 2, "not YAML" },
	{ 4, "nodes: \x01", 4, "not YAML, expected a topology, got: control characters" },
	{ 4, "nodes: \xff", 4, "not YAML" },
	{ 1, "fabric: lab\n---", 2, "second document" },
	{ 10, "  - {a: s0, b: g0}\n---\nfabric: x", 11, "second document" },
	{ 1, "fabric: &x lab", 1, "anchors and aliases are not used here" },
	{ 1, "fabric: *x", 1, "anchors and aliases are not used here" },
	{ 1, "fabric: !!str lab", 1, "tags are not used here" },
	{ 1, "fabric: \"l\\0b\"", 1, "zero byte in a value" },
	{ 2, "? [a]\n: b", 2, "bad key, expected a word, got a collection" },
	{ 2, "defaults:\n  mtu:\n    [[[[[[[1]]]]]]]", 4, "nested too deep, expected at most 8" },

	/* keys */
	{ 2, "default: {mtu: 1500}", 2,
		"unknown key, expected "
		"fabric|mode|routing|management|defaults|ide|segment_size|segments|groups|regions|"
		"bindings|"
		"nodes|links|workloads, got "
		"\"default\"" },
	{ 6, "  - {name: s0, kind: switch,\n     pid: 0x010, sever: lab1}", 7,
		"nodes[1]: unknown key, expected name|kind|server|pid|lcores|memory|"
		"late_poison|late_poison_seed|socket|at|access|clients|gim|windows|vtv|lav|ingress_"
		"prefix|"
		"egress_prefix|forward|override|manager|ats|translations, got \"sever\"" },
	{ 5, "  - {name: h0, kind: host, pid: 1, server: lab1,\n     traffic: {line: 1}}", 6,
		"nodes[0].traffic: load moved to the list \"workloads\": - {on: h0, kind: mem, "
		"...}" },
	{ 5, "  - {traffic: {}, name: h0, kind: host, pid: 1, server: lab1}", 5,
		"nodes[0].traffic: load moved to the list \"workloads\": - {on: NODE, kind: mem, "
		"...}" },
	{ 5, "  - {name: h0, kind: host, pid: 1, server: lab1, uio: {}}", 5,
		"nodes[0].uio: load moved to the list \"workloads\": - {on: h0, kind: uio, ...}" },
	{ 5, "  - {name: h0, kind: host, pid: 1, server: lab1, transfers: []}", 5,
		"nodes[0].transfers: load moved to the list \"workloads\": - {on: h0, kind: "
		"transfer, transfers: [...]}" },
	{ 5, "  - {name: h0, kind: host, pid: 1, server: lab1, change: {}}", 5,
		"nodes[0].change: load moved to the list \"workloads\": - {on: h0, kind: move, "
		"...}" },
	{ 9, "  - {a: h0, c: s0}", 9, "links[0]: unknown key" },
	{ 9, "  - {a: h0, b: s0, a_port: {pcie: 1}}", 9, "links[0].a_port: unknown key" },
	{ 3, "ide: {mode: off, key: x}", 3, "ide: unknown key, expected mode|key_file" },
	{ 2, "defaults: {\n mtu: 1500,\n mut: 1}", 4, "defaults: unknown key" },
	{ 2, "defaults: {mtu: 1500,\n mtu: 1500}", 3,
		"defaults.mtu: duplicate key, expected it once, got it again after line 2" },
	{ 8, "fabric: lab\nlinks:", 8, "fabric: duplicate key" },
	{ 1, "mode: rxl", 1, "key missing, expected fabric, got none" },
	{ 6, "  - {kind: switch, pid: 0x010, server: lab1}", 6,
		"nodes[1]: key missing, expected name" },
	{ 6, "  - {name: s0, pid: 0x010, server: lab1}", 6,
		"nodes[1]: key missing, expected kind" },
	{ 6, "  - {name: s0, kind: switch, server: lab1}", 6,
		"nodes[1]: key missing, expected pid, got none" },
	{ 9, "  - {a: h0}", 9, "links[0]: key missing, expected b, got none" },
	{ 3, "ide: {key_file: x}", 3, "ide: key missing, expected mode" },

	/* types */
	{ 1, "fabric: [lab]", 1, "fabric: bad text, expected 1..32 characters, got a list" },
	{ 2, "defaults: 1500", 2, "defaults: wrong type, expected a mapping, got \"1500\"" },
	{ 2, "defaults:", 2, "defaults: wrong type, expected a mapping, got nothing" },
	{ 2, "defaults: {mtu: {}}", 2, "bad number, expected 68..65535, got a mapping" },
	{ 2, "defaults: {mtu: \"1500\"}", 2, "bad number, expected 68..65535, got \"1500\"" },
	{ 2, "defaults: {isn: [xor]}", 2, "bad word, expected pseudo|xor, got a list" },
	{ 6, "  - s0", 6, "nodes[1]: wrong type, expected a mapping, got \"s0\"" },
	{ 10, "  - [s0, g0]", 10, "links[1]: wrong type, expected a mapping, got a list" },
	{ 10, "  - {a: s0, b: g0, b_port: x}", 10, "links[1].b_port: wrong type" },

	/* words, names, numbers */
	{ 1, "fabric: Lab", 1, "fabric: bad character, expected only abc" },
	{ 1, "fabric: a23456789012345678901234567890123", 1,
		"fabric: bad text, expected 1..32 characters" },
	{ 1, "fabric: \"\"", 1, "fabric: bad text, expected 1..32 characters, got nothing" },
	{ 2, "mode: rlx", 2, "mode: bad word, expected cxl|rxl, got \"rlx\"" },
	{ 2, "defaults: {isn: none}", 2, "defaults.isn: bad word, expected pseudo|xor" },
	{ 2, "defaults: {crc_order: r1}", 2, "defaults.crc_order: bad word, expected r0|r7" },
	{ 3, "ide: {mode: on}", 3, "ide.mode: bad word, expected off|containment|skid" },
	{ 3, "ide: {mode: off, key_file: \"a\\nb\"}", 3, "ide.key_file: bad character" },
	{ 6, "  - {name: s0, kind: swich, pid: 0x010, server: lab1}", 6,
		"nodes[1].kind: bad word, expected host|switch|gfd|device|hbr, got \"swich\"" },
	{ 6, "  - {name: s 0, kind: switch, pid: 0x010, server: lab1}", 6,
		"nodes[1].name: bad character" },
	{ 6, "  - {name: s0, kind: switch, pid: 0x010, server: lab_1/}", 6,
		"nodes[1].server: bad character" },
	{ 9, "  - {a: h0, b: s0, driver: dpdk}", 9,
		"links[0].driver: bad word, expected auto|vfio|af_xdp|af_packet|memif|ring|vdev" },
	{ 2, "defaults: {mtu: 67}", 2, "defaults.mtu: bad number, expected 68..65535, got \"67\"" },
	{ 2, "defaults: {mtu: 65536}", 2, "defaults.mtu: bad number" },
	{ 2, "defaults: {mtu: 1e3}", 2, "defaults.mtu: bad number" },
	{ 2, "defaults: {mtu: -1500}", 2, "defaults.mtu: bad number" },
	{ 2, "defaults: {mtu: 01500}", 2, "defaults.mtu: bad number" },
	{ 2, "defaults: {mtu: 0x}", 2, "defaults.mtu: bad number" },
	{ 2, "defaults: {mtu: }", 2, "bad number, expected 68..65535, got nothing" },
	{ 2, "defaults: {retry: 1}", 2, "defaults.retry: wrong type, expected a mapping" },
	{ 2, "defaults: {retry: {windows: 8}}", 2,
		"defaults.retry: unknown key, expected ack_every|window|selective|rx_buffer" },
	{ 2, "defaults:\n  retry:\n    window: 7", 4,
		"defaults.retry.window: bad number, expected 8..511, got \"7\"" },
	{ 2, "defaults: {retry: {window: 512}}", 2, "bad number, expected 8..511, got \"512\"" },
	{ 2, "defaults: {retry: {ack_every: 0}}", 2, "bad number, expected 1..255, got \"0\"" },
	{ 2, "defaults: {retry: {ack_every: 256}}", 2, "bad number, expected 1..255" },
	{ 2, "defaults: {retry: {rx_buffer: 0}}", 2, "bad number, expected 1..511" },
	{ 2, "defaults: {retry: {rx_buffer: 512}}", 2, "bad number, expected 1..511" },
	{ 2, "defaults: {retry: {selective: 1}}", 2,
		"defaults.retry.selective: bad word, expected false|true, got \"1\"" },
	{ 2, "defaults: {isn: xor, retry: {\n  selective: true}}", 3,
		"defaults.retry.selective: selective with isn xor, expected false or isn pseudo" },
	{ 2, "defaults: {retry: {selective: false,\n  rx_buffer: 8}}", 3,
		"defaults.retry.rx_buffer: buffer that nothing uses" },
	{ 2, "defaults: {flits_per_frame: 65}", 2, "bad number, expected 0..64, got \"65\"" },
	{ 6, "  - {name: s0, kind: switch, server: lab1,\n     pid: 0xFFF}", 7,
		"nodes[1].pid: bad number, expected 0..4094, got \"0xFFF\"" },
	{ 6, "  - {name: s0, kind: switch, server: lab1, pid: 4096}", 6,
		"nodes[1].pid: bad number" },
	{ 6, "  - {name: s0, kind: switch, server: lab1, pid: 18446744073709551616}", 6,
		"nodes[1].pid: bad number" },
	{ 6, "  - {name: s0, kind: switch, pid: 1, server: lab1, lcores: \"2-\"}", 6,
		"nodes[1].lcores: bad CPU list" },
	{ 6, "  - {name: s0, kind: switch, pid: 1, server: lab1, lcores: \"3-2\"}", 6,
		"nodes[1].lcores: bad CPU list" },
	{ 6, "  - {name: s0, kind: switch, pid: 1, server: lab1, lcores: \"1,,2\"}", 6,
		"nodes[1].lcores: bad CPU list" },
	{ 6, "  - {name: s0, kind: switch, pid: 1, server: lab1, lcores: \"1,1\"}", 6,
		"nodes[1].lcores: bad CPU list" },
	{ 6, "  - {name: s0, kind: switch, pid: 1, server: lab1, lcores: \"0-16\"}", 6,
		"nodes[1].lcores: bad CPU list" },
	{ 6, "  - {name: s0, kind: switch, pid: 1, server: lab1, lcores: 1024}", 6,
		"nodes[1].lcores: bad CPU list" },
	{ 6, "  - {name: s0, kind: switch, pid: 1, server: lab1, lcores: [1]}", 6,
		"nodes[1].lcores: bad CPU list" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, memory: 4095}", 7,
		"nodes[2].memory: bad size, expected 4096..68719476736 bytes" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, late_poison: 1.5}", 7,
		"nodes[2].late_poison: bad share, expected 0..1, such as 0.01, got \"1.5\"" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, late_poison: -0.5}", 7,
		"nodes[2].late_poison: bad share" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, late_poison: nan}", 7,
		"nodes[2].late_poison: bad share" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, late_poison: 0.5x}", 7,
		"nodes[2].late_poison: bad share" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, late_poison: [0.5]}", 7,
		"nodes[2].late_poison: bad share" },
	{ 6, "  - {name: s0, kind: switch, pid: 0x010, server: lab1, late_poison: 0.5}", 6,
		"late_poison" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, memory: 65G}", 7,
		"nodes[2].memory: bad size" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, memory: 17179869184G}", 7,
		"nodes[2].memory: bad size" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, memory: 8KB}", 7,
		"nodes[2].memory: bad size" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, memory: 8T}", 7,
		"nodes[2].memory: bad size" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, memory: 4160}", 7,
		"nodes[2].memory: bad size, expected 4096..68719476736 bytes, a multiple of 4096, "
		"K" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, socket: 64}", 7,
		"nodes[2].socket: bad NUMA node, expected any or 0..63, got \"64\"" },

	/* nodes together */
	{ 6, "  - {kind: switch, pid: 0x010, server: lab1,\n     name: h0}", 7,
		"nodes[1].name: duplicate name, expected one no other node has, got \"h0\" of "
		"line 5" },
	{ 6, "  - {name: s0, kind: switch, server: lab1,\n     pid: 257}", 7,
		"nodes[1].pid: duplicate PID, expected one no other node has, got 0x101 of h0, "
		"line 5" },
	{ 6, "  - {name: s0, kind: switch, pid: 0x010}", 6,
		"nodes[1]: server for some nodes only, expected it for all or none, got none for "
		"s0" },
	{ 5, "  - {name: h0, kind: host, pid: 0x101}", 6,
		"nodes[1]: server for some nodes only, expected it for all or none, got one for "
		"s0" },
	{ 6, "  - {name: s0, kind: switch, pid: 1, server: lab1, memory: 4K}", 6,
		"nodes[1].memory: key of another kind, expected it in a gfd or device only, got it "
		"in a "
		"switch" },
	{ 5, "  - {name: h0, kind: host, pid: 1, server: lab1, socket: any}", 5,
		"nodes[0].socket: key of another kind" },
	{ 3, "ide:\n  mode: skid", 4,
		"ide: key missing, expected key_file as ide is on, got none" },

	/* links */
	{ 9, "  - {a: h0,\n     b: s9}", 10,
		"links[0].b: unknown node, expected a name under nodes, got \"s9\"" },
	{ 9, "  - {b: s0,\n     a: h9}", 10, "links[0].a: unknown node" },
	{ 9, "  - {a: s0, b: s0}", 9,
		"links[0].b: link to itself, expected a node other than a, got \"s0\"" },
	{ 9, "  - {a: h0, b: s0}\n  - {a: s0, b: h0}", 10,
		"links[1].b: second link of host h0, expected exactly one, got another after line "
		"9" },
	{ 9, "  - {a: h0, b: s0, link_form: hbr}", 9,
		"links[0].link_form: bad form, expected pbr but in cxl mode between a PBR switch "
		"and "
		"a host or device without ats or translations, got hbr" },
	{ 9, "  - {a: h0, b: s0, link_form: flit}", 9,
		"links[0].link_form: bad word, expected hbr|pbr" },
	{ 10, "  - {a: s0, b: g0}\n  - {a: g0, b: s0}", 11, "links[2].a: second link of gfd g0" },
	{ 9, "", 5, "nodes[0]: host h0 has no link, expected exactly one, got none" },
	{ 10, "", 7, "nodes[2]: gfd g0 has no link, expected exactly one, got none" },
	{ 6,
		"  - {name: s0, kind: switch, pid: 0x010, server: lab1}\n"
		"  - {name: g1, kind: gfd, pid: 0x201, server: lab1}\n"
		"  - {name: h1, kind: host, pid: 0x102, server: lab1}\n"
		"  - {name: s1, kind: switch, pid: 0x011, server: lab1}",
		7, "nodes[2]: gfd g1 has no link" },
	{ 8, "links: []\nlink:", 8, "links: empty list, expected a list of 1..8192, got a list" },
	{ 8, "links: s0\nlink:", 8, "links: wrong type, expected a list of 1..8192, got \"s0\"" },
	{ 9, "  - {a: h0, b: s0, a_port: {pci: 5e:00.0}}", 9,
		"links[0]: device at one end only, expected pci, netif or vdev at b too, got "
		"none" },
	{ 9, "  - {a: h0, b: s0, driver: memif,\n     b_port: {netif: eth0}}", 9,
		"links[0].b_port: driver memif does not fit, expected it with no device, got "
		"netif" },
	{ 9, "  - {a: h0, b: s0, a_port: {driver: ring},\n     b_port: {netif: eth0}}", 9,
		"links[0]: device at one end only, expected pci, netif or vdev at a too" },
	{ 9, "  - {a: h0, b: s0, a_port: {driver: ring},\n     b_port: {driver: memif}}", 10,
		"links[0]: drivers differ, expected ring at both ends, got memif" },
	{ 9, "  - {a: h0, b: s0, a_port: {pci: \"5e:00.0\",\n     netif: eth0}}", 10,
		"links[0].a_port: two devices, expected one of pci, netif and vdev, got pci and "
		"netif" },
	{ 9, "  - {a: h0, b: s0, a_port: {pci: 5e-00.0}}", 9,
		"links[0].a_port.pci: bad PCI address, expected one like \"0000:5e:00.0\", got "
		"\"5e-00.0\"" },
	{ 9, "  - {a: h0, b: s0, a_port: {pci: 0000:5e:00.00}}", 9, "bad PCI address" },
	{ 9, "  - {a: h0, b: s0, a_port: {pci: 0000:5e:00}}", 9, "bad PCI address" },
	{ 9, "  - {a: h0, b: s0, a_port: {pci: []}}", 9, "bad PCI address" },
	{ 9, "  - {a: h0, b: s0, a_port: {netif: abcdefghijklmnop}}", 9,
		"links[0].a_port.netif: bad text, expected 1..15 characters" },
	{ 9, "  - {a: h0, b: s0, a_port: {netif: \"eth0,x=1\"}}", 9,
		"links[0].a_port.netif: bad character" },
	{ 9, "  - {a: h0, b: s0, a_port: {driver: memif, socket: \"s,id=1\"}}", 9,
		"links[0].a_port.socket: bad character" },
	{ 9, "  - {a: h0, b: s0, a_port: {vdev: crypto_null0}}", 9,
		"links[0].a_port: bad vdev, expected device arguments that begin with \"net_\"" },
	{ 9, "  - {a: h0, b: s0, a_port: {pci: 5e:00.0, driver: af_xdp}}", 9,
		"links[0].a_port: driver af_xdp does not fit, expected it with netif, got pci" },
	{ 9, "  - {a: h0, b: s0, a_port: {netif: eth0,\n     driver: vfio}}", 10,
		"driver vfio does not fit, expected it with pci, got netif" },
	{ 9, "  - {a: h0, b: s0, a_port: {vdev: net_null0, driver: ring}}", 9,
		"driver ring does not fit, expected it with no device, got vdev" },
	{ 9, "  - {a: h0, b: s0,\n     driver: af_packet}", 10,
		"links[0].a_port: driver af_packet does not fit, expected it with netif, got no "
		"device" },
	{ 9, "  - {a: h0, b: s0, wire: {drop: 2}}", 9,
		"links[0].wire: drop: expected P: of a frame to be lost; got \"2\"" },
	{ 9, "  - {a: h0, b: s0, wire: {\n     bre: 1}}", 10,
		"links[0].wire: unknown key \"bre\"" },
	{ 9, "  - {a: h0, b: s0, wire: {dup: 0, dup: 0}}", 9,
		"links[0].wire: duplicate key, expected \"dup\" once, got it again" },
	{ 9, "  - {a: h0, b: s0, wire: {dup: [0]}}", 9,
		"links[0].wire: wrong type, expected a value of \"dup\", got a list" },
	{ 9, "  - {a: h0, b: s0, wire: bad}", 9,
		"links[0].wire: wrong type, expected a mapping, got \"bad\"" },
	{ 9, "  - {a: h0, b: s0, a_port: {wire: {bits_p: 1}}}", 9,
		"links[0].a_port.wire: bits must be 1 to 64" },
	{ 9, "  - {a: h0, b: s0, driver: ring,\n     wire: {drop: 0.1}}", 10,
		"links[0]: wire on a ring, expected driver memif or a device, got ring" },
	{ 9, "  - {a: h0, b: s0, a_port: {driver: ring},\n     b_port: {wire: {drop: 0.1}}}", 10,
		"links[0]: wire on a ring, expected driver memif or a device, got ring" },
	{ 9, "  - {a: h0, b: s0, driver: vdev}", 9,
		"driver vdev does not fit, expected it with vdev, got no device" },
	{ 9, "  - {a: h0, b: s0, driver: ring, a_port: {\n     socket: /run/x}}", 10,
		"links[0].a_port: socket without memif, expected driver memif, got ring" },
	{ 9,
		"  - {a: h0, b: s0, driver: memif, a_port: {socket: /run/x},\n"
		"     b_port: {socket: /run/y}}",
		10, "links[0]: sockets differ, expected \"/run/x\" at both ends, got \"/run/y\"" },
	{ 10, "  - {a: s0, b: g0, b_port: {mtu: 273}}", 10,
		"links[1].b_port: mtu 273 carries 0 flits, 1 asked: expected mtu 274 or more" },
	{ 2, "defaults: {mtu: 1500,\n flits_per_frame: 34}", 2,
		"links[0].a_port: mtu 1500 carries 5 flits, 34 asked: expected mtu 8722 or more, "
		"got 1500" },
	{ 2, "defaults: {\n flits_per_frame: 36}", 3, "mtu 9000 carries 35 flits, 36 asked" },
	{ 9,
		"  - {a: h0, b: s0, a_port: {netif: e0, driver: af_xdp,\n"
		"     mtu: 3499}, b_port: {netif: e1}}",
		10, "links[0].a_port: mtu too large for af_xdp, expected at most 3498, got 3499" },
	{ 9, "  - {a: h0, b: s0, a_port: {pci: 5e:00.0}, b_port: {pci: \"0000:5E:00.0\"}}", 9,
		"links[0].b_port: 0000:5e:00.0 used twice, expected one of its own, got that of "
		"links[0]" },

	/* routes and coordinates */
	{ 3, "routing: best", 3,
		"routing: bad word, expected auto|shortest|updown|dimension|rising, got" },
	{ 3, "routing: dimension", 3,
		"routing: dimension: expected routes without a circle, got no \"at\" for switch "
		"s0" },
	{ 5, "  - {name: h0, kind: host, pid: 1, server: lab1, at: [1]}", 5,
		"nodes[0].at: key of another kind, expected it in a switch only, got it in a "
		"host" },
	{ 6, "  - {name: s0, kind: switch, pid: 2, server: lab1, at: []}", 6,
		"nodes[1].at: bad coordinates, expected a list of 1..4 numbers" },
	{ 6, "  - {name: s0, kind: switch, pid: 2, server: lab1, at: [1, 4095]}", 6,
		"nodes[1].at: bad number, expected 0..4094, got \"4095\"" },
	{ 6,
		"  - {name: s0, kind: switch, pid: 2, server: lab1, at: [1, 2]}\n"
		"  - {name: s1, kind: switch, pid: 3, server: lab1, at: [1]}",
		7, "nodes[2].at: coordinates of another length, expected 2 as for s0, got 1" },
	{ 6,
		"  - {name: s0, kind: switch, pid: 2, server: lab1, at: [1, 2]}\n"
		"  - {name: s1, kind: switch, pid: 3, server: lab1, at: [1, 2]}",
		7, "nodes[2].at: coordinates taken, expected those of no other switch, got those" },

	/* segments */
	{ 3, "segments: []", 3, "segments: empty list, expected a list of 1..4096" },
	{ 3, "segments:\n  - {size: 4K}", 4,
		"segments[0]: bad segment, expected one of target, interleave and gim, got none" },
	{ 3, "segments:\n  - {target: g0, gim: h0}", 4, "and gim, got several" },
	{ 3, "segments: [{target: h0}]", 3,
		"segments[0].target: bad target, expected the name of a gfd, got \"h0\"" },
	{ 3, "segments: [{gim: g0}]", 3,
		"segments[0].gim: bad target, expected the name of a host, got \"g0\"" },
	{ 3, "segments: [{target: g0, size: 6000}]", 3,
		"segments[0].size: bad size, expected a multiple of 4096 up to 68719476736, got" },
	{ 3, "segments: [{target: g0, size: 12K}]", 3,
		"segments[0].size: more than gfd g0 has left, expected at most 8192 for each of 1 "
		"ways, got 12288" },
	{ 3, "segments: [{target: g0, size: 4K}, {target: g0, size: 8K}]", 3,
		"segments[1].size: more than gfd g0 has left, expected at most 4096" },
	{ 3, "segments: [{target: g0},\n {target: g0}]", 4,
		"segments[1].size: bad size, expected a multiple of 4096 up to 68719476736, got "
		"0" },
	{ 3, "segments: [{interleave: {ways: 3, targets: [g0, g0]}}]", 3,
		"segments[0].interleave.ways: bad number, expected 2..256, a power of 2, got "
		"\"3\"" },
	{ 3, "segments: [{interleave: {ways: 512, targets: [g0, g0]}}]", 3,
		"segments[0].interleave.ways: bad number, expected 2..256" },
	{ 3, "segments: [{interleave: {ways: 4, targets: [g0, g0]}}]", 3,
		"segments[0].interleave: bad targets, expected as many as ways, 4, got 2" },
	{ 3, "segments: [{interleave: {ways: 2, targets: [g0, g0]}}]", 3,
		"segments[0].interleave.targets: target twice, expected another gfd for each way, "
		"as "
		"a decoder has one way (fabric.md 1.6), got g0 again" },
	{ 3, "segments: [{interleave: {ways: 2, granularity: 768, targets: [g0, g0]}}]", 3,
		"segments[0].interleave.granularity: bad size, expected 256..16384 bytes, a power "
		"of 2, K, M or G may follow, got \"768\"" },
	{ 3, "segments: [{interleave: {ways: 2, granularity: 32K, targets: [g0, g0]}}]", 3,
		"segments[0].interleave.granularity: bad size, expected 256..16384 bytes" },
	{ 3, "segments: [{interleave: {ways: 2, targets: [g0, [g0]]}}]", 3,
		"segments[0].interleave.targets: bad name, expected a name, got a list" },
	{ 3, "segments: [{interleave: {ways: 2, targets: [g0]}}]", 3,
		"segments[0].interleave.targets: bad list, expected a list of 2..256 names" },
	{ 3, "segment_size: 96G", 3,
		"segment_size: bad size, expected 68719476736..8796093022208 bytes, a power of 2" },
	{ 3, "segment_size: 32G", 3, "segment_size: bad size, expected 68719476736.." },
	{ 7,
		"  - {name: g0, kind: gfd, pid: 0x200, server: lab1, memory: 1M}\nsegments:\n"
		"  [{target: g0, size: 4K}, {target: g0, size: 4K}, {target: g0, size: 4K},\n"
		"  {target: g0, size: 4K}, {target: g0, size: 4K}, {target: g0, size: 4K},\n"
		"  {target: g0, size: 4K}, {target: g0, size: 4K},\n {target: g0, size: 4K}]",
		12, "segments[8].target: too many segments of gfd g0, expected at most 8, its" },

	/* regions */
	{ 3, "regions: [{name: a}]", 3,
		"regions[0]: bad region, expected one of gfd and segment, got none" },
	{ 3, "regions:\n  - {name: a, gfd: g0, segment: 0}", 4, "gfd and segment, got both" },
	{ 3, "regions: [{gfd: g0}]", 3, "regions[0]: key missing, expected name, got none" },
	{ 3, "regions: [{name: a b, gfd: g0}]", 3, "regions[0].name: bad character" },
	{ 3, "regions: [{name: a, gfd: s0}]", 3,
		"regions[0]: bad region, expected the name of a gfd, got \"s0\"" },
	{ 3, "regions: [{name: a, gfd: g0, size: 12K}]", 3,
		"regions[0]: bad region, expected multiples of 4096 in the 8192 bytes of g0, got "
		"12288 from 0 on" },
	{ 3, "regions:\n  - name: a\n    gfd: g0\n    offset: 4K\n    size: 8K", 7,
		"bad region, expected multiples of 4096 in the 8192 bytes of g0, got 8192 from "
		"4096 on" },
	{ 3, "regions:\n  - name: a\n    gfd: g0\n    offset: 8K", 6, "got 0 from 8192 on" },
	{ 3, "regions: [{name: a, gfd: g0, offset: 100}]", 3, "bad region, expected multiples" },
	{ 3, "regions: [{name: a, gfd: g0, size: 5000}]", 3, "bad region, expected multiples" },
	{ 3, "regions: [{name: a, gfd: g0, size: 0}]", 3, "regions[0].size: bad size" },
	{ 3, "regions: [{name: a, segment: 1}]", 3,
		"regions[0]: bad segment, expected the number of one of 1 that has memory of gfds, "
		"got 1" },
	{ 3, "segments: [{gim: h0}]\nregions: [{name: a, segment: 0}]", 4, "bad segment" },
	{ 3, "regions: [{name: a, segment: 0, size: 12K}]", 3,
		"multiples of 4096 in the 8192 bytes of its segment, got 12288 from 0 on" },
	{ 3, "regions: [{name: a, segment: 0, offset: 8K}]", 3, "of its segment, got 0 from 8192" },
	/* Memory that is in no segment, or in two. */
	{ 3, "segments: [{target: g0, size: 4K}]\nregions:\n - {name: a, gfd: g0, offset: 4K}", 5,
		"regions[0]: not in one segment, expected memory of g0 in a segment without "
		"interleave, or segment in place of gfd, got 0 bytes from 4096 on" },
	{ 3,
		"segments: [{target: g0, size: 4K}, {target: g0}]\nregions: [{name: a, gfd: g0, "
		"size: 8K}]",
		4, "not in one segment" },
	{ 3, "regions: [{name: a, gfd: g0},\n {name: b, gfd: g0}, {name: a, gfd: g0}]", 4,
		"regions[2].name: duplicate name, expected one no other region has, got \"a\" of "
		"line 3" },
	{ 3, "regions: [{name: g0, gfd: g0, size: 4K}]", 3,
		"regions[0].name: duplicate name, expected one no segment has, got \"g0\" of "
		"segment 0" },

	/* clients: */
	{ 5, "  - {name: h0, kind: host, pid: 1, server: lab1,\n   clients: []}", 6,
		"nodes[0].clients: empty list, expected a list of 1..256" },
	{ 6, "  - {name: s0, kind: switch, pid: 0x010, server: lab1, clients: [{uid: 1}]}", 6,
		"nodes[1].clients: key of another kind, expected it in a host only" },
	HOST_ROW(
		"rights: read", ": bad client, expected one of uid, gid, user and group, got none"),
	HOST_ROW("uid: 1, gid: 2",
		": bad client, expected one of uid, gid, user and group, got several"),
	HOST_ROW("uid: 4294967295", ".uid: bad number, expected 0..4294967294, got"),
	HOST_ROW("uid: -1", ".uid: bad number, expected 0..4294967294, got"),
	HOST_ROW("gid: 99999999999", ".gid: bad number, expected 0..4294967294, got"),
	HOST_ROW("uid: alice", ".uid: bad number, expected 0..4294967294, got \"alice\""),
	HOST_ROW("user: \"\"", ".user: bad text, expected 1..64 characters"),
	HOST_ROW("user: \"a:b\"", ".user: bad character, expected only"),
	HOST_ROW("uid: 1, rights: r", ".rights: bad word, expected none|read|write|rw, got \"r\""),
	HOST_ROW("uid: 1, share: 0", ".share: bad number, expected 1..100, got \"0\""),
	HOST_ROW("uid: 1, share: 101", ".share: bad number, expected 1..100, got \"101\""),
	HOST_ROW("uid: 1, regions: g0", ".regions: bad list, expected a list of 0..1024 names"),
	HOST_ROW("uid: 1, regions: [g0, g1]",
		".regions: unknown region, expected a name under regions, of a gfd that is one "
		"segment, or segK, got \"g1\""),
	HOST_ROW("uid: 1, regions: [g0, g0]", ".regions: region twice, expected each once, got"),
	{ 5,
		"  - {name: h0, kind: host, pid: 1, server: lab1, clients: [{uid: 1},\n"
		"    {gid: 1}, {user: \"1\"},\n    {uid: 0x1}]}",
		7,
		"nodes[0].clients[3]: user twice, expected a row for each, as the first decides, "
		"got that of line 5 again" },
	{ 5,
		"  - {name: h0, kind: host, pid: 1, server: lab1, clients: [{group: a},\n"
		"    {user: a}, {group: a}]}",
		6, "nodes[0].clients[2]: group twice" },
	{ 5,
		"  - {name: h0, kind: host, pid: 1, server: lab1, ats: {agent: t0},\n"
		"    clients: [{uid: 1}]}",
		6,
		"nodes[0].clients: clients of a host with ats or translations, expected none, got "
		"those of h0" },

	/* groups and rights */
	{ 3, "groups: [{name: a}]", 3, "groups[0]: key missing, expected ranges, got none" },
	{ 3, "groups:\n  - {name: a, ranges: [{gfd: h0}]}", 4,
		"groups[0].ranges: bad range, expected the name of a gfd, got \"h0\"" },
	{ 3, "groups: [{name: a, ranges: [{gfd: g0, base: 4K, size: 8K}]}]", 3,
		"groups[0].ranges: bad range, expected multiples of 4096 in the 8192 bytes of g0, "
		"got "
		"8192 from 4096 on" },
	{ 3, "groups: [{name: a, ranges: [{gfd: g0, base: 100}]}]", 3, "bad range" },
	{ 3, "groups: [{name: a, ranges: [{gfd: g0, base: 8K}]}]", 3, "got 0 from 8192 on" },
	{ 3,
		"groups:\n  - {name: a, ranges: [{gfd: g0}]}\n"
		"  - {name: b, ranges: [{gfd: g0, base: 4K}]}",
		5,
		"groups[1].ranges: ranges overlap, expected one group for a block (fabric.md 1.7), "
		"got memory of g0 of line 4 again" },
	{ 3,
		"groups: [{name: a, ranges: [{gfd: g0, size: 4K}]},\n"
		" {name: a, ranges: [{gfd: g0, base: 4K}]}]",
		4,
		"groups[1].name: duplicate name, expected one no other group has, got \"a\" of" },
	{ 5, "  - {name: h0, kind: host, pid: 0x101, server: lab1, access: [all]}", 5,
		"nodes[0].access: unknown group, expected a name under groups, got \"all\"" },
	{ 7, "  - {name: g0, kind: gfd, pid: 0x200, server: lab1, access: []}", 7,
		"nodes[2].access: key of another kind, expected it in a host or device only, got "
		"it in a "
		"gfd" },

	/* servers and paths */
	{ 6, "  - {name: s0, kind: switch, pid: 0x010, server: lab2}", 9,
		"links[0]: no device between servers lab1 and lab2, expected pci, netif or vdev" },
};

/* A fabric with all kinds of nodes and ports, for what a link may join and what is bound. */
static const char *const tree[] = {
	"fabric: x", /* 1 */
	"nodes:", /* 2 */
	"  - {name: h0, kind: host, pid: 1}", /* 3 */
	"  - {name: h1, kind: host, pid: 2}", /* 4 */
	"  - {name: s0, kind: switch, pid: 3}", /* 5 */
	"  - {name: s1, kind: switch, pid: 4}", /* 6 */
	"  - {name: b0, kind: hbr, pid: 5}", /* 7 */
	"  - {name: b1, kind: hbr, pid: 6}", /* 8 */
	"  - {name: d0, kind: device, pid: 7}", /* 9 */
	"  - {name: d1, kind: device, pid: 8}", /* 10 */
	"  - {name: g0, kind: gfd, pid: 9}", /* 11 */
	"  - {name: g1, kind: gfd, pid: 10}", /* 12 */
	"links:", /* 13 */
	"  - {a: h0, b: s0}", /* 14 */
	"  - {a: s0, b: s1}", /* 15 */
	"  - {a: s0, b: g0}", /* 16 */
	"  - {a: s1, b: b0}", /* 17 */
	"  - {a: b0, b: d0}", /* 18 */
	"  - {a: h1, b: s1}", /* 19 */
	"  - {a: s1, b: g1}", /* 20 */
	"  - {a: s0, b: d1}", /* 21 */
	"  - {a: b0, b: b1}", /* 22 */
};

static const struct error_row tree_rows[] = {
	{ 20, "  - {a: g1, b: b0}", 20,
		"links[6]: a GFD attaches to a DSP of a PBR switch (fabric.md 3.1): expected that "
		"for g1, got an HBR DSP of b0" },
	{ 13,
		"  - {name: h2, kind: host, pid: 11}\n  - {name: h3, kind: host, pid: 12}\n"
		"links:\n  - {a: h2, b: h3}",
		16,
		"links[0]: a host's root port attaches to a USP or a device but no GFD (fabric.md "
		"3.1): expected that for h2, got a host's root port of h3" },
	{ 13,
		"  - {name: g2, kind: gfd, pid: 11}\n  - {name: d2, kind: device, pid: 12}\n"
		"links:\n  - {a: g2, b: d2}",
		16, "links[0]: a GFD attaches to a DSP of a PBR switch" },
	{ 13,
		"  - {name: d2, kind: device, pid: 11}\n  - {name: d3, kind: device, pid: 12}\n"
		"links:\n  - {a: d2, b: d3}",
		16,
		"links[0]: a device attaches to a DSP or a root port (fabric.md 3.1): expected "
		"that for d2, got a device of d3" },
	{ 15, "  - {a: s0, b: s1, a_port: {role: dsp}}", 15,
		"links[1]: a PBR DSP attaches to a device, a GFD or an HBR USP (fabric.md 3.1): "
		"expected that for s0, got an FPort of s1" },
	{ 15, "  - {a: s0, b: s1, a_port: {role: dsp}, b_port: {role: usp}}", 15,
		"links[1]: a PBR DSP attaches to a device, a GFD or an HBR USP (fabric.md 3.1): "
		"expected that for s0, got a PBR USP of s1" },
	{ 14, "  - {a: h0, b: s0, b_port: {role: fport}}", 14,
		"links[0]: a host's root port attaches to a USP or a device but no GFD (fabric.md "
		"3.1): expected that for h0, got an FPort of s0" },
	{ 16, "  - {a: s0, b: g0, a_port: {role: usp}}", 16,
		"links[2]: a PBR USP attaches to a root port (fabric.md 3.1): expected that for "
		"s0, got a GFD of g0" },
	{ 17, "  - {a: s1, b: b0, a_port: {role: usp}, b_port: {role: dsp}}", 17,
		"links[3]: a PBR USP attaches to a root port (fabric.md 3.1): expected that for "
		"s1, got an HBR DSP of b0" },
	{ 17, "  - {a: s1, b: b0, b_port: {role: fport}}", 17,
		"links[3].b_port.role: FPort of an HBR switch, expected usp|dsp (fabric.md 3.1), "
		"got fport at b0" },
	{ 14, "  - {a: h0, b: s0, a_port: {role: usp}}", 14,
		"links[0].a_port.role: role of a host, expected it at a port of a switch only, got "
		"it at h0" },
	{ 22, "  - {a: b0, b: b1}\n  - {a: s0, b: b0}", 7,
		"nodes[4]: an HBR switch has one USP (fabric.md 3.1): expected one for b0, got 2" },
	{ 22, "  - {a: b1, b: b0}", 7,
		"nodes[4]: an HBR switch has one USP (fabric.md 3.1): expected one for b0, got 2" },
	{ 22, "  - {a: b0, b: b1}\n  - {a: d0, b: s0}", 23,
		"links[9].a: second link of device d0, expected exactly one" },
	{ 22, "  - {a: b0, b: b1}\nbindings:\n  - {host: s0, device: d1}", 24,
		"bindings[0].host: bad host, expected a host at a PBR switch, where its vDSPs are "
		"(fabric.md 3.2), got \"s0\"" },
	{ 22, "  - {a: b0, b: b1}\nbindings:\n  - {host: h0, device: g0}", 24,
		"bindings[0].device: binding of a gfd, expected none, as G-FAM goes edge to edge "
		"(fabric.md 3.2), got g0" },
	{ 22, "  - {a: b0, b: b1}\nbindings:\n  - {host: h0, device: d0}", 24,
		"bindings[0].device: bad device, expected a device or an hbr at a PBR DSP "
		"(fabric.md 3.2), got \"d0\"" },
	{ 22, "  - {a: b0, b: b1}\nbindings:\n  - {host: h0, device: d2}", 24,
		"bindings[0].device: bad device" },
	{ 22, "  - {a: b0, b: b1}\nbindings:\n  - {host: h0, device: b0}", 24,
		"bindings[0].pid: vDSP and vUSP, expected a pid of the FPort between two switches "
		"(fabric.md 3.2), got none" },
	{ 22, "  - {a: b0, b: b1}\nbindings:\n  - {host: h0, device: d1, pid: 0xC00}", 24,
		"bindings[0].pid: vDSP and vUSP, expected a pid of the FPort only if there are two "
		"switches (fabric.md 3.2), got one" },
	{ 22, "  - {a: b0, b: b1}\nbindings:\n  - {host: h0, device: b0, pid: 9}", 24,
		"bindings[0].pid: PID of a node, expected one for FPorts (fabric.md 2.1), got that "
		"of g0" },
	{ 22,
		"  - {a: b0, b: b1}\nbindings:\n  - {host: h0, device: d1}\n"
		"  - {host: h0, device: d1}",
		25,
		"bindings[1]: bound twice, expected one vDSP for a vUSP (fabric.md 3.2), got d1 of "
		"line 24 again" },
	{ 22,
		"  - {a: b0, b: b1}\nbindings:\n  - {host: h0, device: b0, pid: 0xC00}\n"
		"  - {host: h1, device: d1, pid: 0xC00}",
		25,
		"bindings[1]: FPort PID of two switches, expected one for each (fabric.md 2.1), "
		"got that of line 24" },
	{ 22, "  - {a: b0, b: b1}\nbindings:\n  - {host: h0}", 24,
		"bindings[0]: key missing, expected device, got none" },
};

/* A good file of @n lines with one line replaced; returns its length. */
static size_t
compose(char *to, size_t room, const char *const *file, size_t n, unsigned int replaced,
	const char *by)
{
	size_t used = 0;

	for (unsigned int i = 0; i < n; i++)
		used += (size_t)snprintf(
			to + used, room - used, "%s\n", i + 1 == replaced ? by : file[i]);
	assert_true(used < room);
	return used;
}

static void
assert_refused(const char *yaml, size_t len, const struct error_row *row, int expected)
{
	struct weft_topo *t = (struct weft_topo *)&t;
	struct weft_topo_error err = { 0 };
	char start[32];
	int rc = weft_topo_parse(&t, "lab.yaml", yaml, len, &err);

	if (rc != expected || t != NULL)
		fail_msg("returned %d, not %d: %s\n%s", rc, expected, err.text, yaml);
	snprintf(start, sizeof(start), "lab.yaml:%u: ", row->line);
	if (err.line != row->line || strncmp(err.text, start, strlen(start)) != 0 ||
		strstr(err.text, row->text) == NULL || strpbrk(err.text, "\r\n") != NULL)
		fail_msg("got \"%s\", expected %s...%s\n%s", err.text, start, row->text, yaml);
	assert_int_equal(weft_topo_parse(&t, "lab.yaml", yaml, len, NULL), expected);
}

static void
assert_rows_refused(const char *const *file, size_t n, const struct error_row *row, size_t n_rows)
{
	char yaml[2048];
	struct weft_topo_error err;
	struct weft_topo *t;
	size_t len = compose(yaml, sizeof(yaml), file, n, 0, "");

	if (weft_topo_parse(&t, "lab.yaml", yaml, len, &err) != 0)
		fail_msg("%s", err.text);
	weft_topo_free(t);
	for (; n_rows-- > 0; row++) {
		const bool is_deep = strstr(row->text, "too deep") != NULL;

		len = compose(yaml, sizeof(yaml), file, n, row->replaced, row->by);
		assert_refused(yaml, len, row, is_deep ? -EFBIG : -EINVAL);
	}
}

WEFT_TEST(every_mistake_names_its_line)
{
	assert_rows_refused(good, WEFT_ARRAY_SIZE(good), rows, WEFT_ARRAY_SIZE(rows));
	assert_rows_refused(tree, WEFT_ARRAY_SIZE(tree), tree_rows, WEFT_ARRAY_SIZE(tree_rows));
}

/* Whole files for what one line cannot say. */
static const struct {
	const char *yaml;
	struct error_row row;
} files[] = {
	{ "", { .line = 1, .text = "empty file, expected fabric, nodes and links, got nothing" } },
	{ "# only a comment\n", { .line = 1, .text = "empty file" } },
	{ "- fabric\n",
		{ .line = 1, .text = "lab.yaml:1: wrong type, expected a mapping, got a list" } },
	{ "fabric: x\nnodes: []\nlinks: []\n",
		{ .line = 2, .text = "nodes: empty list, expected a list of 1..4095" } },
	{ "fabric: x\nnodes:\n"
	  "  - {name: h0, kind: host, pid: 1, server: lab1}\n"
	  "  - {name: g0, kind: gfd, pid: 2, server: lab2}\n"
	  "links:\n"
	  "  - {a: h0, b: g0,\n     driver: ring}\n",
		{ .line = 7,
			.text = "links[0]: driver ring between servers, expected both nodes on "
				"one, got lab1 and lab2" } },
	{ "fabric: x\nnodes:\n"
	  "  - {name: h0, kind: host, pid: 1, server: lab1}\n"
	  "  - {name: g0, kind: gfd, pid: 2, server: lab2}\n"
	  "links:\n"
	  "  - a: h0\n    b: g0\n    a_port:\n      driver: memif\n",
		{ .line = 9, .text = "links[0]: driver memif between servers" } },
	{ "fabric: x\nnodes:\n"
	  "  - {name: s0, kind: switch, pid: 1}\n"
	  "  - {name: s1, kind: switch, pid: 2}\n"
	  "links:\n"
	  "  - {a: s0, b: s1, a_port: {netif: e0}, b_port: {netif: e0}}\n"
	  "  - {a: s1, b: s0, a_port: {netif: e1},\n     b_port: {netif: e0}}\n",
		{ .line = 8,
			.text = "links[1].b_port: e0 used twice, expected one of its own, got "
				"that of links[0]" } },
	{ "fabric: x\nnodes:\n"
	  "  - {name: h0, kind: host, pid: 1}\n"
	  "  - {name: s0, kind: switch, pid: 2}\n"
	  "  - {name: g0, kind: gfd, pid: 3}\n"
	  "links:\n"
	  "  - {a: h0, b: s0, a_port: {socket: /run/x}}\n"
	  "  - {a: s0, b: g0, driver: memif, b_port: {\n     socket: /run/x}}\n",
		{ .line = 8,
			.text = "links[1].a_port: /run/x used twice, expected one of its own, got "
				"that of links[0]" } },
	{ "fabric: x\nnodes:\n"
	  "  - {name: h0, kind: host, pid: 1}\n"
	  "  - {name: s0, kind: switch, pid: 2}\n"
	  "  - {name: s1, kind: switch, pid: 3}\n"
	  "  - {name: g0, kind: gfd, pid: 4}\n"
	  "links:\n"
	  "  - {a: h0, b: s0}\n"
	  "  - {a: s1, b: g0}\n",
		{ .line = 3,
			.text = "nodes[0]: host h0 cannot reach gfd g0, expected a path of "
				"switches, got none" } },
};

WEFT_TEST(whole_files_are_judged)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(files); i++)
		assert_refused(files[i].yaml, strlen(files[i].yaml), &files[i].row, -EINVAL);
}

/* A switch with @links links to a second one, behind @nodes unlinked switches. */
static char *
large_file(unsigned int nodes, unsigned int links, size_t *len)
{
	FILE *f;
	char *yaml;

	f = open_memstream(&yaml, len);
	assert_non_null(f);
	fprintf(f, "fabric: x\nnodes:\n");
	for (unsigned int i = 0; i < nodes; i++)
		fprintf(f, "  - {name: s%u, kind: switch, pid: %u}\n", i, i);
	fprintf(f, "links:\n");
	for (unsigned int i = 0; i < links; i++)
		fprintf(f, "  - {a: s%u, b: s%u}\n", i / 255 * 2, i / 255 * 2 + 1);
	fclose(f);
	return yaml;
}

static void
assert_large(
	unsigned int nodes, unsigned int links, int expected, unsigned int line, const char *text)
{
	struct error_row row = { .line = line, .text = text };
	struct weft_topo_error err;
	struct weft_topo *t;
	size_t len;
	char *yaml = large_file(nodes, links, &len);

	if (expected < 0) {
		assert_refused(yaml, len, &row, expected);
	} else {
		if (weft_topo_parse(&t, "lab.yaml", yaml, len, &err) != 0)
			fail_msg("%s", err.text);
		assert_int_equal(t->n_nodes, nodes);
		assert_int_equal(t->n_links, links);
		weft_topo_free(t);
	}
	free(yaml);
}

WEFT_TEST(limits_hold_at_the_edge)
{
	assert_large(4095, 8192, 0, 0, "");
	assert_large(4096, 1, -EFBIG, 3, "nodes: too long, expected at most 4095, got 4096");
	assert_large(2, 255, 0, 0, "");
	assert_large(1024, 8193, -EFBIG, 1028, "links: too long, expected at most 8192, got 8193");
}

WEFT_TEST(switch_has_no_256th_port)
{
	struct error_row row = { .line = 261,
		.text = "links[255].a: too many links of switch s0, expected at most 255" };
	size_t len;
	char *yaml = large_file(2, 255, &len);
	char more[8192];

	assert_true(len < sizeof(more) - 64);
	len = (size_t)snprintf(more, sizeof(more), "%s  - {a: s0, b: s1}\n", yaml);
	free(yaml);
	assert_refused(more, len, &row, -EINVAL);
}

/* A parser that recurses, or looks back at every level, would need seconds or the whole stack. */
WEFT_TEST(deep_nesting_ends_at_once)
{
	static const char *const forms[] = { "[", "- ", "{a: ", "? ", "[{" };
	size_t len = WEFT_TOPO_BYTES;
	char *yaml = malloc(len);
	struct weft_topo_error err;
	struct weft_topo *t;

	assert_non_null(yaml);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(forms); i++) {
		size_t n = strlen(forms[i]);

		for (size_t at = 0; at < len; at++)
			yaml[at] = forms[i][at % n];
		assert_true(weft_topo_parse(&t, "lab.yaml", yaml, len, &err) < 0);
		assert_null(t);
		assert_int_equal(err.line, 1);
	}
	free(yaml);
}

WEFT_TEST(error_is_one_printable_line)
{
	static const char yaml[] = "fabric: \"\\x1b[31m\\n\\xe9\"\n";
	struct weft_topo_error err;
	struct weft_topo *t;

	assert_int_equal(weft_topo_parse(&t, "a\nb\x7f", yaml, strlen(yaml), &err), -EINVAL);
	for (const char *c = err.text; *c != '\0'; c++)
		assert_in_range(*c, 0x20, 0x7e);
	assert_memory_equal(err.text, "a?b?:1: ", 8);
}

struct findings {
	unsigned int n;
	char text[8][512];
};

static void
keep(void *arg, const struct weft_topo_error *e)
{
	struct findings *f = arg;

	assert_true(f->n < WEFT_ARRAY_SIZE(f->text));
	strcpy(f->text[f->n++], e->text);
}

/* Each finding says where it is itself, whatever was found before it. */
WEFT_TEST(findings_have_paths_of_their_own)
{
	static const char yaml[] = "fabric: x\nnodes:\n"
				   "  - name: h0\n"
				   "    kind: host\n"
				   "    kind: host\n"
				   "    pid: 0xFFF\n"
				   "  - {name: g0, kind: gfd, pid: none}\n"
				   "links:\n"
				   "  - {a: h0, b: g0}\n";
	struct findings f = { 0 };

	assert_int_equal(weft_topo_check_text("x", yaml, strlen(yaml), keep, &f), 3);
	assert_memory_equal(f.text[0], "x:5: nodes[0].kind: duplicate key", 33);
	assert_memory_equal(f.text[1], "x:6: nodes[0].pid: bad number", 29);
	assert_memory_equal(f.text[2], "x:7: nodes[1].pid: bad number", 29);
}

/* A key that nobody knows, or what is no list, hides nothing of what follows. */
WEFT_TEST(findings_go_on_behind_what_cannot_be_read)
{
	static const char yaml[] = "fabric: x\nnodes:\n"
				   "  - name: h0\n"
				   "    kind: host\n"
				   "    memry: 1M\n"
				   "    gim: 5\n"
				   "    lcores: none\n"
				   "  - kind: gfd\n"
				   "    nmae: g0\n"
				   "    pid: 2\n"
				   "groups: none\n"
				   "links:\n"
				   "  - {a: 7, b: [g0]}\n";
	static const char *const says[] = {
		"x:5: nodes[0]: unknown key, expected name|",
		"x:6: nodes[0].gim: bad size",
		"x:7: nodes[0].lcores: bad CPU list",
		"x:9: nodes[1]: unknown key, expected name|",
		"x:11: groups: wrong type, expected a list",
		"x:13: links[0].b: bad text",
	};
	struct findings f = { 0 };

	assert_int_equal(
		weft_topo_check_text("x", yaml, strlen(yaml), keep, &f), WEFT_ARRAY_SIZE(says));
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(says); i++)
		assert_memory_equal(f.text[i], says[i], strlen(says[i]));
}
