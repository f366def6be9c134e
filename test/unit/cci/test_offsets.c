/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where fields are, typed in by hand from fabric.md a second time: of all that is long,
 * unaligned, or has something after its list. A field that is set alone changes its bytes and no
 * others.
 */

#include "cci_draw.h"

static const struct place {
	const char *layout, *field;
	unsigned int at, size;
} places[] = {
	{ "identify_rsp", "serial", 0x8, 8 },
	{ "identify_rsp", "maxmsg", 0x10, 1 },
	{ "identify_rsp", "comp", 0x11, 1 },
	{ "background_status_rsp", "op", 0x2, 2 },
	{ "background_status_rsp", "ext", 0x6, 2 },
	{ "get_event_records_rsp", "ovf", 0x2, 2 },
	{ "get_event_records_rsp", "first_ts", 0x4, 8 },
	{ "get_event_records_rsp", "last_ts", 0xC, 8 },
	{ "get_event_records_rsp", "n", 0x14, 2 },
	{ "record", "length", 0x10, 1 },
	{ "record", "flags", 0x11, 3 },
	{ "record", "handle", 0x14, 2 },
	{ "record", "related", 0x16, 2 },
	{ "record", "ts", 0x18, 8 },
	{ "record", "maintenance", 0x20, 2 },
	{ "record", "ld", 0x22, 2 },
	{ "record", "head", 0x24, 1 },
	{ "record", "data", 0x30, 80 },
	{ "enhanced_event_req", "mask", 0x2, 2 },
	{ "enhanced_event_req", "type", 0x4, 1 },
	{ "enhanced_event_req", "trig", 0x5, 1 },
	{ "enhanced_event_req", "rpid", 0x6, 2 },
	{ "enhanced_event_req", "dpa", 0x8, 8 },
	{ "enhanced_event_req", "hpa", 0x10, 8 },
	{ "enhanced_event_req", "grp", 0x18, 2 },
	{ "enhanced_event_req", "memop", 0x1A, 1 },
	{ "enhanced_event_req", "flags", 0x1C, 2 },
	{ "enhanced_event_req", "handle", 0x1E, 2 },
	{ "enhanced_event_req", "ts", 0x20, 8 },
	{ "gam_event_req", "memop", 0x3, 1 },
	{ "gam_event_req", "rpid", 0x6, 2 },
	{ "gam_event_req", "ts", 0x18, 8 },
	{ "identify_pbr_component_rsp", "prim_fm_pid", 0x2, 2 },
	{ "identify_pbr_component_rsp", "prim_uuid", 0x4, 16 },
	{ "identify_pbr_component_rsp", "sec_fm_pid", 0x14, 2 },
	{ "identify_pbr_component_rsp", "sec_uuid", 0x16, 16 },
	{ "claim_ownership_req", "fm_pid", 0x1, 2 },
	{ "claim_ownership_req", "fm_uuid", 0x3, 16 },
	{ "claim_ownership_req", "new_pid", 0x13, 2 },
	{ "claim_ownership_rsp", "prim_uuid", 0x2, 16 },
	{ "claim_ownership_rsp", "sec_fm_pid", 0x12, 2 },
	{ "claim_ownership_rsp", "sec_uuid", 0x14, 16 },
	{ "read_cdat_req", "start", 0x4, 8 },
	{ "read_cdat_req", "n", 0xC, 8 },
	{ "identify_gfd_rsp", "ngrp", 0x2, 2 },
	{ "identify_gfd_rsp", "add_pol", 0x4, 2 },
	{ "identify_gfd_rsp", "qos", 0x6, 1 },
	{ "identify_gfd_rsp", "rel_pol", 0x8, 2 },
	{ "identify_gfd_rsp", "san_mask", 0xA, 1 },
	{ "identify_gfd_rsp", "total", 0xC, 8 },
	{ "identify_gfd_rsp", "region_blk", 0x14, 64 },
	{ "identify_gfd_rsp", "dmp_blk", 0x54, 32 },
	{ "identify_gfd_rsp", "volatile", 0x74, 8 },
	{ "identify_gfd_rsp", "persistent", 0x7C, 8 },
	{ "get_gfd_status_rsp", "lane", 0x8, 1 },
	{ "get_gfd_status_rsp", "flags", 0x9, 2 },
	{ "get_dc_regions_rsp", "avail", 0x2, 1 },
	{ "get_dc_regions_rsp", "ext_total", 0x4, 4 }, /* of no regions; they follow the list */
	{ "get_dc_regions_rsp", "ext_avail", 0x8, 4 },
	{ "get_dc_regions_rsp", "tag_total", 0xC, 4 },
	{ "get_dc_regions_rsp", "tag_avail", 0x10, 4 },
	{ "set_dc_region_req", "blk", 0x4, 8 },
	{ "set_dc_region_req", "san", 0xC, 1 },
	{ "set_dc_region_req", "base", 0x10, 8 },
	{ "set_dc_region_req", "decode_len", 0x18, 8 },
	{ "set_dc_region_req", "len", 0x20, 8 },
	{ "get_extents_rsp", "start", 0x4, 4 },
	{ "get_extents_rsp", "n", 0x8, 4 },
	{ "get_extents_rsp", "total", 0xC, 4 },
	{ "get_extents_rsp", "gen", 0x10, 4 },
	{ "dc_add_req", "policy", 0x2, 1 },
	{ "dc_add_req", "region", 0x3, 1 },
	{ "dc_add_req", "len", 0x4, 8 },
	{ "dc_add_req", "tag", 0xC, 16 },
	{ "dc_add_req", "n", 0x1C, 4 },
	{ "dc_add_req", "max_rsp", 0x20, 4 },
	{ "dc_release_req", "flags", 0x2, 1 },
	{ "dc_release_req", "max_rsp", 0x20, 4 },
	{ "region", "decode_len", 0x8, 8 },
	{ "region", "len", 0x10, 8 },
	{ "region", "blk", 0x18, 8 },
	{ "region", "flags", 0x20, 1 },
	{ "region", "idx", 0x21, 1 },
	{ "region", "san", 0x24, 1 },
	{ "extent", "len", 0x8, 8 },
	{ "extent", "tag", 0x10, 16 },
	{ "extent", "seq", 0x20, 2 },
	{ "gdt", "hpa_base", 0x4, 8 },
	{ "gdt", "dpa_base", 0xC, 8 },
	{ "gdt", "dpa_len", 0x14, 8 },
	{ "gdt", "intlv", 0x1C, 1 },
	{ "gdt", "gran", 0x1D, 1 },
	{ "gdt", "way", 0x1E, 1 },
	{ "get_gdt_rsp", "start", 0x4, 1 },
	{ "get_gdt_rsp", "n", 0x5, 1 },
	{ "get_gdt_rsp", "total", 0x6, 1 },
	{ "set_gdt_req", "n", 0x4, 1 },
	{ "set_gdt_req", "start", 0x5, 1 },
	{ "identify_switch_rsp", "nports", 0x2, 1 },
	{ "identify_switch_rsp", "ports", 0x4, 32 },
	{ "identify_switch_rsp", "vcs", 0x24, 32 },
	{ "identify_switch_rsp", "vppbs", 0x44, 2 },
	{ "identify_switch_rsp", "bound", 0x46, 2 },
	{ "identify_switch_rsp", "hdm", 0x48, 1 },
	{ "port_block", "mode", 0x2, 1 },
	{ "port_block", "type", 0x4, 1 },
	{ "port_block", "ltssm", 0xB, 1 },
	{ "port_block", "flags", 0xD, 2 },
	{ "port_block", "ld", 0xF, 1 },
	{ "ppb_config_req", "reg", 0x1, 3 },
	{ "ppb_config_req", "data", 0x4, 4 },
	{ "generate_aer_req", "err", 0x4, 4 },
	{ "generate_aer_req", "hdr", 0x8, 32 },
	{ "identify_pbr_switch_rsp", "ndrt", 0x8, 1 },
	{ "identify_pbr_switch_rsp", "nrgt", 0x9, 1 },
	{ "identify_pbr_switch_rsp", "modes", 0xB, 1 },
	{ "lpi_block", "pid_type", 0x2, 2 },
	{ "lpi_block", "id", 0x4, 16 },
	{ "lpi_block", "vc", 0x14, 1 },
	{ "lpi_block", "uio_vc", 0x15, 1 },
	{ "lpi_block", "prim_uuid", 0x16, 16 },
	{ "lpi_block", "sec_uuid", 0x26, 16 },
	{ "lpi_vdm", "pid_type", 0x2, 2 },
	{ "lpi_vdm", "sec_uuid", 0x26, 16 },
	{ "pid_target", "vcs", 0x4, 1 },
	{ "pid_target", "port", 0x5, 1 },
	{ "pid_target", "pid", 0x6, 2 },
	{ "get_pid_binding_rsp", "lat_unit", 0x4, 8 },
	{ "get_pid_binding_rsp", "lat", 0xC, 2 },
	{ "get_pid_binding_rsp", "bw_unit", 0xE, 8 },
	{ "get_pid_binding_rsp", "bw", 0x16, 2 },
	{ "configure_pid_binding_req", "vppb", 0x2, 1 },
	{ "configure_pid_binding_req", "pid", 0x4, 2 },
	{ "configure_pid_binding_req", "lat_unit", 0x8, 8 },
	{ "configure_pid_binding_req", "lat", 0x10, 2 },
	{ "configure_pid_binding_req", "bw_unit", 0x12, 8 },
	{ "configure_pid_binding_req", "bw", 0x1A, 2 },
	{ "table", "index", 0x1, 2 },
	{ "table", "ports", 0x3, 32 },
	{ "rgt_entry", "cnt", 0x8, 1 },
	{ "rgt_entry", "mode", 0x9, 1 },
	{ "get_drt_rsp", "rgt", 0x6, 1 },
	{ "get_ldst_config_rsp", "nseg", 0x1, 2 },
	{ "get_ldst_config_rsp", "lsegsz", 0x3, 1 },
	{ "get_ldst_config_rsp", "nidt", 0x4, 2 },
	{ "get_ldst_config_rsp", "nrr", 0x6, 2 },
	{ "get_ldst_config_rsp", "pid", 0x8, 2 },
	{ "get_ldst_config_rsp", "base", 0xA, 8 },
	{ "get_ldst_config_rsp", "limit", 0x12, 8 },
	{ "set_ldst_config_req", "base", 0x2, 8 },
	{ "set_ldst_config_req", "limit", 0xA, 8 },
	{ "get_fast_config_rsp", "fsegsz", 0x3, 1 },
	{ "get_fast_config_rsp", "npid", 0x6, 1 },
	{ "get_fast_config_rsp", "vp", 0x7, 1 },
	{ "get_fast_config_rsp", "base", 0xA, 8 },
	{ "get_fast_config_rsp", "limit", 0x12, 8 },
	{ "set_fast_config_req", "vp", 0x2, 1 },
	{ "set_fast_config_req", "base", 0x4, 8 },
	{ "set_fast_config_req", "limit", 0xC, 8 },
	{ "proxy_command_req", "req_addr", 0x2, 8 },
	{ "proxy_command_req", "req_size", 0xA, 2 },
	{ "proxy_command_req", "rsp_addr", 0xC, 8 },
	{ "proxy_command_req", "rsp_max", 0x14, 2 },
	{ "proxy_command_rsp", "avail", 0x1, 2 },
	{ "configure_vcs_pid_access_req", "pid_op", 0x2, 2 },
	{ "configure_vcs_pid_access_req", "lat_unit", 0x4, 8 },
	{ "configure_vcs_pid_access_req", "lat", 0xC, 2 },
	{ "configure_vcs_pid_access_req", "bw_unit", 0xE, 8 },
	{ "configure_vcs_pid_access_req", "bw", 0x16, 2 },
};

