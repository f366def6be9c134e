/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * One edge port and the routing tables of its switch, driven from outside: a line in, a line out.
 * Numbers are C numbers (decimal, 0x...); PIDs 0..0xFFF; [..]+ may be repeated. Blank lines and
 * lines that begin with # give no answer. All tables hold nothing until "new".
 *
 *   new PID DEPTH_LOG2 IDT LDST_DEPTH_LOG2 LDST_IDT REROUTER GIM VP TABLES RGT
 *       Start over: an edge port of this PID, FAST of 1 << DEPTH_LOG2 (0..12) entries, IDT of 1..4096,
 *       the same for LDST (LDST_IDT 0: there is no LDST), REROUTER rows (0..64), GIM 0|1 (FAST
 *       entries may have bit 1), VP the prefix bits the switch has ([0] egress request, [1] ingress
 *       request), TABLES DRTs (1..16), each with an RGT of RGT rows (0, or a power of 2, <= 256).
 *
 * Set-up answers "ok", or "error invalid" (a value), "error refused" (GMV, VTV, LAV), or "error
 * unsupported"; after an error nothing has changed, not even the rows before the bad one.
 *
 *   fast-config CODE BASE LIMIT    5804h; CODE 0..7: 64 GB << CODE. ldst-config: 570Dh
 *   fast START [FLAGS INTLV GRAN DPID_IX]+    5806h, from segment START on. ldst: 570Fh
 *   idt START [PID]+               5808h. ldst-idt: 5711h
 *   gmv PID 0|1    vtv PID 0|1     5902h
 *   lav PID 0|1                    5716h
 *   vp-vcs BITS    vp-host BITS    5904h, 5804h byte 2; both 0 at first
 *   rerouter START [PID SEGVALID SEGMENT BUS DEVFN]+    5713h; PID 0xFFF empties a row
 *   hdm INDEX BASE LENGTH PID      one of 10 HDM decoders, LENGTH 0: off
 *   pcie PID                       where .io goes that nothing else took; 0xFFF: nowhere
 *   drt TABLE START [TYPE VALUE]+  5709h
 *   rgt TABLE START [P0 .. P7 BYTE8 BYTE9]+    570Bh
 *   spread 0|1                     whether classes that may be spread are (at first 0)
 *   ready PORT 0|1                 whether a message can be queued there now (at first 1)
 *   load PORT N                    what is queued there (at first 0)
 *   pbr-link 0|1    link 0|1       of this port: leads to a GFD (at first 0); is up (at first 1)
 *
 * Where the text of the specification leaves room:
 *   - CODE above 7, BASE or LIMIT not a multiple of the segment, LIMIT <= BASE with neither 0, a
 *     range above depth x segment: invalid. A changed BASE or CODE clears all segment entries, not
 *     the IDT; a changed LIMIT alone clears nothing.
 *   - Row START + i of fast/ldst is entry ((BASE >> Y) + START + i) mod depth; START + count above
 *     the depth: invalid.
 *   - Every row, valid or not: reserved FLAGS bits, INTLV above 8, GRAN above 6, DPID_IX above
 *     0xFFF, IX + ways above the IDT's depth (INTLV > 0): invalid; then GIM without the ability:
 *     unsupported. Only for rows with V = 1: PID, or each of the N IDT entries, must be in GMV
 *     (GIM = 0), VTV (GIM = 1), LAV (ldst): refused. All rows are checked for invalid first.
 *   - idt: PID above 0xFFF or START + count above the depth: invalid; PID in neither GMV nor VTV
 *     (ldst-idt: not in LAV): refused. IDT entries hold 0xFFF at first, which is in no vector:
 *     gmv/vtv/lav 0xFFF is invalid.
 *   - vp bits above 3, or (vp-vcs) that the switch does not have: invalid. In effect: VP & vp-vcs &
 *     vp-host.
 *   - rerouter: a PID not in LAV: refused (0xFFF is fine). A row with SEGVALID = 0 does not compare
 *     the segment; with 1 the completion must carry that very segment. Lowest matching row wins.
 *   - hdm: BASE or LENGTH not a multiple of 256 MB, BASE + LENGTH above 2^64, overlap with another
 *     decoder, PID 0xFFF or above, INDEX above 9: invalid. No interleave.
 *   - drt: DPID 0xFFF and above, TYPE 3 and above, VALUE above 255, an RGT row that is not there:
 *     invalid. Ports are 0..255.
 *   - rgt: reserved bits (7:6 of both bytes), highest primary above highest valid, mode 3..5:
 *     invalid; mode 2, 6, 7: unsupported. Rows behind the last: invalid.
 *
 * Decisions:
 *
 *   mem HPA | uio HPA [PREFIX] | io HPA [PREFIX]
 *       a request from the device, by the order of 1.12; PREFIX: it has VendPrefixL0 with this PID.
 *       "to DPID SPID PIF DECODER" with DECODER one of prefix fast ldst ldst-segment (entry bit 1)
 *       hdm pcie; or "no REASON" with REASON one of
 *         no-decode    nothing took it
 *         not-allowed  the decoder's DPID is not in GMV / VTV / LAV now
 *         gim-uio-only mem that hit a FAST segment with GIM = 1
 *         prefix       io with a prefix; uio with one that is not enabled, or not in VTV
 *       A decoder that hit decides: nothing falls through to the next because of a vector.
 *       io without prefix knows no FAST, LDST and HDM: pcie or no-decode. pcie has PIF = 0.
 *   cpl SEGVALID SEGMENT BUS DEVFN LOCAL [PREFIX]
 *       a UIO completion from the device with this requester id; LOCAL 1: it matches a request that
 *       came down the ordinary way. With PREFIX: enabled means the egress-request bit (the request
 *       went out with it). Without: re-router row ("to .. rerouter", PIF 0), its PID not in LAV any
 *       more: "no not-allowed"; no row: LOCAL ? "to 0xfff SPID 0 upstream" : "no unexpected".
 *       PREFIX not enabled or not in VTV: "no unexpected".
 *   egress mem|uio|io|cpl SPID PIF    towards the device: "pass", "prefix PID", "ur" or "drop".
 *       link 0: drop. pbr-link 1: pass.
 *   route TABLE DPID CLASS RANDOM
 *       "port N", "none" (invalid row, no such row), "local" (DPID 0xFFF) or "stall". CLASS is one
 *       of d2h-req d2h-rsp d2h-dh h2d-req h2d-rsp h2d-dh req-hdm-d req-hdm-h req-hdm-db rwd birsp
 *       ndr drs bisnp io io-vh uio-p2p. RANDOM, 64 bits: primary group if (RANDOM & 7) < 7 - mix;
 *       candidate number (RANDOM >> 32) * candidates >> 32 in mode 0. Mode 1: the least loaded
 *       candidate, the first of equals. A static class, and any with spread 0: the first port, ready
 *       or not. A direct port row is taken ready or not.
 *   way HPA INTLV GRAN    the way, or "error invalid"
 *
 * In binary, for many at a time; N up to 1048576:
 *
 *   mem-run N      followed by N 8-byte little-endian HPAs: "dpids N" and N 2-byte DPIDs, 0xFFFF: none
 *   port-run TABLE N    the same HPAs: "ports N" and N 2-byte ports by FAST and DRT, 0xFFFF: none
 *   drt-run TABLE N     followed by N 2-byte DPIDs: "ports N" and N 2-byte ports, 0xFFFF: none or RGT
 */
