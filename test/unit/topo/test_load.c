/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Good topology files arrive whole: every form of every key, defaults, the built-in fabric. */

#include "topo_test.h"

#include "weft_flit.h"
#include "weft_ide.h"
#include "weft_impair.h"
#include "weft_isn.h"
#include "weft_wire.h"

#include <unistd.h>

WEFT_TEST(every_form_is_read)
{
	struct weft_topo *t = topo_test_load(TOPO_FORMS);
	const struct weft_topo_node *n = t->node;

	assert_string_equal(t->fabric, "forms-1_x");
	assert_int_equal(t->mode, WEFT_MODE_CXL);
	assert_int_equal(t->isn, WEFT_ISN_XOR);
	assert_int_equal(t->crc_order, WEFT_CRC_R7_FIRST);
	assert_int_equal(t->flits_per_frame, 5);
	assert_int_equal(t->retry.ack_every, 1);
	assert_int_equal(t->retry.window, 511);
	assert_int_equal(t->retry.selective, 1);
	assert_int_equal(t->retry.rx_buffer, 64);
	assert_int_equal(t->ide.mode, WEFT_IDE_CONTAINMENT);
	assert_string_equal(t->ide.key_file, "keys/lab.bin");
	assert_int_equal(t->ide.pcrc, 0);
	assert_int_equal(t->ide.stop, 1);
	assert_int_equal(t->ide.poison, 1);
	assert_true(t->ide.rekey_flits == UINT64_C(1) << 40);
	assert_int_equal(t->ide.rekey_ms, 50);
	assert_int_equal(t->n_nodes, 7);
	assert_int_equal(t->n_links, 7);
	assert_int_equal(t->n_ports, 14);
	assert_int_equal(t->n_hosts, 2);
	assert_int_equal(t->n_gfds, 3);

	assert_string_equal(n[0].name, "h0");
	assert_string_equal(n[0].server, "box.example.org");
	assert_int_equal(n[0].pid, 257);
	assert_int_equal(n[0].n_lcores, 1);
	assert_int_equal(n[0].lcore[0], 2);
	assert_int_equal(n[1].n_lcores, 6);
	assert_int_equal(n[1].lcore[3], 3);
	assert_int_equal(n[1].lcore[5], 1023);
	assert_int_equal(n[2].pid, 0xFFE);
	assert_int_equal(n[2].n_lcores, 0);
	assert_int_equal(n[3].pid, 0);
	assert_int_equal(n[4].memory, 1u << 20);
	assert_int_equal(n[4].numa, 63);
	assert_int_equal(n[5].memory, UINT64_C(64) << 30);
	assert_int_equal(n[5].numa, -1);
	assert_int_equal(n[6].memory, 512u << 10);
	assert_int_equal(n[6].numa, -1);
	weft_topo_free(t);
}

struct port_row {
	const char *device;
	const char *socket;
	uint8_t kind;
	uint8_t driver;
	uint16_t mtu;
};

WEFT_TEST(ports_know_device_driver_and_mtu)
{
	static const struct port_row rows[][2] = {
		{ { "", "", WEFT_TOPO_NO_DEVICE, WEFT_TOPO_RING, 1500 },
			{ "", "", WEFT_TOPO_NO_DEVICE, WEFT_TOPO_RING, 1500 } },
		{ { "", "/tmp/s.sock", WEFT_TOPO_NO_DEVICE, WEFT_TOPO_MEMIF, 1500 },
			{ "", "/tmp/s.sock", WEFT_TOPO_NO_DEVICE, WEFT_TOPO_MEMIF, 1500 } },
		{ { "0000:5e:00.1", "", WEFT_TOPO_PCI, WEFT_TOPO_AUTO, 4114 },
			{ "0000:5f:00.0", "", WEFT_TOPO_PCI, WEFT_TOPO_VFIO, 1500 } },
		{ { "veth0", "", WEFT_TOPO_NETIF, WEFT_TOPO_AF_PACKET, 1500 },
			{ "veth1", "", WEFT_TOPO_NETIF, WEFT_TOPO_AF_XDP, 1500 } },
		{ { "", "", WEFT_TOPO_NO_DEVICE, WEFT_TOPO_AUTO, 1500 },
			{ "", "", WEFT_TOPO_NO_DEVICE, WEFT_TOPO_AUTO, 1500 } },
		{ { "", "", WEFT_TOPO_NO_DEVICE, WEFT_TOPO_RING, 1500 },
			{ "", "", WEFT_TOPO_NO_DEVICE, WEFT_TOPO_RING, 1500 } },
		{ { "net_pcap0,rx_pcap=x.pcap,tx_pcap=y.pcap", "", WEFT_TOPO_DEVARGS,
			  WEFT_TOPO_VDEV, 1500 },
			{ "net_null0", "", WEFT_TOPO_DEVARGS, WEFT_TOPO_VDEV, 1500 } },
	};
	struct weft_topo *t = topo_test_load(TOPO_FORMS);

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		for (unsigned int e = 0; e < 2; e++) {
			const struct weft_topo_port *p =
				&t->port[e == 0 ? t->link[i].a : t->link[i].b];

			assert_string_equal(p->device, rows[i][e].device);
			assert_string_equal(p->socket, rows[i][e].socket);
			assert_int_equal(p->device_kind, rows[i][e].kind);
			assert_int_equal(p->driver, rows[i][e].driver);
			assert_int_equal(p->mtu, rows[i][e].mtu);
		}
	}
	weft_topo_free(t);
}