/* Where lists begin. */
static const struct place lists[] = {
	{ "get_event_records_rsp", "records", 0x20, 128 },
	{ "clear_event_records_req", "handles", 0x6, 2 },
	{ "get_supported_logs_rsp", "logs", 0x8, 20 },
	{ "read_cdat_rsp", "data", 0x10, 1 },
	{ "get_dc_regions_rsp", "region", 0x4, 40 },
	{ "get_extents_rsp", "extent", 0x18, 40 },
	{ "get_dmps_rsp", "dmp", 0x4, 40 },
	{ "set_dmps_req", "dmp", 0x4, 40 },
	{ "dc_add_req", "extent", 0x24, 40 },
	{ "dc_add_rsp", "extent", 0x18, 40 },
	{ "dc_release_req", "extent", 0x24, 40 },
	{ "get_sat_rsp", "vec", 0x6, 4 },
	{ "set_sat_req", "rows", 0x2, 6 },
	{ "get_gfd_bw_limit_rsp", "frac", 0x4, 1 },
	{ "get_gdt_rsp", "gdt", 0x8, 32 },
	{ "set_gdt_req", "gdt", 0x6, 32 },
	{ "get_port_state_req", "ports", 0x1, 1 },
	{ "get_port_state_rsp", "block", 0x4, 16 },
	{ "get_vcs_info_req", "vcs", 0x3, 1 },
	{ "tunnel_req", "msg", 0x4, 1 },
	{ "crawl_out_req", "msg", 0x6, 1 },
	{ "crawl_out_rsp", "msg", 0x4, 1 },
	{ "get_link_partner_info_rsp", "block", 0x4, 54 },
	{ "get_pid_targets_rsp", "entry", 0x4, 8 },
	{ "configure_pid_assignment_req", "entry", 0x4, 5 },
	{ "get_table_descriptors_rsp", "entry", 0x4, 39 },
	{ "get_drt_rsp", "entry", 0x8, 2 },
	{ "set_drt_req", "entry", 0x6, 2 },
	{ "get_rgt_rsp", "entry", 0x6, 12 },
	{ "set_rgt_req", "entry", 0x6, 12 },
	{ "get_ldst_rsp", "entry", 0x4, 8 },
	{ "set_ldst_req", "entry", 0x6, 8 },
	{ "set_ldst_idt_req", "pid", 0x8, 2 },
	{ "set_rerouter_req", "entry", 0x6, 5 },
	{ "identify_gae_rsp", "vppbs", 0x8, 4 },
	{ "get_fast_config_rsp", "pid", 0x1A, 2 },
	{ "set_idt_req", "pid", 0x8, 2 },
	{ "get_vcs_pid_access_rsp", "data", 0x4, 1 },
};

