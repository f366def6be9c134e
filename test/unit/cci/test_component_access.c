/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Who may call what: table 4.3, caller by caller, against a copy of it typed in by hand; ownership
 * (4.4), two managers that race; the command effects log that each sees; read-only mode; aliases.
 */

#include "cci_rig.h"

/* Table 4.3: rows as printed there, columns switch FM, switch host, GFD FM, GFD host. */
static const struct {
	uint16_t opcode[16];
	uint8_t n;
	const char *who;
} table[] = {
	{ { 0x0001, 0x0002 }, 2, "MOMM" },
	{ { 0x0003, 0x0004 }, 2, "M-M-" },
	{ { 0x0005 }, 1, "OOO-" },
	{ { 0x0100, 0x0101 }, 2, "OOM-" },
	{ { 0x0104, 0x0105, 0x0106 }, 3, "O-M-" },
	{ { 0x0107, 0x0108 }, 2, "--MO" },
	{ { 0x0109, 0x010A }, 2, "-M--" },
	{ { 0x0200, 0x0300, 0x0301, 0x0500, 0x0600, 0x0402, 0x0405 }, 7, "O-O-" },
	{ { 0x0400, 0x0401 }, 2, "OOMM" },
	{ { 0x0700, 0x0701 }, 2, "M-M-" },
	{ { 0x0702 }, 1, "MMMM" },
	{ { 0x4000 }, 1, "--MM" },
	{ { 0x4200, 0x4201, 0x4202 }, 3, "--MO" },
	{ { 0x4300, 0x4305, 0x4400, 0x4402 }, 4, "--OO" },
	{ { 0x4900, 0x4901, 0x4902, 0x4904 }, 4, "--MM" },
	/* what a GFD never takes from hosts, which the table would leave to us */
	{ { 0x4905, 0x4907, 0x4908, 0x490C, 0x490D, 0x490F, 0x4912 }, 7, "--M-" },
	{ { 0x490E, 0x4910, 0x4911 }, 3, "--MO" },
	{ { 0x4903, 0x4906, 0x4909, 0x490A, 0x490B }, 5, "--O-" },
	{ { 0x4913, 0x4914 }, 2, "---M" },
	{ { 0x5100, 0x5101 }, 2, "MM--" },
	{ { 0x5102, 0x5103, 0x5106, 0x5107, 0x5200, 0x5203, 0x5300, 0x5302 }, 8, "O---" },
	{ { 0x5104 }, 1, "OO--" },
	{ { 0x5105 }, 1, "-O--" },
	{ { 0x5700, 0x5701, 0x5702, 0x5703, 0x5704, 0x5705, 0x5706, 0x5707, 0x5708, 0x5709 }, 10,
		"M---" },
	{ { 0x570A, 0x570B, 0x5715, 0x5716 }, 4, "O---" },
	{ { 0x570C, 0x570D, 0x570E, 0x570F, 0x5710, 0x5711, 0x5712, 0x5713, 0x5714 }, 9, "-O--" },
	{ { 0x5800, 0x5801, 0x5802, 0x5806, 0x5808, 0x5809, 0x580A, 0x580B }, 8, "-M--" },
	{ { 0x5900, 0x5901, 0x5902 }, 3, "M---" },
	{ { 0x5903, 0x5904 }, 2, "O---" },
	/* in no table */
	{ { 0x0000, 0x0006, 0x010B, 0x0406, 0x0703, 0x4001, 0x4915, 0x50FF, 0x5108, 0x5717 }, 10,
		"----" },
	{ { 0x580C, 0x5905, 0xC001, 0xC700, 0xD709, 0xFFFF }, 6, "----" },
};

static const uint8_t types[] = { WEFT_CCI_TYPE_SWITCH, WEFT_CCI_TYPE_GFD };

static uint16_t
row_run(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len, uint8_t *rsp,
	size_t *rsp_len)
{
	(void)who;
	(void)req;
	(void)len;
	(void)rsp;
	++*(unsigned int *)arg;
	*rsp_len = 0;
	return WEFT_CCI_SUCCESS;
}

