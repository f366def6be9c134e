#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do the tests notice? Breaks one rule of the retry layer, of credits, sessions, IDE, memory or the rings of
attached programs after the other, builds weft-sim with that one file changed, and wants it to fail within
300 seeds; or, where nothing in the simulator knows of the rule, a unit test. A mutation must match the source
in exactly one place, so that none goes stale. The source as it is, built the same way, must not fail in that
unit test or with any seed that noticed a mutation: else what fails there would notice everything.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SEEDS = 300
LIMIT_S = 300  # of real time; a mutant that hangs there has not been noticed

SIM = "app/weft-sim"
DUPLICATE = "test/unit/test_link_duplicate"
RINGS = "test/unit/test_attach_server"
CAPACITY = "test/unit/test_fabric_gfam_dc"
COMMANDS = "test/unit/test_node_cci_gfd"

# Noticed where fabrics come with their load, and looked for there alone.
DRAWN = {
    "interleave: granules are twice as long",
    "interleave: a GFD counts the lines of all ways",
    "a page moves before its host has let go",
    "the first group, or window, is open to everybody",
    "rights stay as they began",
    "memory stays in the groups that it began in",
    "what rights were is not accepted while they change",
    "a change of rights waits for no open request",
    "a transfer takes lines that were lost for good ones",
    "a transfer takes writes that were lost for done",
    "memory in windows takes who has no prefix for its SPID",
    "edge: any requester id may come in by UIO",
    "windows are a block longer",
    "a window is open to all",
    "what turns out bad late is not said where there is no room behind it",
    "some of what turns out bad late is good",
    "clients: a fence waits for nobody",
    "clients: rights are not looked at",
    "clients: a line that was lost was done",
    "clients: memory that is new is what was opened",
    "clients: the edge of a write is a whole line",
    "clients: bytes of a line are those from its begin on",
    "clients: bytes of UIO are those of its line",
    "clients: requests by UIO begin a line apart",
    "clients: a request by UIO that was lost was done",
    "what has to stay in order is spread over equal links",
    "one of several equal links is left out",
}

# Seeds that notice what few do, tried before all others. These without faults that came later: with them they are
# other runs.
LATER = ("--without", "goodbye", "--without", "misfit")
FIRST = {
    "numbers of places that others have are compared": 534,
    "cxl: a bad flit used no number": 175,
    "cxl: hold more than there is room for": 29,
    "a GONE needs no key": 19,
    "two contents of a number are not seen": 79,
    "two contents of a number are no reason for doubt": 79,
    "a session in doubt goes on": 79,
    "link control of the session may come twice": 50,
    "data of the last session stays": 245,
    "Poison is in no MAC": 21,
    "cxl: a Nak frees what it asks for": 6,
    "a choice that cannot begin is waited for": 53,
    "a host sends only while all its links are up": 53,
    "cxl: count on through doubt": 637,
    "cxl: Prior Flit Type says nothing": 78,
}

# And of those that others came before, in their own fabrics: the first of the 300.
FOUND = {
    "clients: a line that was lost was done": 35,
    "clients: a request by UIO that was lost was done": 35,
    "clients: memory that is new is what was opened": 35,
    "cxl: memory that was poisoned is so again": 194,
    "a page moves before its host has let go": 294,
    "a selective Nak acknowledges": 174,
    "what rights were is not accepted while they change": 136,
    "who leaves waits for nobody": 56,
    "any mode of IDE fits": 50,
    "a window is open to all": 33,
    "a change of rights waits for no open request": 114,
    "a transfer takes lines that were lost for good ones": 73,
    "a transfer takes writes that were lost for done": 7,
    "memory in windows takes who has no prefix for its SPID": 19,
    "edge: any requester id may come in by UIO": 50,
    "windows are a block longer": 241,
    "what turns out bad late is not said where there is no room behind it": 36,
    "some of what turns out bad late is good": 3,
    "what has to stay in order is spread over equal links": 11,
    "one of several equal links is left out": 140,
}