static const struct weft_cci_layout *found;
static const char *wanted;

static void
look(struct weft_rand *r, const struct weft_cci_layout *l)
{
	(void)r;
	if (strcmp(l->name, wanted) == 0)
		found = l;
}

static const struct weft_cci_field *
find_field(const struct place *p)
{
	found = NULL;
	wanted = p->layout;
	cci_each(look, NULL);
	if (found == NULL)
		fail_msg("no layout %s", p->layout);
	for (unsigned int i = 0; i < found->n_fields; i++)
		if (strcmp(found->fields[i].name, p->field) == 0)
			return &found->fields[i];
	fail_msg("no field %s of %s", p->field, p->layout);
	return NULL;
}

WEFT_TEST(fields_are_where_the_specification_has_them)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(places); i++) {
		const struct place *p = &places[i];
		const struct weft_cci_field *f = find_field(p), *list = cci_list_of(found);
		uint8_t b[WEFT_CCI_MAX_PAYLOAD];
		struct cci_drawn d;
		const bool is_count = list != NULL && f->at == list->count_at;
		int len;

		memset(&d, 0, sizeof(d));
		memset(b, 0xA5, sizeof(b));
		if (is_count) {
			const uint8_t *at = d.list;

			memcpy(d.p + list->at, &at, sizeof(at));
			cci_set_member(d.p, f->at, f->width, 1);
		} else if (f->kind == WEFT_CCI_FIELD_NUMBER) {
			cci_set_member(d.p, f->at, f->width, weft_mask64(8u * f->size));
		} else {
			memset(d.p + f->at, 0xFF, (size_t)f->size * f->n);
		}
		len = found->put(b, sizeof(b), d.p);
		assert_true(len >= 0);
		for (unsigned int k = 0; k < (unsigned int)len; k++) {
			const bool inside = k >= p->at && k < p->at + p->size;
			const uint8_t want = is_count ? k == p->at : inside ? 0xFF : 0;

			if (b[k] != want)
				fail_msg("%s.%s: byte %Xh is %02x", p->layout, p->field, k, b[k]);
		}
	}
}