static unsigned int n_runs;
static struct weft_cci_command row;
static struct weft_cci_component_cfg cfg;

/* A component of a type that has one row beside its own. */
static void
begin(uint8_t type, uint16_t opcode, uint8_t who, bool is_write)
{
	row = (struct weft_cci_command){ opcode, 0, who, is_write, row_run };
	cfg.type = type;
	cfg.command = &row;
	cfg.n_commands = 1;
	cfg.arg = &n_runs;
	assert_int_equal(weft_cci_component_init(&rig, &cfg), 0);
	n_runs = 0;
}

static int
plain(void **state)
{
	(void)state;
	memset(&cfg, 0, sizeof(cfg));
	cfg.pid = WEFT_CCI_NO_PID;
	begin(WEFT_CCI_TYPE_SWITCH, 0x5709, WEFT_CCI_WHO_FM, true);
	return 0;
}

WEFT_TEST_EACH(plain, NULL)

WEFT_TEST(table_is_that_of_the_text)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(table); i++)
		for (unsigned int k = 0; k < table[i].n; k++)
			for (unsigned int col = 0; col < 4; col++) {
				const char c = table[i].who[col];

				assert_int_equal(
					weft_cci_access(types[col / 2],
						(enum weft_cci_iface)(col % 2), table[i].opcode[k]),
					c == 'M'   ? WEFT_CCI_MANDATORY
					: c == 'O' ? WEFT_CCI_OPTIONAL
						   : WEFT_CCI_PROHIBITED);
			}
}

static bool
is_own(uint16_t opcode)
{
	for (unsigned int i = 0; i < rig.n_rows; i++)
		if (rig.row[i].command->opcode == opcode && rig.row[i].command != &row)
			return true;
	return false;
}

/* The component goes by the table, whatever the row of the responder would allow. */
WEFT_TEST(row_is_reached_only_by_whom_the_table_names)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(table); i++)
		for (unsigned int k = 0; k < table[i].n; k++)
			for (unsigned int col = 0; col < 4; col++) {
				const uint16_t opcode = table[i].opcode[k];
				const bool may = table[i].who[col] != '-';

				begin(types[col / 2], 0x5709, WEFT_CCI_WHO_FM, true);
				if (is_own(opcode))
					continue;
				begin(types[col / 2], opcode, WEFT_CCI_WHO_BOTH, true);
				assert_int_equal(rig_claim(rig_fm(RIG_FM), 0, RIG_FM, 1, 1), 0);
				assert_int_equal(
					rig_send(col % 2 == 0 ? rig_fm(RIG_FM) : rig_host(RIG_FM),
						opcode, NULL, 0),
					may ? WEFT_CCI_SUCCESS : WEFT_CCI_UNSUPPORTED);
				assert_int_equal(n_runs, may);
			}
}

