/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Settings and counters of flitwire devices: devargs when one is made, /weft/flitwire afterwards.
 * Keys and their checks are lib/impair's.
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "flitwire_priv.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct flitwire *devices;
static bool has_command;

#define ARGS_MAX 1024

static int
control_parse_dir(struct flitwire *f, const char *value, char *err, size_t len)
{
	const bool both = strcmp(value, "both") == 0;

	if (!both && strcmp(value, "tx") != 0 && strcmp(value, "rx") != 0)
		return weft_errorf(
			err, len, -EINVAL, "dir: expected tx, rx or both; got \"%s\"", value);
	f->line[FLITWIRE_TX].is_on = both || value[0] == 't';
	f->line[FLITWIRE_RX].is_on = both || value[0] == 'r';
	return 0;
}

static int
control_parse_item(struct flitwire *f, const char *key, const char *value, char *err, size_t len)
{
	if (strcmp(key, "port") == 0) {
		if (value[0] != '\0' &&
			rte_strscpy(f->lower_name, value, sizeof(f->lower_name)) >= 0)
			return 0;
		return weft_errorf(err, len, -EINVAL,
			"port: expected the name of an Ethernet device; got \"%s\"", value);
	}
	if (strcmp(key, "dir") == 0)
		return control_parse_dir(f, value, err, len);
	return weft_impair_parse(&f->cfg, key, value, err, len);
}