WEFT_TEST(lists_are_where_the_specification_has_them)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(lists); i++) {
		const struct place *p = &lists[i];
		const struct weft_cci_field *f = find_field(p);
		uint8_t b[WEFT_CCI_MAX_PAYLOAD];
		struct cci_drawn d;
		const uint8_t *at = d.list;
		int len;

		assert_int_equal(f->size, p->size);
		memset(&d, 0, sizeof(d));
		memset(d.list, 0xEE, sizeof(d.list));
		memcpy(d.p + f->at, &at, sizeof(at));
		cci_set_member(d.p, f->count_at, f->count_width, 3);
		len = found->put(b, sizeof(b), d.p);
		assert_int_equal(len, found->len + 3 * f->size);
		for (unsigned int k = 0; k < (unsigned int)len; k++)
			if ((b[k] == 0xEE) != (k >= p->at && k < p->at + 3u * p->size))
				fail_msg("%s.%s: byte %Xh is %02x", p->layout, p->field, k, b[k]);
	}
}

/* Largest numbers of elements in a message, fabric.md 4.1. */
WEFT_TEST(as_many_elements_fit_as_the_specification_says)
{
	static const struct place most[] = { { "set_drt_req", "entry", 509, 0 },
		{ "set_rgt_req", "entry", 84, 0 }, { "set_fast_req", "entry", 127, 0 },
		{ "set_idt_req", "pid", 508, 0 }, { "set_sat_req", "rows", 170, 0 },
		{ "set_dmps_req", "dmp", 25, 0 }, { "get_dc_regions_rsp", "region", 25, 0 } };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(most); i++) {
		const struct weft_cci_field *f = find_field(&most[i]);

		assert_int_equal((WEFT_CCI_MAX_PAYLOAD - found->len) / f->size, most[i].at);
	}
}