WEFT_TEST(row_is_not_reached_by_an_interface_that_it_does_not_name)
{
	begin(WEFT_CCI_TYPE_SWITCH, 0x5100, WEFT_CCI_WHO_HOST, false);
	assert_int_equal(rig_claim(rig_fm(RIG_FM), 0, RIG_FM, 1, 1), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_ask(0x5100, NULL, 0), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(rig_send(rig_host(1), 0x5100, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(
		rig_send((struct weft_cci_caller){ WEFT_CCI_IFACES, RIG_FM }, 0x5100, NULL, 0),
		WEFT_CCI_UNSUPPORTED);
	assert_int_equal(
		rig_send((struct weft_cci_caller){ 0xFF, RIG_FM }, WEFT_CCI_IDENTIFY, NULL, 0),
		WEFT_CCI_UNSUPPORTED);
}

/* Opcodes of the effects log that @p who sees. */
static unsigned int
read_cel(struct weft_cci_caller who, uint16_t opcode[WEFT_CCI_COMMANDS_MAX])
{
	uint8_t req[24] = { 0x0d, 0xa9, 0xc0, 0xb5, 0xbf, 0x41, 0x4b, 0x78, 0x8f, 0x79, 0x96, 0xb1,
		0x62, 0x3b, 0x3f, 0x17 };
	unsigned int n;

	assert_int_equal(rig_send(who, WEFT_CCI_GET_SUPPORTED_LOGS, NULL, 0), WEFT_CCI_SUCCESS);
	memcpy(req + 20, rig_rsp + WEFT_CCI_HDR + 24, 4);
	assert_int_equal(rig_send(who, WEFT_CCI_GET_LOG, req, sizeof(req)), WEFT_CCI_SUCCESS);
	n = (unsigned int)(rig_rsp_len / 4);
	for (unsigned int i = 0; i < n; i++)
		opcode[i] = weft_get_le16(rig_rsp + WEFT_CCI_HDR + (size_t)4 * i);
	return n;
}

static const uint16_t everybody[] = { 0x0001, 0x0400, 0x0401, 0x0700, 0x0701 };

static bool
is_for_everybody(uint16_t opcode)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(everybody); i++)
		if (everybody[i] == opcode)
			return true;
	return false;
}

/* Five commands and no other, before anybody owns it and for all that do not afterwards. */
static void
check_is_stranger(struct weft_cci_caller who)
{
	uint16_t cel[WEFT_CCI_COMMANDS_MAX];

	assert_int_equal(read_cel(who, cel), WEFT_ARRAY_SIZE(everybody));
	assert_memory_equal(cel, everybody, sizeof(everybody));
	for (unsigned int i = 0; i < rig.n_rows; i++) {
		const uint16_t opcode = rig.row[i].command->opcode;
		const uint16_t rc = rig_send(who, opcode, NULL, 0);

		if (is_for_everybody(opcode))
			assert_int_not_equal(rc, WEFT_CCI_UNSUPPORTED);
		else
			assert_int_equal(rc, WEFT_CCI_UNSUPPORTED);
	}
	assert_int_equal(n_runs, 0);
}

WEFT_TEST(stranger_has_five_commands)
{
	check_is_stranger(rig_fm(WEFT_CCI_NO_PID));
	check_is_stranger(rig_fm(RIG_FM));
	assert_int_equal(rig_claim(rig_fm(RIG_FM), 0, RIG_FM, 1, RIG_PID), WEFT_CCI_SUCCESS);
	check_is_stranger(rig_fm(WEFT_CCI_NO_PID));
	check_is_stranger(rig_fm(RIG_FM + 1));
	check_is_stranger(rig_fm(RIG_FM | 0x1000));
	assert_int_equal(rig_ask(0x5709, NULL, 0), WEFT_CCI_SUCCESS);
}

WEFT_TEST(secondary_is_a_stranger_until_it_is_promoted)
{
	assert_int_equal(rig_claim(rig_fm(RIG_FM), 0, RIG_FM, 1, RIG_PID), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_claim(rig_fm(RIG_FM), 1, 0xF01, 2, 0), WEFT_CCI_SUCCESS);
	check_is_stranger(rig_fm(0xF01));
	assert_int_equal(rig_claim(rig_fm(0xF01), 3, 0, 0, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_send(rig_fm(0xF01), 0x5709, NULL, 0), WEFT_CCI_SUCCESS);
	n_runs = 0;
	check_is_stranger(rig_fm(RIG_FM));
}

WEFT_TEST(host_needs_no_owner_and_sees_what_it_may_call)
{
	uint16_t cel[WEFT_CCI_COMMANDS_MAX];

	begin(WEFT_CCI_TYPE_GFD, 0x4914, WEFT_CCI_WHO_HOST, true);
	assert_int_equal(rig_send(rig_host(0x11), 0x4914, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_claim(rig_host(0x11), 0, RIG_FM, 1, 1), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(rig_send(rig_host(0x11), WEFT_CCI_IDENTIFY_PBR_COMPONENT, NULL, 0),
		WEFT_CCI_UNSUPPORTED);
	assert_int_equal(read_cel(rig_host(0x11), cel), 5);
	assert_int_equal(cel[0], 0x0001);
	assert_int_equal(cel[1], 0x0002);
	assert_int_equal(cel[2], 0x0400);
	assert_int_equal(cel[3], 0x0401);
	assert_int_equal(cel[4], 0x4914);
}

/* 0700h: own PID, primary, secondary; with UUIDs of one byte each. */
static void
check_owner(uint16_t pid, uint16_t primary, uint8_t uuid1, uint16_t secondary, uint8_t uuid2)
{
	uint8_t want[38];

	weft_put_le16(want, pid);
	weft_put_le16(want + 2, primary);
	memset(want + 4, uuid1, 16);
	weft_put_le16(want + 20, secondary);
	memset(want + 22, uuid2, 16);
	assert_int_equal(
		rig_send(rig_fm(WEFT_CCI_NO_PID), WEFT_CCI_IDENTIFY_PBR_COMPONENT, NULL, 0), 0);
	assert_int_equal(rig_rsp_len, sizeof(want));
	assert_memory_equal(rig_rsp + WEFT_CCI_HDR, want, sizeof(want));
}

WEFT_TEST(first_manager_owns_it)
{
	check_owner(0xFFF, 0xFFF, 0, 0xFFF, 0);
	assert_int_equal(rig_claim(rig_fm(0xFFF), 0, 0xFFF, 1, 2), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xFFF), 0, 3, 1, 0xFFF), WEFT_CCI_INVALID_INPUT);
	check_owner(0xFFF, 0xFFF, 0, 0xFFF, 0);
	assert_int_equal(rig_claim(rig_fm(0xFFF), 0, 0xF00, 1, 0x123), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_rsp_len, 36);
	assert_int_equal(weft_get_le16(rig_rsp + WEFT_CCI_HDR), 0xF00);
	assert_int_equal(weft_get_le16(rig_rsp + WEFT_CCI_HDR + 18), 0xFFF);
	check_owner(0x123, 0xF00, 1, 0xFFF, 0);
	assert_int_equal(rig_claim(rig_fm(0xF00), 0, 0xF00, 1, 0x124), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xF01), 0, 0xF01, 2, 0x124), WEFT_CCI_INVALID_INPUT);
	check_owner(0x123, 0xF00, 1, 0xFFF, 0);
}