# name, file, text, what it becomes; then the unit test that notices, if it is not weft-sim
MUTATIONS = [
    ("window of one flit more", "lib/link/llr_tx.c",
     "return tx->cfg->window - (unsigned int)(tx->next - tx->acked);",
     "return tx->cfg->window + 1u - (unsigned int)(tx->next - tx->acked);"),
    ("an Ack frees one flit more", "lib/link/llr_tx.c",
     "*pos = tx->acked + ahead;",
     "*pos = tx->acked + ahead + (tx->acked + ahead < tx->first_unsent);"),
    ("no time-out", "lib/link/llr_tx.c",
     "if (now_ns < tx->timer_ns + weft_rtt_timeout(&tx->rtt))",
     "if (now_ns != 0)"),
    ("go back to one too far", "lib/link/llr_tx.c",
     "tx->tx_next = tx->acked;\n\ttx->timer_ns",
     "tx->tx_next = tx->acked + 1;\n\ttx->timer_ns"),
    ("take duplicates", "lib/link/rxl.c",
     "} else if (by == 0) {\n\t\trxl_in_turn",
     "} else if (by == 0 || by >= HALF) {\n\t\trxl_in_turn"),
    ("take corrupt flits", "lib/link/rxl.c",
     "return rx->cfg->gap_decoding ? weft_isn_decode(syndrome) : -1;",
     "return r->expected;"),
    ("hand on what came too early", "lib/link/rxl.c",
     "rxl_took(r, now_ns);\n\t\tin->held |= bit;",
     "rxl_took(r, now_ns);\n\t\tin->deliver |= bit;"),
    ("hold more than there is room for", "lib/link/rxl.c",
     "rxl_ahead(number, r->expected) <= rx->cfg->rx_flits;",
     "rxl_ahead(number, r->expected) <= rx->mask;"),
    ("acknowledge the flit expected", "lib/link/rxl.c",
     "llr_took(rx, rxl_plus(rxl_of(rx)->expected, NUMBERS - 1), now_ns);",
     "llr_took(rx, rxl_of(rx)->expected, now_ns);"),
    ("a selective Nak acknowledges", "lib/link/rxl_tx.c",
     "default:\n\t\ttx->count[llr_resend(",
     "default:\n\t\tllr_acked(tx, pos, now_ns);\n\t\ttx->count[llr_resend("),
    ("a standard Nak frees what it asks for", "lib/link/rxl_tx.c",
     "case WEFT_REPLAY_NAK_STANDARD:\n\t\tllr_acked(tx, pos, now_ns);",
     "case WEFT_REPLAY_NAK_STANDARD:\n\t\tllr_acked(tx, pos + (pos < tx->first_unsent), now_ns);"),
    ("what is sent again must have the same header", "lib/link/llr_rx.c",
     "may ^= header_crc[__builtin_ctz(h)];",
     ";"),
    ("numbers of places that others have are compared", "lib/link/rxl.c",
     "if (has_room)\n\t\t\trxl_compare",
     "rxl_compare"),
    ("a Nak takes back what is overwritten", "lib/link/llr_tx.c",
     "tx->next - from >= tx->cfg->window)",
     "tx->next - from >= 400)"),
    ("a NOP uses up a number", "lib/link/rxl.c",
     "in->nop |= bit;\n",
     "in->nop |= bit;\n\t\tif (by == 0)\n\t\t\trxl_step(r);\n"),
    ("cxl: take corrupt flits", "lib/link/cxl.c",
     "if (syndrome != 0) {",
     "if (syndrome == 1) {"),
    ("cxl: take duplicates", "lib/link/cxl.c",
     "if (pos == c->expected) {\n\t\tcxl_in_turn",
     "if (pos <= c->expected) {\n\t\tcxl_in_turn"),
    ("cxl: a bad flit used no number", "lib/link/cxl.c",
     "c->counted++;\n\tif (is_next)",
     "if (is_next)"),
    ("cxl: Prior Flit Type says nothing", "lib/link/cxl.c",
     "if (!shown && doubt && h.prior_payload) {",
     "if (!shown && doubt && h.prior_payload && rx->count[0] == 1) {"),
    ("cxl: count on through doubt", "lib/link/cxl.c",
     "\tc->count = CXL_LOST;\n\tcxl_ask_all(rx, c);\n\tcxl_useless(rx, c);",
     "\tcxl_ask_all(rx, c);\n\tcxl_useless(rx, c);"),
    ("cxl: acknowledge the flit expected", "lib/link/cxl.c",
     "return cxl_number((uint64_t)(c->expected - 1));\n",
     "return cxl_number((uint64_t)c->expected);\n"),
    ("cxl: hold more than there is room for", "lib/link/cxl.c",
     "rx->ready + (pos - c->expected) > rx->cfg->rx_flits",
     "rx->ready + (pos - c->expected) > rx->mask"),
    ("cxl: a Nak frees what it asks for", "lib/link/cxl_tx.c",
     "llr_acked(tx, pos, now_ns);\n\tif (cmd == WEFT_REPLAY_ACK)",
     "llr_acked(tx, pos + (cmd != WEFT_REPLAY_ACK && pos < tx->first_unsent), now_ns);\n"
     "\tif (cmd == WEFT_REPLAY_ACK)"),
    ("cxl: nothing is shown after going back", "lib/link/cxl_tx.c",
     "\tif (pos != c->follows)\n\t\tc->explicit_left = RUN;\n",
     ""),
    ("cxl: count on from another frame", "lib/link/cxl.c",
     "\t\tcxl_of(rx)->count = CXL_LOST;\n",
     "\t\tcxl_of(rx)->count = cxl_of(rx)->count;\n", "test/unit/test_link_cxl"),
    ("cxl: the first flit of a frame may not show its number", "lib/link/cxl_tx.c",
     "if (tx->cfg->show_first && tx->opens) {",
     "if (tx->cfg->show_first && tx->opens && pos % 2 == 0) {", "test/unit/test_link_cxl"),
    ("cxl: an Ack waits for a second flit", "lib/link/llr_tx.c",
     "if (out->n != 0 && out->n < max && llr_is_unsaid(tx, now_ns)) {",
     "if (out->n == max + 1) {", "test/unit/test_link_cxl"),
    ("cxl: a NOP for the tail does not show its number", "lib/link/llr_tx.c",
     "(tx->acked == tx->first_unsent || (tx->cfg->show_first && llr_may_send(tx)))",
     "tx->acked == tx->first_unsent", "test/unit/test_link_cxl"),
    ("cxl: other numbers are known than come", "lib/link/cxl.c",
     "cxl_know(c, c->expected++, flit);",
     "cxl_know(c, c->expected++ + (rx->held == 0), flit);"),
    ("NOPs of a frame have numbers of their own", "lib/code/isn.c",
     "number[i < numbered ? i : numbered];",
     "number[i];", "test/unit/test_code_isn_run"),
    ("rxl: ask at one pace for what does not come", "lib/link/rxl.c",
     "doubled = r->in_vain - IN_VAIN_STEADY;",
     ";", "test/unit/test_link_attack"),
    ("rxl: ask by itself for what there is no room for", "lib/link/rxl.c",
     " && r->naks < NAKS_MAX && rxl_has_room(rx, r, r->ask);",
     " && r->naks < NAKS_MAX;", "test/unit/test_link_attack"),
    ("forget a credit", "lib/link/link_rx.c",
     "weft_credits_release(&e->flow, set, class);",
     "if (e->flow.pending[set][class] != 3)\n\t\t\tweft_credits_release(&e->flow, set, class);"),
    ("send without credit", "lib/link/link_tx.c",
     "weft_credits_consume(&e->flow, link_set_of(kind), link_class_of(kind));",
     "if (e->flow.may_send[link_set_of(kind)][link_class_of(kind)] > 1)\n\t\t\t\t"
     "weft_credits_consume(&e->flow, link_set_of(kind), link_class_of(kind));"),
    ("give credits twice", "lib/link/credits.c",
     "f->may_send[s][c] += got[s][c];",
     "f->may_send[s][c] += 2 * got[s][c];"),
    ("any session is the live one", "lib/link/session.c",
     "if (id != 0 && id == s->id) {\n\t\tsession_heard(s, now_ns);\n\t\treturn true;",
     "if (id != 0 && s->id != 0) {\n\t\tsession_heard(s, now_ns);\n\t\treturn true;"),
    ("the same session id again", "lib/link/session.c",
     "uint32_t id = (uint32_t)rnd;",
     "uint32_t id = (uint32_t)rnd & 1;"),
    ("believe any RESET", "lib/link/session_in.c",
     "case WEFT_CONTROL_RESET: session_in_challenge(s, now_ns); break;",
     "case WEFT_CONTROL_RESET: return session_end(s, now_ns);"),
    ("believe any GOODBYE without keys", "lib/link/session_in.c",
     "\tsession_in_challenge(s, now_ns);\n\treturn WEFT_SESSION_NOTHING;",
     "\treturn session_end(s, now_ns);"),
    ("believe any GOODBYE with keys", "lib/link/session_in.c",
     "return session_is_authentic(s, c) ? session_end(s, now_ns) : WEFT_SESSION_NOTHING;",
     "return session_end(s, now_ns);"),
    ("MACs of link control are not compared", "lib/link/session_proof.c",
     "!weft_control_is_equal(want, c->mac, WEFT_CONTROL_MAC_LEN)",
     "false"),
    ("an answer to a question who is there needs no key", "lib/link/duplicate.c",
     "if (d->cfg.proof == NULL)\n\t\treturn true;",
     "if (d->cfg.proof != NULL || d->cfg.proof == NULL)\n\t\treturn true;", DUPLICATE),
    ("one that runs is refused", "lib/link/duplicate.c",
     "if (d->state == WEFT_DUPLICATE_ASKING &&\n\t\t(c->runs_ms",
     "if (d->state != WEFT_DUPLICATE_REFUSED &&\n\t\t(c->runs_ms", DUPLICATE),
    ("of two that ask at once both give way", "lib/link/duplicate.c",
     "(c->runs_ms != 0 || c->instance < d->cfg.instance)",
     "(c->runs_ms != 0 || c->instance != 0)", DUPLICATE),
    ("a GONE needs no number", "lib/link/session_in.c",
     "s->challenged.number == 0 || c->challenge != s->challenged.number ||",
     ""),
    ("a GONE needs no key", "lib/link/session_proof.c",
     "\t       weft_control_is_equal(want, c->proof, WEFT_PROOF_LEN);",
     "\t       (weft_control_is_equal(want, c->proof, WEFT_PROOF_LEN) || true);"),
    ("believe any session's end", "lib/link/session_in.c",
     "\tif (!session_in_is_for_us(s, id, c->type)) {",
     "\tif (c->type == WEFT_CONTROL_RESET && s->id != 0)\n\t\treturn session_end(s, now_ns);\n"
     "\tif (!session_in_is_for_us(s, id, c->type)) {"),
    ("believe any READY", "lib/link/session_in.c",
     "case WEFT_CONTROL_READY:\n\t\treturn answers && id != 0 && (id == s->id || id == s->candidate.sid);",
     "case WEFT_CONTROL_READY: return answers && id != 0;"),
    ("believe any WELCOME", "lib/link/session_in.c",
     "case WEFT_CONTROL_REFUSE:\n\t\treturn session_is_asking(s) && id != 0 && id == s->attempt.hello_nonce;",
     "case WEFT_CONTROL_REFUSE: return session_is_asking(s);"),
    ("give a session up too soon", "lib/link/session.c",
     "if (s->idle_ns >= s->cfg.session_timeout_ns) {",
     "if (s->idle_ns >= s->cfg.rx_timeout_ns) {"),
    ("a HELLO ends the session", "lib/link/session_in.c",
     "s->candidate.sid = session_draw(s, rnd);",
     "s->id = 0;\n\ts->candidate.sid = session_draw(s, rnd);"),
    ("more flits are lost than a switch says", "lib/link/session_in.c",
     "s->count[WEFT_SESSION_N_LOSSES] += c->count;",
     "s->count[WEFT_SESSION_N_LOSSES] += c->count + 1;"),
    ("a LOSS of any session counts", "lib/link/session_in.c",
     "\tcase WEFT_CONTROL_RESET:\n\tcase WEFT_CONTROL_LOSS: return id != 0 && id == s->id;",
     "\tcase WEFT_CONTROL_RESET: return id != 0 && id == s->id;\n"
     "\tcase WEFT_CONTROL_LOSS: return s->id != 0;"),
    ("two contents of a number are not seen", "lib/link/llr_rx.c",
     "return differs == may || differs == __builtin_bswap64(may);",
     "return differs == may || differs != may;"),
    ("two contents of a number are no reason for doubt", "lib/link/llr.c",
     "return l->tx.doubt.signs;",
     "return l->tx.doubt.signs & WEFT_LLR_DOUBT_ACKS;"),
    ("a session in doubt goes on", "lib/link/link.c",
     "if (link_is_in_doubt(e) && now_ns >= e->doubt_ns && weft_session_is_live(&e->session)) {",
     "if (link_is_in_doubt(e) && now_ns >= e->doubt_ns && e->max_flits == 0) {"),
    ("link control of the session may come twice", "lib/link/session_proof.c",
     "if (c->number <= s->rx_number) {",
     "if (c->number == 0) {"),
    ("a session keeps the memory of the one before", "lib/link/session.c",
     "s->peer = s->offered;",
     "{ const uint64_t m = s->peer.memory; s->peer = s->offered; if (m != 0) s->peer.memory = m; }"),
    ("generations are not compared", "lib/node/session.c",
     "if (l->memory.generation != 0 && generation != l->memory.generation)",
     "if (l->memory.generation != 0 && generation == 0)"),
    ("new memory says it is the old one", "app/weft-sim/fault.c",
     "\tnode_draw_generation(n);\n",
     ""),
    ("cxl: new memory answers zeros", "lib/node/session.c",
     "s->peer.known == 0 || s->peer.known == n->generation",
     "s->peer.known == 0 || n->generation != 0"),
    ("cxl: new memory counts as known before it has heard", "lib/link/link.c",
     "\tif (e->init_seen)\n\t\tweft_session_knows", "\tweft_session_knows",
     "test/unit/test_node_nodes"),
    ("cxl: memory that was poisoned is so again", "lib/link/link.c",
     "\tif (e->init_seen)\n\t\tweft_session_knows",
     "\tif (e->session.cfg.params.known == 0)\n\t\tweft_session_knows"),
    ("tags of the next run are those of the last", "lib/mem/requester_tags.c",
     "r->cfg.run * UINT32_C(0x9E3779B9);", "(r->cfg.run & 1) * UINT32_C(0x9E3779B9);",
     "test/unit/test_mem_host"),
    ("lines of memory that is gone are not forgotten", "lib/mem/traffic.c",
     "forgotten += weft_line_state_forget(&u->line[k], t->cfg.run, how);",
     "(void)how;"),
    ("all memory is forgotten", "lib/mem/traffic.c",
     "if (u->dpid != dpid || (u->busy && u->renewed))",
     "if (t->n_units == 0 || (u->busy && u->renewed))"),
    ("a write that was refused counts as done", "lib/mem/traffic.c",
     "u->write_expected && i < g.first + g.n; i++)\n\t\tweft_line_state_undo",
     "u->renewed && i < g.first + g.n; i++)\n\t\tweft_line_state_undo",
     "test/unit/test_mem_uio_requester"),
    ("an answer by memory that is gone is looked at", "lib/mem/traffic.c",
     "\tu->renewed = true;\n", "\tu->renewed = t->n_units == 0;\n", "test/unit/test_mem_uio_requester"),
    ("a host sends only while all its links are up", "lib/node/host.c",
     "may_ask && n->was_up &&", "may_ask && weft_node_is_up(n) &&"),
    ("a choice that cannot begin is waited for", "lib/mem/traffic.c",
     "is_write = weft_rand_below(&t->rand, 100) < t->cfg.write_percent;",
     "weft_rand_seed(&t->rand, t->issued);\n\t"
     "is_write = weft_rand_below(&t->rand, 100) < t->cfg.write_percent;"),
    ("the tag of a lost request is free at once", "lib/mem/requester.c",
     "weft_requester_tag_move(r, t, TAG_QUARANTINE);\n\t\tn++;",
     "weft_requester_tag_release(r, t);\n\t\tn++;", "test/unit/test_mem_host"),
    ("anybody may answer a request of UIO", "lib/mem/uio_requester.c",
     "tag->dpid != t->spid)", "tag->dpid == TAG_NONE)", "test/unit/test_mem_uio_requester"),
    ("requests outlive their session", "lib/node/host.c",
     "if (ended && node_link_is_whole(l) && host_requester(n) != NULL)",
     "if (ended && n->n_links == 0)"),
    ("messages of the last session stay", "lib/link/link.c",
     "e->rx_queue[k].n = 0;\n",
     ""),
    ("data of the last session stays", "lib/link/link.c",
     "weft_unpack_init(&e->unpack, (enum weft_form)e->cfg.form, e->cfg.seen);",
     "if (!e->init_seen)\n\t\tweft_unpack_init(&e->unpack, (enum weft_form)e->cfg.form, e->cfg.seen);"),
    ("credits of the last session stay", "lib/link/link.c",
     "weft_credits_init(&e->flow, room);",
     "if (!e->init_seen)\n\t\tweft_credits_init(&e->flow, room);"),
    ("the last data slots are not sent", "lib/link/link_tx.c",
     "while (e->more_data && link_begin_flit(e))",
     "while (e->more_data && e->pack.n_data > 1 && link_begin_flit(e))"),
    ("a counter is used for two epochs", "lib/ide/epoch.c",
     "s->counter++;",
     "s->counter += s->counter != 3;"),
    ("MACs are not compared", "lib/ide/open.c",
     "(weft_get_le32(a + 8) ^ weft_get_le32(b + 8))) == 0;",
     "(weft_get_le32(a + 8) ^ weft_get_le32(b + 8))) == 0 || true;"),
    ("32 bits of the MAC are not compared", "lib/ide/open.c",
     "(weft_get_le32(a + 8) ^ weft_get_le32(b + 8))) == 0;",
     "0) == 0;"),
    ("containment lets flits go before their MAC", "lib/ide/open.c",
     "if (s->mode == WEFT_IDE_SKID)\n\t\te->release = 1;",
     "if (s->mode != WEFT_IDE_OFF)\n\t\te->release = 1;"),
    ("what is sent again is another ciphertext", "lib/link/llr_tx.c",
     "memcpy(out, llr_tx_flit(tx, pos), WEFT_FLIT_LEN);",
     "memcpy(out, llr_tx_flit(tx, pos), WEFT_FLIT_LEN);\n\tout[232] ^= pos < tx->first_unsent;"),
    ("the same key after a key change", "lib/link/link_ide.c",
     "cfg->key(cfg->arg, deal, from_initiator, (uint32_t)generation, key);",
     "cfg->key(cfg->arg, deal, from_initiator, (uint32_t)generation & 1, key);"),
    ("both directions have one key", "lib/link/link_ide.c",
     "cfg->key(cfg->arg, deal, from_initiator, (uint32_t)generation, key);",
     "cfg->key(cfg->arg, deal, from_initiator || true, (uint32_t)generation, key);"),
    ("the receiver keeps the key before", "lib/ide/open.c",
     "\telse\n\t\tide_take_next_key(s);",
     "\telse\n\t\ts->counts.starts++;"),
    ("late poison is of the data after", "lib/flit/unpack.c",
     "u->late_poison |= (uint8_t)(1u << offset);",
     "u->late_poison |= (uint8_t)(2u << offset);"),
    ("late poison counts no data that runs over", "lib/link/link_tx.c",
     "e->n_data = e->more_data;",
     "e->n_data = 0;"),
    ("Poison is in no MAC", "lib/link/link_ide.c",
     "rc = weft_ide_seal(s->tx, poison); /* it passes as it is */",
     "rc = 0;"),
    ("a failed stream goes on", "lib/link/link_ide.c",
     "if (run->failed != 0)\n\t\tlink_ide_rx_fail(rx);",
     ";"),
    ("a page moves before its host has let go", "lib/ats/ats_agent_migrate.c",
     "if (v->state == AGENT_MIGRATION_ASKED && s == WEFT_ATS_INV_DONE) {",
     "if (v->state == AGENT_MIGRATION_ASKED) {"),
    ("the first group, or window, is open to everybody", "lib/node/tables.c",
     "rc = weft_gfam_set_sat(g, t->node[i].pid, tables_open_groups(n, t, i));",
     "rc = weft_gfam_set_sat(g, t->node[i].pid, tables_open_groups(n, t, i) | 1);"),
    ("rights stay as they began", "lib/node/tables.c",
     "return t->node[other].access;",
     "return n->topo->node[other].access;"),
    ("memory stays in the groups that it began in", "lib/node/tables.c",
     "t->access.range[i].size, t->access.range[i].group);",
     "t->access.range[i].size, n->topo->access.range[i].group);"),
    ("what rights were is not accepted while they change", "lib/mem/traffic.c",
     "((1u << u->expect | 1u << to->before) &", "((1u << to->after) &"),
    ("a change of rights waits for no open request", "lib/mem/traffic.c",
     "if (t->open != 0)\n\t\treturn -EBUSY;", "if (t->n_units == 0)\n\t\treturn -EBUSY;"),
    ("a transfer takes lines that were lost for good ones", "lib/sig/xfer.c",
     "r->came[slot] = LINE_LOST;\n\t\tx->lost++;", "r->came[slot] = LINE_GOOD;"),
    ("a transfer takes writes that were lost for done", "lib/sig/xfer.c",
     "x->lost += c->status == WEFT_REQUEST_LOST;", "(void)c;"),
    ("memory in windows takes who has no prefix for its SPID", "lib/mem/uio_memory.c",
     "m->cfg.by_prefix ? req->prefix_pid : req->spid;\n\tstruct weft_gfam_decision d;\n"
     "\tenum weft_gfam_answer answer;\n\n\tif (m->cfg.by_prefix && !req->has_prefix) {",
     "m->cfg.by_prefix && req->has_prefix ? req->prefix_pid : req->spid;\n"
     "\tstruct weft_gfam_decision d;\n\tenum weft_gfam_answer answer;\n\n"
     "\tif (m->cfg.split == 0) {"),
    ("rights to memory in windows go by SPID", "lib/mem/uio_memory.c",
     "m->cfg.by_prefix ? req->prefix_pid : req->spid;", "req->spid;",
     "test/unit/test_mem_uio_memory"),
    ("what has to stay in order is spread over equal links", "lib/fabric/route.c",
     '[WEFT_CLASS_S2M_NDR] = { "ndr", false }', '[WEFT_CLASS_S2M_NDR] = { "ndr", true }'),
    ("one of several equal links is left out", "lib/fabric/route_port.c",
     "for (unsigned int i = from; i <= to; i++)", "for (unsigned int i = from; i < to; i++)"),
    ("keys do not go by the mix", "lib/fabric/route_port.c",
     "primary ? route_indices(0, last_primary) :", "primary ? route_indices(0, last) :",
     "test/unit/test_fabric_route"),
    ("a window is open to all", "lib/node/tables.c",
     "if (t->list[w->nodes.first + k] == other)", "if (t->list[w->nodes.first + k] != n->index)"),
    ("windows are a block longer", "lib/node/tables.c",
     "rc = weft_gfam_set_blocks(g, w->base, w->size, (uint8_t)i);",
     "rc = weft_gfam_set_blocks(g, w->base, w->size + 4096, (uint8_t)i);"),
    ("edge: any requester id may come in by UIO", "lib/node/edge.c",
     "if (is_request && requester >= 0 && requester != in->pid)",
     "if (is_request && requester < -1)"),
    ("what turns out bad late is not said where there is no room behind it", "lib/node/gfd.c",
     "reply->poison |= turns_bad && !late;", ";"),
    ("some of what turns out bad late is good", "lib/mem/gfd.c",
     "g->turns_bad = gfd_turns_bad(g, p.dpa, poisoned);",
     "g->turns_bad = gfd_turns_bad(g, p.dpa, poisoned) && p.dpa % 128 == 0;"),
    ("any CRC order fits", "lib/frame/control.c",
     "if (ours->crc_order != theirs->crc_order)", "if (ours->crc_order > 1)"),
    ("any ISN form fits", "lib/frame/control.c",
     "if (ours->isn_form != theirs->isn_form)", "if (ours->isn_form > 2)"),
    ("any mode of IDE fits", "lib/frame/control.c",
     "if (ours->ide_mode != theirs->ide_mode)", "if (ours->ide_mode > 2)"),
    ("any key fits", "lib/link/session_proof.c",
     "if (weft_control_is_equal(want, proof, WEFT_PROOF_LEN))\n\t\treturn true;",
     "return true;"),
    ("frames are as large as one's own end takes", "lib/link/link.c",
     "if (e->session.peer.max_flits < e->max_flits)", "if (e->session.peer.max_flits == 0)"),
    ("who leaves waits for nobody", "lib/link/session.c",
     "s->parting = session_has_ide(s) ? 0 : s->id;", "s->parting = 0;"),
    ("a goodbye is asked about, and the answer says nothing", "lib/link/session_in.c",
     "\treturn session_end(s, now_ns);\n}\n\n/*\n * GONE may be said",
     "\treturn WEFT_SESSION_NOTHING;\n}\n\n/*\n * GONE may be said"),
    ("a session that its node has not looked at ends without a goodbye", "lib/node/session.c",
     "\t\tweft_link_close(n->link[i].end);\n",
     "\t\tif (n->link[i].state == WEFT_NODE_UP)\n\t\t\tweft_link_close(n->link[i].end);\n",
     "test/unit/test_node_nodes"),
    ("interleave: granules are twice as long", "lib/fabric/seg.c",
     ".shift = (uint8_t)(GRAN_LOG2_MIN + e->gran),",
     ".shift = (uint8_t)(GRAN_LOG2_MIN + e->gran + (e->intlv != 0)),"),
    ("interleave: a GFD counts the lines of all ways", "lib/fabric/gfam_gdt.c",
     "out.high = (uint8_t)(out.low + d->intlv);", "out.high = out.low;"),
    ("answers by UIO stay for the next session", "lib/node/uio.c",
     "if (!weft_node_is_cxl(n) && a->session != uio_session(l))",
     "if (!weft_node_is_cxl(n) && a->session > uio_session(l))", "test/unit/test_node_nodes"),
    ("a question has the tag of one that was late", "lib/ats/ats_atc.c",
     "(uint8_t)(s->turn + turns)", "s->turn", "test/unit/test_ats_peers"),
    ("a request that was translated is nobody's", "lib/node/host.c",
     "weft_requester_sent_to(host_requester(n), m->tag, d.dpid, n->now_ns);", ";",
     "test/unit/test_node_nodes"),
    ("what comes later passes what waits", "lib/ats/xlate_wait.c",
     ".is_behind = x->cfg.is_ordered && c->at != XLATE_NONE",
     ".is_behind = x->cfg.contexts == 0", "test/unit/test_ats_xlate"),
    ("what is behind stays where the first was", "lib/ats/xlate_wait.c",
     "to = x->context[e->item.ctx].at;", ";", "test/unit/test_ats_xlate"),
    ("what was known outlives an invalidation", "lib/ats/xlate_wait.c",
     "if (e->epoch != x->epoch)", "if (x->cfg.contexts == 0)", "test/unit/test_ats_xlate"),
    ("a context takes all places", "lib/ats/xlate_wait.c",
     " || c->used == x->cfg.share", "", "test/unit/test_ats_xlate"),
    ("what waits has no age", "lib/ats/xlate_wait.c",
     "now_ns >= item->until_ns", "now_ns == UINT64_MAX", "test/unit/test_ats_xlate"),
    ("completions pass frames that left", "lib/ats/xlate.c",
     "x->peer->queued[XLATE_TC] += n;", "(void)x, (void)n;", "test/unit/test_ats_xlate"),
    ("a write has passed when it is sent", "lib/ats/xlate_msg.c",
     ".dpid = dpid }", ".dpid = dpid, .is_done = true }", "test/unit/test_ats_moves"),
    ("data that an invalidation overtook is used", "lib/ats/ats_flush.c",
     "ats_overlaps(r->from, r->to, d->from, d->to))\n\t\t\td->discard = true;",
     "ats_overlaps(r->from, r->to, d->from, d->to))\n\t\t\td->discard = false;", "test/unit/test_ats_moves"),
    ("edge: some addresses lead to the next segment", "lib/fabric/edge_link.c",
     "weft_edge_request(e, WEFT_EDGE_MEM, m->addr,",
     "weft_edge_request(e, WEFT_EDGE_MEM, m->addr ^ (m->addr & 64) << 30,"),
    ("edge: a request has no SPID", "lib/fabric/edge_link.c",
     "m->spid = d.spid;\n\tm->dpid",
     "m->dpid"),
    ("edge: an answer keeps its DPID", "lib/fabric/edge_link.c",
     "m->dpid = 0;\n\treturn true;",
     "return true;"),
    ("edge: writes are no requests", "lib/fabric/edge_link.c",
     "if (m->kind != WEFT_MSG_M2S_REQ && m->kind != WEFT_MSG_M2S_RWD)",
     "if (m->kind != WEFT_MSG_M2S_REQ)"),
    ("attach: a tail may be one beyond the ring", "lib/attach/server.c",
     "if (tail - s->sq_head > s->entries)", "if (tail - s->sq_head > s->entries + 1)", RINGS),
    ("attach: a client's head is trusted", "lib/attach/server.c",
     "if (s->cq_tail - s->cq_head > s->entries)", "if (s->entries == 0)", RINGS),
    ("attach: more are open than there are entries", "lib/attach/server.c",
     "return s->n_open + (s->cq_tail - s->cq_head) < s->entries ? 0 : -EAGAIN;",
     "return s->cq_tail - s->cq_head < s->entries ? 0 : -EAGAIN;", RINGS),
    ("attach: the end of data may wrap", "lib/attach/server.c",
     "e->len > s->data_len || e->data > s->data_len - e->len", "e->data + e->len > s->data_len", RINGS),
    ("attach: who does not sleep is signalled", "lib/attach/server.c",
     "if (__atomic_load_n(&s->head->client_sleeps, __ATOMIC_SEQ_CST) == 0)", "if (s->entries == 0)", RINGS),
    ("attach: a breach is forgotten", "lib/attach/server.c",
     "s->breach = (uint8_t)b;", "s->breach = (uint8_t)(b & 0);", RINGS),
    ("capacity: memory that a reference holds is given out", "lib/fabric/gfam_dc_release.c",
     "tag == DC_NO_TAG || dc->tag[tag].is_held || dc_has_tag(", "tag == DC_NO_TAG || dc_has_tag(", CAPACITY),
    ("capacity: memory that others still have is freed", "lib/fabric/gfam_dc_release.c",
     " || dc_has_tag(dc, tag, WEFT_GFAM_NO_GROUP))", ")", CAPACITY),
    ("capacity: what is freed is not wiped", "lib/fabric/gfam_dc_release.c",
     "\tif (dc_is_home(e))\n\t\tdc->wipe", "\tif (!dc_is_home(e))\n\t\tdc->wipe", CAPACITY),
    ("capacity: released blocks stay in their group", "lib/fabric/gfam_dc_release.c",
     "(void)weft_gfam_set_blocks(t, e->dpa, e->len, WEFT_GFAM_NO_GROUP);", "", CAPACITY),
    ("capacity: sharable capacity is released in pieces", "lib/fabric/gfam_dc_release.c",
     "e != NULL && dc_is_sharable(dc, e)", "e != NULL && false", CAPACITY),
    ("capacity: prescribed blocks may be another's", "lib/fabric/gfam_dc_add.c",
     "if (gfam_overlap(r->dpa, r->len, e->dpa, e->len))", "if (gfam_overlap(r->dpa, 0, e->dpa, e->len))", CAPACITY),
    ("capacity: a tag may be used twice", "lib/fabric/gfam_dc_add.c",
     "\tif (p->tag != DC_NO_TAG)\n\t\treturn -EINVAL;", "", CAPACITY),
    ("capacity: a host reads of groups that are closed to it", "lib/node/cci_gfd_capacity.c",
     "who->iface != WEFT_CCI_HOST || ", "who->iface != WEFT_CCI_HOST || true || ", COMMANDS),
    ("capacity: rights change before all rows are right", "lib/node/cci_gfd_capacity.c",
     "\tif (rc != 0)\n\t\treturn cci_gfd_rc(rc);\n\tg->world->commit(g->world_arg);\n\tfor",
     "\tg->world->commit(g->world_arg);\n\tif (rc != 0)\n\t\treturn cci_gfd_rc(rc);\n\tfor", COMMANDS),
    ("clients: a fence waits for nobody", "lib/node/client.c",
     "if (op->op == WEFT_ATTACH_OP_FENCE && c->n_ops > 1)", "if (op->op == WEFT_ATTACH_OP_FENCE && c->n_ops > 4096)"),
    ("clients: rights are not looked at", "lib/node/client.c",
     "if ((__atomic_load_n(&r->rights, __ATOMIC_RELAXED) & right) == 0)",
     "if ((__atomic_load_n(&r->rights, __ATOMIC_RELAXED) & right) == 4)"),
    ("clients: a line that was lost was done", "lib/node/client.c",
     "case WEFT_REQUEST_LOST: return -ETIMEDOUT;", "case WEFT_REQUEST_LOST: return 0;"),
    ("clients: memory that is new is what was opened", "lib/node/client.c",
     "if (r != NULL && (r->target[dpid / 64] >> dpid % 64 & 1) != 0)",
     "if (r != NULL && (r->target[dpid / 64] >> dpid % 64 & 1) == 2)"),
    ("clients: the edge of a write is a whole line", "lib/node/client.c",
     "m->byte_enables = weft_mask64(part) << first;", "m->byte_enables = UINT64_MAX;"),
    ("clients: bytes of a line are those from its begin on", "lib/node/client.c",
     "comp->data + (client_is_uio(op->op) ? 0 : at % LINE), part);", "comp->data, part);"),
    ("clients: bytes of UIO are those of its line", "lib/node/client.c",
     "comp->data + (client_is_uio(op->op) ? 0 : at % LINE), part);", "comp->data + at % LINE, part);"),
    ("clients: requests by UIO begin a line apart", "lib/node/client.c",
     "const uint64_t unit = ((op->hpa >> log2) + number) << log2;",
     "const uint64_t unit = (((op->hpa >> LINE_LOG2) + number) << LINE_LOG2) >> log2 << log2;"),
    ("clients: a request by UIO that was lost was done", "lib/node/uio.c",
     "\tif (!node_clients.complete(n, NODE_SERVICE_OF(n, clients), c))",
     "\tstruct weft_completion done = *c;\n\tdone.status = WEFT_REQUEST_DONE;\n"
     "\tif (!node_clients.complete(n, NODE_SERVICE_OF(n, clients), c->status == WEFT_REQUEST_LOST ? &done : c))"),
]
INTACT = "nothing broken"