int
flitwire_parse(struct flitwire *f, const char *args, char *err, size_t len)
{
	char text[ARGS_MAX], *save, *item;

	weft_impair_defaults(&f->cfg);
	f->line[FLITWIRE_TX].is_on = true;
	if (rte_strscpy(text, args, sizeof(text)) < 0)
		return weft_errorf(err, len, -EINVAL, "more than %zu characters", sizeof(text) - 1);
	for (item = strtok_r(text, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
		char *value = strchr(item, '=');

		if (value == NULL)
			return weft_errorf(
				err, len, -EINVAL, "expected key=value; got \"%s\"", item);
		*value++ = '\0';
		if (control_parse_item(f, item, value, err, len) != 0)
			return -EINVAL;
	}
	if (f->lower_name[0] == '\0' || strcmp(f->lower_name, f->name) == 0)
		return weft_errorf(err, len, -EINVAL,
			"needs port=, the name of another device to send through");
	return weft_impair_check(&f->cfg, err, len);
}

/* Two directions of one wire are not damaged alike. */
static struct weft_impair_cfg
control_cfg(const struct flitwire *f, enum flitwire_dir dir)
{
	struct weft_impair_cfg cfg = f->cfg;

	if (dir == FLITWIRE_RX)
		cfg.seed = ~cfg.seed;
	return cfg;
}

/* Change settings at run time, all or nothing. */
static int
control_change(struct flitwire *f, const char *list, char *err, size_t len)
{
	struct weft_impair_cfg cfg = f->cfg;

	if (weft_impair_parse_list(&cfg, list, err, len) != 0 ||
		weft_impair_check(&cfg, err, len) != 0)
		return -EINVAL;
	f->cfg = cfg;
	for (unsigned int d = 0; d < FLITWIRE_DIRS; d++) {
		cfg = control_cfg(f, d);
		weft_badwire_set(&f->line[d], &cfg);
	}
	return 0;
}

static const struct weft_counter *
control_xstat_row(unsigned int i, enum flitwire_dir *dir)
{
	const unsigned int of_dir = WEFT_IMPAIR_N_COUNTERS + WEFT_BADWIRE_N_COUNTERS;

	*dir = i / of_dir;
	i %= of_dir;
	return i < WEFT_IMPAIR_N_COUNTERS ? &weft_impair_counters[i]
	                                  : &weft_badwire_counters[i - WEFT_IMPAIR_N_COUNTERS];
}

void
flitwire_xstat_name(unsigned int i, char *name, size_t len)
{
	enum flitwire_dir dir;
	const struct weft_counter *row = control_xstat_row(i, &dir);

	snprintf(name, len, "%s_wire_%s", dir == FLITWIRE_TX ? "tx" : "rx", row->name);
}

static uint64_t *
control_xstat_value(struct flitwire *f, unsigned int i)
{
	const unsigned int of_dir = WEFT_IMPAIR_N_COUNTERS + WEFT_BADWIRE_N_COUNTERS;
	struct weft_badwire *l = &f->line[i / of_dir];

	i %= of_dir;
	return i < WEFT_IMPAIR_N_COUNTERS ? &l->impair.count[i]
	                                  : &l->count[i - WEFT_IMPAIR_N_COUNTERS];
}

uint64_t
flitwire_xstat(struct flitwire *f, unsigned int i)
{
	return __atomic_load_n(control_xstat_value(f, i), __ATOMIC_RELAXED);
}

void
flitwire_xstats_reset(struct flitwire *f)
{
	for (unsigned int d = 0; d < FLITWIRE_DIRS; d++) {
		struct weft_badwire *l = &f->line[d];

		rte_spinlock_lock(&l->lock);
		memset(l->impair.count, 0, sizeof(l->impair.count));
		memset(l->count, 0, sizeof(l->count));
		rte_spinlock_unlock(&l->lock);
	}
}

static void
control_tell_list(struct rte_tel_data *d)
{
	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	for (const struct flitwire *f = devices; f != NULL; f = f->next)
		rte_tel_data_add_array_string(d, f->name);
}

static void
control_tell_device(struct flitwire *f, struct rte_tel_data *d)
{
	char text[48];

	rte_tel_data_add_dict_string(d, "name", f->name);
	rte_tel_data_add_dict_string(d, "port", f->lower_name);
	for (unsigned int i = 0; i < weft_impair_n_keys; i++) {
		weft_impair_print(&f->cfg, i, text, sizeof(text));
		rte_tel_data_add_dict_string(d, weft_impair_keys[i].name, text);
	}
	for (unsigned int i = 0; i < FLITWIRE_XSTATS; i++) {
		enum flitwire_dir dir;

		control_xstat_row(i, &dir);
		if (!f->line[dir].is_on)
			continue;
		flitwire_xstat_name(i, text, sizeof(text));
		rte_tel_data_add_dict_u64(d, text, flitwire_xstat(f, i));
	}
}

static int
control_telemetry(const char *cmd, const char *params, struct rte_tel_data *d)
{
	char name[ARGS_MAX], err[160], *list;
	struct flitwire *f;
	int rc = 0;

	(void)cmd;
	rte_strlcpy(name, params != NULL ? params : "", sizeof(name));
	list = strchr(name, ',');
	if (list != NULL)
		*list++ = '\0';
	pthread_mutex_lock(&lock);
	for (f = devices; f != NULL && strcmp(f->name, name) != 0;)
		f = f->next;
	if (name[0] == '\0') {
		control_tell_list(d);
	} else if (f == NULL) {
		rc = -ENOENT;
	} else {
		rte_tel_data_start_dict(d);
		if (list != NULL && control_change(f, list, err, sizeof(err)) != 0)
			rte_tel_data_add_dict_string(d, "error", err);
		else
			control_tell_device(f, d);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void
flitwire_enlist(struct flitwire *f)
{
	pthread_mutex_lock(&lock);
	for (unsigned int d = 0; d < FLITWIRE_DIRS; d++) {
		const struct weft_impair_cfg cfg = control_cfg(f, d);

		weft_badwire_init(&f->line[d], &cfg, f->line[d].is_on);
	}
	f->next = devices;
	devices = f;
	/* DPDK has no way to take a command back. */
	if (!has_command)
		rte_telemetry_register_cmd("/weft/flitwire", control_telemetry,
			"Bad wires. Parameters: none, or a name to see one, or "
			"name,key=value[,...] to change it (doc/impair.md).");
	has_command = true;
	pthread_mutex_unlock(&lock);
}

void
flitwire_delist(struct flitwire *f)
{
	struct flitwire **p;

	pthread_mutex_lock(&lock);
	for (p = &devices; *p != NULL && *p != f;)
		p = &(*p)->next;
	if (*p != NULL)
		*p = f->next;
	pthread_mutex_unlock(&lock);
}