WEFT_TEST(only_the_primary_names_a_secondary_and_changes_pids)
{
	assert_int_equal(rig_claim(rig_fm(0xF00), 1, 0xF01, 2, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xF00), 2, 0xF01, 2, 5), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xFFF), 3, 0xFFF, 0, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xF00), 0, 0xF00, 1, 0x123), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_claim(rig_fm(0xF01), 1, 0xF01, 2, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xF00), 1, 0xFFF, 2, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xF00), 3, 0xF00, 1, 0), WEFT_CCI_INVALID_INPUT);
	check_owner(0x123, 0xF00, 1, 0xFFF, 0);
	assert_int_equal(rig_claim(rig_fm(0xF00), 1, 0xF01, 2, 0), WEFT_CCI_SUCCESS);
	check_owner(0x123, 0xF00, 1, 0xF01, 2);
	assert_int_equal(rig_claim(rig_fm(0xF00), 1, 0xF02, 3, 0), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xF01), 2, 0xF01, 2, 5), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xF00), 2, 0xFFF, 1, 5), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xF00), 2, 0xE00, 9, 0xFFF), WEFT_CCI_INVALID_INPUT);
	check_owner(0x123, 0xF00, 1, 0xF01, 2);
	assert_int_equal(rig_claim(rig_fm(0xF00), 2, 0xE00, 9, 0x124), WEFT_CCI_SUCCESS);
	check_owner(0x124, 0xE00, 1, 0xF01, 2);
	assert_int_equal(rig_claim(rig_fm(0xF00), 2, 0xF00, 1, 5), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xE00), 4, 0xF00, 1, 5), WEFT_CCI_INVALID_INPUT);
	assert_int_equal(rig_claim(rig_fm(0xF01), 3, 0, 0, 0), WEFT_CCI_SUCCESS);
	check_owner(0x124, 0xF01, 2, 0xFFF, 0);
}