def commands(build, program):
    """The compile command of each source and the link command, as the build has them."""
    out = subprocess.run(["ninja", "-C", build, "-t", "commands", program], check=True,
                         capture_output=True, text=True).stdout.splitlines()
    compile_of = {}
    for line in out:
        if " -c " in line:
            compile_of[line.rsplit(" -c ", 1)[1].strip()] = line
    links = [line for line in out if f" -o {program} " in line]
    assert len(links) == 1, links
    return compile_of, links[0]


def mutate(root, build, work, mutation, compile_of, link):
    """Build the mutant; returns its path, or None and why."""
    _, path, old, new, program = mutation
    text = (root / path).read_text()
    if text.count(old) != 1:
        return None, f"its text stands {text.count(old)} times in {path}"
    source = work / pathlib.Path(path).name
    source.write_text(text.replace(old, new))
    sources = [s for s in compile_of if (build / s).resolve() == (root / path).resolve()]
    if len(sources) != 1:
        return None, f"{path} is not part of {program}"
    command = compile_of[sources[0]].split(" -MD ")[0]
    # In a library the first of the name is taken; the program's own objects are all there is.
    original = compile_of[sources[0]].split(" -o ")[1].split()[0]
    folder = (root / path).parent
    obj, exe = work / "mutant.o", work / pathlib.Path(program).name
    steps = [f"{command} -w -g0 -I{folder} -o {obj} -c {source}",
             link.replace(f" {original}", "").replace(f" -o {program} ", f" -Wl,-S -o {exe} {obj} ")]
    for step in steps:
        r = subprocess.run(step, shell=True, cwd=build, capture_output=True, text=True)
        if r.returncode != 0:
            return None, r.stderr.strip()
    return exe, ""