/* A port's own wire wins; that of a link is bad both ways, by different numbers. */
WEFT_TEST(wires_reach_their_ports)
{
	static const char yaml[] =
		"fabric: f\n"
		"nodes:\n"
		"  - {name: h0, kind: host, pid: 1}\n"
		"  - {name: s0, kind: switch, pid: 2}\n"
		"  - {name: s1, kind: switch, pid: 3}\n"
		"  - {name: g0, kind: gfd, pid: 4}\n"
		"links:\n"
		"  - {a: h0, b: s0, wire: {burst: 3@0.01, delay_us: 20}}\n"
		"  - {a: s0, b: s1, wire: {drop: 0.5, seed: 7}, b_port: {wire: {ber: 1e-6}}}\n"
		"  - {a: s1, b: g0, a_port: {wire: {}}, b_port: {wire: {bits: 2@0, delay_us: 20@0, "
		"jitter_us: 5@0}}}\n";
	static const char *const wires[][2] = {
		{ "seed=1,burst=3,burst_p=0.01,delay_us=20,delay_p=1",
			"seed=18446744073709551614,burst=3,burst_p=0.01,delay_us=20,delay_p=1" },
		{ "seed=7,drop=0.5", "seed=1,ber=1e-06" },
		/* A number alone would switch on its probability: it is switched off again. */
		{ "seed=1", "seed=1,bits=2,bits_p=0,delay_us=20,jitter_us=5,delay_p=0" },
	};
	struct weft_impair_cfg off;
	struct weft_topo_error err;
	struct weft_topo *t;

	if (weft_topo_parse(&t, "wires", yaml, strlen(yaml), &err) != 0)
		fail_msg("%s", err.text);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(wires); i++) {
		struct weft_impair_cfg cfg;

		assert_string_equal(t->port[t->link[i].a].wire, wires[i][0]);
		assert_string_equal(t->port[t->link[i].b].wire, wires[i][1]);
		weft_impair_defaults(&cfg);
		assert_int_equal(weft_impair_parse_list(&cfg, wires[i][0], NULL, 0), 0);
		assert_int_equal(weft_impair_check(&cfg, NULL, 0), 0);
	}
	weft_impair_defaults(&off);
	assert_int_equal(weft_impair_parse_list(&off, wires[2][1], NULL, 0), 0);
	assert_true(off.bits_p <= 0 && off.delay_p <= 0);
	weft_topo_free(t);
}

WEFT_TEST(left_out_keys_take_their_defaults)
{
	struct weft_topo *t = topo_test_load(TOPO_DIAMOND);

	assert_int_equal(t->mode, WEFT_MODE_RXL);
	assert_int_equal(t->isn, WEFT_ISN_PSEUDO);
	assert_int_equal(t->crc_order, WEFT_CRC_R0_FIRST);
	assert_int_equal(t->retry.ack_every, 0);
	assert_int_equal(t->retry.window, 0);
	assert_int_equal(t->retry.selective, -1);
	assert_int_equal(t->retry.rx_buffer, 0);
	assert_int_equal(t->ide.mode, WEFT_IDE_OFF);
	assert_string_equal(t->ide.key_file, "");
	assert_int_equal(t->flits_per_frame, 0);
	assert_int_equal(t->node[0].memory, 16u << 20);
	assert_int_equal(t->node[0].numa, -1);
	assert_int_equal(t->node[1].memory, 0);
	assert_string_equal(t->node[1].server, "");
	assert_int_equal(t->port[t->link[4].a].mtu, 9000);
	assert_int_equal(t->port[t->link[4].a].driver, WEFT_TOPO_AUTO);
	weft_topo_free(t);
}

WEFT_TEST(documented_example_loads)
{
	struct weft_topo *t = topo_test_load(TOPO_EXAMPLE);

	assert_int_equal(t->n_nodes, 6);
	assert_int_equal(t->n_links, 5);
	assert_int_equal(weft_topo_path_flits(t, 0, 4), 13);
	weft_topo_free(t);
}