static uint16_t
take_none(void *arg, uint16_t pid)
{
	(void)arg;
	return pid == 0x77 ? WEFT_CCI_INVALID_INPUT : WEFT_CCI_SUCCESS;
}

WEFT_TEST(pid_that_the_component_cannot_have_is_refused_and_nobody_owns_it)
{
	cfg.take_pid = take_none;
	begin(WEFT_CCI_TYPE_GFD, 0x4900, WEFT_CCI_WHO_FM, false);
	assert_int_equal(rig_claim(rig_fm(0xF00), 0, 0xF00, 1, 0x77), WEFT_CCI_INVALID_INPUT);
	check_owner(0xFFF, 0xFFF, 0, 0xFFF, 0);
	assert_int_equal(rig_claim(rig_fm(0xF00), 0, 0xF00, 1, 0x78), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_claim(rig_fm(0xF00), 2, 0xE00, 1, 0x77), WEFT_CCI_INVALID_INPUT);
	check_owner(0x78, 0xF00, 1, 0xFFF, 0);
}

/* Whoever comes first at each component has it; the other finds out and goes on. */
WEFT_TEST(of_two_managers_that_race_one_owns_each_component)
{
	static struct weft_cci_component many[16];
	struct weft_rand r;

	weft_test_seed(&r, "race");
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(many); i++)
		assert_int_equal(weft_cci_component_init(&many[i], &cfg), 0);
	for (unsigned int next[2] = { 0, 0 }; next[0] + next[1] < 2 * WEFT_ARRAY_SIZE(many);) {
		unsigned int m = (unsigned int)(weft_rand_below(&r, 2));
		unsigned int at;
		uint16_t rc, primary;

		if (next[m] == WEFT_ARRAY_SIZE(many))
			m ^= 1;
		at = m == 0 ? next[m] : (unsigned int)WEFT_ARRAY_SIZE(many) - 1 - next[m];
		next[m]++;
		rig = many[at];
		primary = weft_cci_component_owner(&rig)->primary_pid;
		rc = rig_claim(rig_fm((uint16_t)(0xF00 + m)), 0, (uint16_t)(0xF00 + m),
			(uint8_t)(m + 1), (uint16_t)(0x100 + at));
		assert_int_equal(
			rc, primary == WEFT_CCI_NO_PID ? WEFT_CCI_SUCCESS : WEFT_CCI_INVALID_INPUT);
		assert_in_range(weft_cci_component_owner(&rig)->primary_pid, 0xF00, 0xF01);
		if (rc != WEFT_CCI_SUCCESS)
			assert_int_equal(weft_cci_component_owner(&rig)->primary_pid, 0xF01 - m);
		many[at] = rig;
	}
}