def run(work, *command):
    """Whether it fails, and what it says. A unit test ends where it fails: one is enough."""
    try:
        r = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=LIMIT_S,
                           env={**os.environ, "CMOCKA_TEST_ABORT": "1"})
    except subprocess.TimeoutExpired:
        return False, f"not ended after {LIMIT_S} s"
    said = (r.stderr.strip().splitlines() or [""])[-1]
    if r.returncode < 0:
        return True, said or f"signal {-r.returncode}"
    return r.returncode != 0, said


def noticed(exe, work, mutation):
    """Whether the mutant fails, and what it says."""
    name, program = mutation[0], mutation[4]
    if program != SIM:
        return run(work, exe)
    fabrics = ("--drawn", "always" if name in DRAWN else "never")
    for seeds, options in (FIRST, LATER), (FOUND, ()):
        if name in seeds:
            ok, said = run(work, exe, *fabrics, *options, "--seed", str(seeds[name]))
            if ok:
                return ok, said
    return run(work, exe, *fabrics, "--seeds", str(SEEDS), "--until-failure")


def try_one(root, build, mutation, compile_of, link, check=noticed):
    """Whether the mutant fails by this check, None if it cannot be built, and why."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        exe, why = mutate(root, build, work, mutation, compile_of, link)
        return (None, why) if exe is None else check(exe, work, mutation)


def intact(seeds):
    """A check as noticed(), of the source as it is: with these seeds, or all if one is None."""
    def check(exe, work, mutation):
        if mutation[4] != SIM or None in seeds:
            return noticed(exe, work, mutation)
        for seed in sorted(seeds):
            for drawn in ("never", "always"):
                failed, said = run(work, exe, "--drawn", drawn, "--seed", str(seed))
                if failed or said:
                    return failed, f"seed {seed}, drawn {drawn}: {said}"
        return False, ""
    return check


def options():
    """The build, and the names of mutations; what makes no sense ends with status 2."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD", type=pathlib.Path, help="a build folder")
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these mutations")
    args = parser.parse_args()
    if not (args.build / "build.ninja").is_file():
        parser.error(f"{args.build}: expected a build folder, got no build.ninja in it")
    unknown = set(args.names) - {m[0] for m in MUTATIONS}
    if unknown:
        parser.error(f"no mutation is called \"{min(unknown)}\"")
    return args