WEFT_TEST(built_in_fabric_runs_in_one_process)
{
	struct weft_topo_error err;
	struct weft_topo *t;

	assert_int_equal(weft_topo_parse(&t, WEFT_TOPO_DEMO_NAME, weft_topo_demo_yaml,
				 strlen(weft_topo_demo_yaml), &err),
		0);
	assert_int_equal(t->n_hosts, 2);
	assert_int_equal(t->n_gfds, 2);
	assert_int_equal(t->n_nodes, 6);
	for (unsigned int i = 0; i < t->n_ports; i++)
		assert_int_equal(t->port[i].driver, WEFT_TOPO_RING);
	for (unsigned int i = 0; i < t->n_nodes; i++)
		assert_string_equal(t->node[i].server, "");
	for (unsigned int h = 0; h < 2; h++) {
		for (unsigned int g = 0; g < 2; g++)
			assert_int_equal(weft_topo_path_flits(t, t->host[h], t->gfd[g]), 16);
	}
	weft_topo_free(t);
}

WEFT_TEST(file_errors_have_no_line)
{
	char path[] = "/tmp/weft-topo-XXXXXX";
	struct weft_topo_error err;
	struct weft_topo *t;
	int fd;

	assert_int_equal(weft_topo_load(&t, "/nonexistent/lab.yaml", &err), -ENOENT);
	assert_null(t);
	assert_int_equal(err.line, 0);
	assert_string_equal(
		err.text, "/nonexistent/lab.yaml: cannot open: No such file or directory");
	assert_int_equal(weft_topo_load(&t, "/", &err), -EISDIR);
	assert_null(t);
	assert_int_equal(weft_topo_load(&t, "/nonexistent/lab.yaml", NULL), -ENOENT);

	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, WEFT_TOPO_BYTES + 1), 0);
	assert_int_equal(weft_topo_load(&t, path, &err), -EFBIG);
	assert_null(t);
	assert_non_null(strstr(err.text, ": file too large, expected at most 1048576 bytes"));
	assert_int_equal(ftruncate(fd, WEFT_TOPO_BYTES), 0);
	assert_int_equal(weft_topo_load(&t, path, &err), -EINVAL);
	close(fd);
	unlink(path);
}

/* Form of each link of a file that begins with @p head and has @p link as its second link. */
static const char *
forms_of(const char *head, const char *link)
{
	static char text[16];
	struct weft_topo_error err;
	struct weft_topo *t;
	char yaml[2048];

	snprintf(yaml, sizeof(yaml),
		"fabric: forms\n%snodes:\n  - {name: h0, kind: host, pid: 1}\n"
		"  - {name: h1, kind: host, pid: 2}\n  - {name: d0, kind: device, pid: 3}\n"
		"  - {name: s0, kind: switch, pid: 4}\n  - {name: s1, kind: switch, pid: 5}\n"
		"  - {name: g0, kind: gfd, pid: 6}\nlinks:\n  - {a: h0, b: s0}\n"
		"  - {a: s1, b: h1%s}\n  - {a: d0, b: s1}\n  - {a: s0, b: s1}\n"
		"  - {a: g0, b: s1}\n",
		head, link);
	if (weft_topo_parse(&t, "forms", yaml, strlen(yaml), &err) != 0) {
		assert_non_null(strstr(err.text, "link_form"));
		return "refused";
	}
	for (unsigned int i = 0; i < t->n_links; i++) {
		assert_int_equal(t->port[t->link[i].a].form, t->port[t->link[i].b].form);
		text[i] = t->port[t->link[i].a].form == WEFT_FORM_HBR ? 'h' : 'p';
	}
	text[t->n_links] = '\0';
	weft_topo_free(t);
	return text;
}

/* Hosts and devices at switches, in cxl mode, but for clients and agents of translation. */
WEFT_TEST(links_have_the_form_that_their_ends_can)
{
	assert_string_equal(forms_of("", ""), "ppppp");
	assert_string_equal(forms_of("mode: cxl\n", ""), "hhhpp");
	assert_string_equal(forms_of("mode: cxl\n", ", link_form: pbr"), "hphpp");
	assert_string_equal(forms_of("mode: cxl\ndefaults: {link_form: pbr}\n", ""), "ppppp");
	assert_string_equal(
		forms_of("mode: cxl\ndefaults: {link_form: pbr}\n", ", link_form: hbr"), "phppp");
	assert_string_equal(forms_of("mode: cxl\ndefaults: {link_form: hbr}\n", ""), "hhhpp");
	assert_string_equal(forms_of("mode: rxl\n", ", link_form: hbr"), "refused");
	assert_string_equal(forms_of("mode: rxl\n", ", link_form: pbr"), "ppppp");
}
