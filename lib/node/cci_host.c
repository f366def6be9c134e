/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* C100h and C101h (weft_cci_host.h). */

#include "weft_cci_host.h"

#include <errno.h>

#define HOST_TOLD 0x01 /* of the flags of C100h: the manager has said so */
#define HOST_ANNOUNCED 0x01 /* of those of C101h: to be expected, not yet to be used */

void
weft_cci_host_init(
	struct weft_cci_host *h, const struct weft_cci_host_world *world, void *world_arg)
{
	*h = (struct weft_cci_host){ .world = world, .world_arg = world_arg };
}

static uint16_t
cci_host_get(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_host *h = arg;
	struct weft_cci_get_host_memory_rsp out = { .flags = h->is_told ? HOST_TOLD : 0,
		.n = (uint16_t)h->n,
		.extent = rsp + WEFT_CCI_GET_HOST_MEMORY_RSP_LIST };
	int rc;

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	for (unsigned int i = 0; i < h->n; i++)
		weft_cci_put_host_extent(rsp + WEFT_CCI_GET_HOST_MEMORY_RSP_LIST, i, &h->extent[i]);
	rc = weft_cci_put_get_host_memory_rsp(rsp, *rsp_len, &out);
	if (rc < 0)
		return WEFT_CCI_INVALID_INPUT; /* a limit of responses below what it has */
	*rsp_len = (size_t)rc;
	return WEFT_CCI_SUCCESS;
}

uint16_t
weft_cci_host_taken(struct weft_cci_host *h, int rc)
{
	if (rc != 0)
		return rc == -EINVAL ? WEFT_CCI_INVALID_INPUT : WEFT_CCI_RETRY_REQUIRED;
	if (h->next.is_announced)
		return WEFT_CCI_SUCCESS;
	h->n = h->next.n;
	memcpy(h->extent, h->next.extent, h->n * sizeof(*h->extent));
	h->is_told = true;
	return WEFT_CCI_SUCCESS;
}

/* Open requests of the host may take as long as their timeout: in the background. */
static uint16_t
cci_host_set(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_host *h = arg;
	struct weft_cci_set_host_memory_req in;
	int rc = weft_cci_get_set_host_memory_req(&in, req, len);

	(void)who;
	(void)rsp;
	*rsp_len = 0;
	if (rc != 0)
		return rc == -EMSGSIZE ? WEFT_CCI_INVALID_PAYLOAD_LENGTH : WEFT_CCI_INVALID_INPUT;
	if (in.n > WEFT_CCI_HOST_EXTENTS)
		return WEFT_CCI_INVALID_INPUT;
	h->next.is_announced = (in.flags & HOST_ANNOUNCED) != 0;
	h->next.n = in.n;
	for (unsigned int i = 0; i < in.n; i++)
		weft_cci_get_host_extent(in.extent, i, &h->next.extent[i]);
	rc = h->world->take(h->world_arg, h->next.extent, in.n, h->next.is_announced);
	return rc == -EINPROGRESS ? WEFT_CCI_BACKGROUND_STARTED : weft_cci_host_taken(h, rc);
}

const struct weft_cci_command weft_cci_host_commands[] = {
	{ WEFT_CCI_GET_HOST_MEMORY, 0, WEFT_CCI_WHO_FM, false, cci_host_get },
	{ WEFT_CCI_SET_HOST_MEMORY, WEFT_CCI_EFFECT_CONFIG | WEFT_CCI_EFFECT_BACKGROUND,
		WEFT_CCI_WHO_FM, true, cci_host_set },
};
const unsigned int weft_cci_host_n_commands = WEFT_ARRAY_SIZE(weft_cci_host_commands);

bool
weft_cci_host_takes_by_link(uint16_t opcode)
{
	switch (weft_cci_unalias(opcode)) {
	case WEFT_CCI_IDENTIFY:
	case WEFT_CCI_BACKGROUND_STATUS:
	case WEFT_CCI_SET_RESPONSE_LIMIT:
	case WEFT_CCI_IDENTIFY_PBR_COMPONENT:
	case WEFT_CCI_CLAIM_OWNERSHIP:
	case WEFT_CCI_GET_HOST_MEMORY:
	case WEFT_CCI_SET_HOST_MEMORY: return true;
	default: return false;
	}
}