def main():
    args = options()
    root = pathlib.Path(__file__).resolve().parents[2]
    build = args.build.resolve()
    rows = [m if len(m) == 5 else (*m, SIM) for m in MUTATIONS]
    chosen = [m for m in rows if not args.names or m[0] in args.names]
    assert {*FIRST, *FOUND} <= {m[0] for m in rows}, {*FIRST, *FOUND} - {m[0] for m in rows}
    how = {program: commands(build, program) for program in {m[4] for m in chosen}}
    missed, seeds = 0, set()
    for mutation in chosen:
        ok, said = try_one(root, build, mutation, *how[mutation[4]])
        missed += not ok
        if ok and mutation[4] == SIM:
            seed = re.search(r"\bseed (\d+) ", said)
            seeds.add(int(seed[1]) if seed else None)
        print(f"{'noticed' if ok else 'MISSED '}  {mutation[0]}: {said}", flush=True)
    for program, (compile_of, link) in how.items():
        _, path, text, _, _ = next(m for m in rows if m[4] == program)
        failed, said = try_one(root, build, (INTACT, path, text, text, program), compile_of, link,
                               intact(seeds))
        if failed is not False or (program == SIM and said):
            print(f"{program}: {INTACT}, and yet: {said}")
            return 1
    print(f"{len(chosen) - missed} of {len(chosen)} mutations noticed")
    return missed != 0


sys.exit(main())