WEFT_TEST(read_only_component_is_read_by_all_and_written_by_none)
{
	uint16_t cel[WEFT_CCI_COMMANDS_MAX];
	unsigned int n;

	cfg.read_only = true;
	begin(WEFT_CCI_TYPE_SWITCH, 0x5709, WEFT_CCI_WHO_FM, true);
	assert_int_equal(rig_claim(rig_fm(RIG_FM), 0, RIG_FM, 1, 1), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(rig_ask(0x5709, NULL, 0), WEFT_CCI_UNSUPPORTED);
	for (unsigned int i = 0; i < rig.n_rows; i++) {
		const struct weft_cci_command *c = rig.row[i].command;

		if (c->is_write)
			assert_int_equal(rig_ask(c->opcode, NULL, 0), WEFT_CCI_UNSUPPORTED);
	}
	assert_int_equal(n_runs, 0);
	assert_int_equal(rig_ask(WEFT_CCI_GET_RESPONSE_LIMIT, NULL, 0), WEFT_CCI_SUCCESS);
	n = read_cel(rig_fm(WEFT_CCI_NO_PID), cel);
	assert_in_range(n, 6, rig.n_rows - 1);
	for (unsigned int i = 0; i < n; i++)
		assert_int_not_equal(cel[i], WEFT_CCI_CLAIM_OWNERSHIP);
	begin(WEFT_CCI_TYPE_SWITCH, 0x5100, WEFT_CCI_WHO_FM, false);
	assert_int_equal(rig_ask(0x5100, NULL, 0), WEFT_CCI_SUCCESS);
}

WEFT_TEST(aliases_are_off_unless_configured_and_then_the_same)
{
	uint16_t cel[WEFT_CCI_COMMANDS_MAX], more[WEFT_CCI_COMMANDS_MAX];
	unsigned int n;

	assert_int_equal(rig_claim(rig_fm(RIG_FM), 0, RIG_FM, 1, RIG_PID), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_ask(0xD709, NULL, 0), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(rig_ask(0xC700, NULL, 0), WEFT_CCI_UNSUPPORTED);
	n = read_cel(rig_fm(RIG_FM), cel);
	cfg.aliases = true;
	begin(WEFT_CCI_TYPE_SWITCH, 0x5709, WEFT_CCI_WHO_FM, true);
	assert_int_equal(rig_send(rig_fm(RIG_FM), 0xD709, NULL, 0), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(rig_send(rig_fm(RIG_FM), 0xC700, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_claim(rig_fm(RIG_FM), 0, RIG_FM, 1, RIG_PID), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_ask(0xD709, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_ask(0x5709, NULL, 0), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_ask(0xC909, NULL, 0), WEFT_CCI_UNSUPPORTED);
	assert_int_equal(n_runs, 2);
	assert_int_equal(read_cel(rig_fm(RIG_FM), more), n + 3); /* C700h, C701h, D709h */
	assert_memory_equal(more, cel, n * sizeof(cel[0]));
	assert_int_equal(more[n], 0xC700);
	assert_int_equal(more[n + 1], 0xC701);
	assert_int_equal(more[n + 2], 0xD709);
}

WEFT_TEST(manager_that_comes_again_is_known_by_its_uuid)
{
	uint8_t msg[WEFT_CCI_HDR + 21] = { 0 }, rsp[WEFT_CCI_HDR] = { 0 };

	assert_int_equal(rig_claim(rig_fm(RIG_FM), 0, RIG_FM, 1, RIG_PID), WEFT_CCI_SUCCESS);
	assert_int_equal(rig_claim(rig_fm(RIG_FM), 1, 0xF01, 2, 0), WEFT_CCI_SUCCESS);
	weft_put_le16(msg + 3, WEFT_CCI_CLAIM_OWNERSHIP);
	weft_put_le16(rsp + 3, WEFT_CCI_CLAIM_OWNERSHIP);
	msg[WEFT_CCI_HDR] = 2;
	assert_int_equal(weft_cci_component_manager(&rig, 0xFFF, msg, sizeof(msg)), 0xFFF);
	memcpy(msg + WEFT_CCI_HDR + 3, rig.owner.primary_uuid, WEFT_CCI_UUID);
	assert_int_equal(weft_cci_component_manager(&rig, 0xFFF, msg, sizeof(msg)), RIG_FM);
	assert_int_equal(weft_cci_component_manager(&rig, 0xFFF, msg, sizeof(msg) - 1), 0xFFF);
	msg[WEFT_CCI_HDR] = 3;
	assert_int_equal(weft_cci_component_manager(&rig, 0xFFF, msg, sizeof(msg)), 0xFFF);
	memcpy(msg + WEFT_CCI_HDR + 3, rig.owner.secondary_uuid, WEFT_CCI_UUID);
	assert_int_equal(weft_cci_component_manager(&rig, 0xFFF, msg, sizeof(msg)), 0xF01);
	assert_int_equal(weft_cci_component_learn(&rig, 0xFFF, msg, rsp), RIG_FM);
	msg[WEFT_CCI_HDR] = 1;
	assert_int_equal(weft_cci_component_learn(&rig, 0xFFF, msg, rsp), 0xFFF);
	msg[WEFT_CCI_HDR] = 2;
	weft_put_le16(rsp + 8, WEFT_CCI_INVALID_INPUT);
	assert_int_equal(weft_cci_component_learn(&rig, 0xFFF, msg, rsp), 0xFFF);
}
