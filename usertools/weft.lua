-- SPDX-License-Identifier: BSD-3-Clause
-- Copyright (c) 2026 The Weft Authors

-- Wireshark dissector for Weft: frames of EtherType 0x88B5 and raw flits of link type 147. It is a
-- reading of its own of encapsulation.md sections 2 to 4 and wire-formats.md sections 1, 2 and 4:
-- tables and rules come from there. It keeps account of numbers and data slots as a passive receiver
-- does, so its counts are those of weft-replay. How to use it: doc/wireshark.md.

-- Bits: Wireshark's `bit` is signed, Lua 5.2's bit32 is not; both give 0..2^32-1 here.
local bxor, band
if bit32 then
	bxor, band = bit32.bxor, bit32.band
else
	bxor = function(a, b) return bit.bxor(a, b) % 0x100000000 end
	band = function(a, b) return bit.band(a, b) % 0x100000000 end
end
local floor, byte, format = math.floor, string.byte, string.format

local FLIT = 256
local SLOTS = 15 -- slot 0 is the H-slot, 14 bytes; 1..14 are G-slots
local HEADER = 18
local MAX_FLITS = 64
local WINDOW = 511

-- Names

local FLIT_TYPES = { [0] = "IDLE/NOP", "CXL.io", "CXL.cachemem", "ALMP" }
local COMMANDS = { [0] = "explicit number", "Ack", "Nak standard", "Nak selective" }
local MODES = { [0] = "cxl", "rxl" }
local FORMS = { [0] = "hbr", "pbr" }
local ISN_FORMS = { [0] = "pseudo-header", "xor", "none" }
local SNP_TYPES = { [0] = "No-Op", "SnpData", "SnpCur", "SnpInv" }
local META_FIELDS = { [0] = "Meta0-State", "EMS", [3] = "No-Op" }
local META_VALUES = { [0] = "Invalid", "explicit No-Op", "Any", "Shared" }
local DEV_LOADS = { [0] = "light", "optimal", "moderate overload", "severe overload" }

-- wire-formats.md section 4.3
local OPCODES = {
	m2s_req = { [0] = "MemInv", "MemRd", "MemRdData", "MemRdFwd", "MemWrFwd", "MemRdTEE",
		"MemRdDataTEE", [8] = "MemSpecRd", [9] = "MemInvNT", [0xA] = "MemClnEvct",
		[0xC] = "MemSpecRdTEE", [0xD] = "TEUpdate" },
	m2s_rwd = { "MemWr", "MemWrPtl", [4] = "BIConflict", [5] = "MemRdFill", [9] = "MemWrTEE",
		[0xA] = "MemWrPtlTEE", [0xD] = "MemRdFillTEE" },
	m2s_birsp = { [0] = "BIRspI", "BIRspS", "BIRspE", [4] = "BIRspIBlk", [5] = "BIRspSBlk",
		[6] = "BIRspEBlk" },
	s2m_bisnp = { [0] = "BISnpCur", "BISnpData", "BISnpInv", [4] = "BISnpCurBlk",
		[5] = "BISnpDataBlk", [6] = "BISnpInvBlk" },
	s2m_ndr = { [0] = "Cmp", "Cmp-S", "Cmp-E", "Cmp-M", "BI-ConflictAck", "CmpTEE" },
	s2m_drs = { [0] = "MemData", "MemData-NXM", "MemDataTEE" },
	d2h_req = { "RdCurr", "RdOwn", "RdShared", "RdAny", "RdOwnNoData", "ItoMWr", "WrCur",
		"CLFlush", "CleanEvict", "DirtyEvict", "CleanEvictNoData", "WOWrInv", "WOWrInvF",
		"WrInv", [0x10] = "CacheFlushed" },
	d2h_rsp = { [1] = "RspSHitSE", [4] = "RspIHitI", [5] = "RspIHitSE", [6] = "RspVHitV",
		[7] = "RspSFwdM", [0xF] = "RspIFwdM", [0x16] = "RspVFwdV" },
	h2d_req = { "SnpData", "SnpInv", "SnpCur" },
	h2d_rsp = { "WritePull", [4] = "GO", [5] = "GO_WritePull", [6] = "ExtCmp",
		[8] = "GO_WritePull_Drop", [0xD] = "Fast_GO_WritePull", [0xF] = "GO_ERR_WritePull" },
}

-- Section 4.6, by LLCTRL * 16 + SubType.
local IDE_START, IDE_TMAC, IDE_MAC, IDE_STOP, VIRAL, POISON = 0x21, 0x22, 0x23, 0x24, 0x30, 0x31
local INIT_PARAM = 0xC8
local LLCTRLS = { [0x20] = "IDE.Idle", [IDE_START] = "IDE.Start", [IDE_TMAC] = "IDE.TMAC",
	[IDE_MAC] = "IDE.MAC", [IDE_STOP] = "IDE.Stop", [VIRAL] = "Viral", [POISON] = "Poison",
	[INIT_PARAM] = "INIT.Param" }
-- Every later slot of an encrypted stream is ciphertext; IDE.Stop ends that.
local IDE_TURNS = { [IDE_START] = true, [IDE_TMAC] = true, [IDE_MAC] = true, [IDE_STOP] = false }

-- Link control (doc/wire.md): the records of each message, besides 1 and 16 which all have; and the
-- records: name, label, length, least, most, names of values.
local CONTROL_MESSAGES = { "HELLO", "WELCOME", "REFUSE", "GOODBYE", "READY", "KEEPALIVE", "RESET",
	"LOSS", "CHALLENGE", "GONE", "ANNOUNCE", "MANAGEMENT" }
local CONTROL_HAS = { "2 3 4 5 6 7 8 9 10 15", "2 3 4 5 6 7 8 9 10 13 15", "2 3 4 5 6 7 8 9 10 11",
	"", "", "12", "", "8 9 14", "21", "21", "26 27 28 29 30", "15" }
-- Those that a message has with IDE on. Some do not say whether it is.
local CONTROL_HAS_IDE = { "17 18", "17 18 19", "17", "22 23", "20", "22 23", [10] = "20",
	[11] = "20" }
-- Of those that offer memory, or know some.
local CONTROL_MAY_HAVE = { { [24] = true, [25] = true }, { [24] = true, [25] = true } }
local RECORD_TYPE, RECORD_IDE, RECORD_PADDED, RECORD_CHECK = 1, 7, 15, 16
local CONTROL_RECORDS = {
	{ "type", "Message", 1, 1, #CONTROL_MESSAGES, CONTROL_MESSAGES },
	{ "version", "Frame version", 1, 0, 255 },
	{ "mode", "Mode", 1, 0, 1, MODES },
	{ "max_flits", "Most flits in a frame", 1, 1, MAX_FLITS },
	{ "crc_order", "CRC order", 1, 0, 1, { [0] = "r0 first", "r7 first" } },
	{ "isn", "ISN form", 1, 0, 2, ISN_FORMS },
	{ "ide", "IDE", 1, 0, 2, { [0] = "off", "containment", "skid" } },
	{ "port", "Port", 2, 0, 0xFFFF },
	{ "node", "Node identity", 16 },
	{ "credits", "Requests held", 2, 0, 0xFFFF },
	{ "differs", "Differs", 1, 1, 12, { "frame version", "mode", "CRC order", "ISN form", "IDE mode",
		"frames of full size do not pass", "IDE PCRC", "IDE.Stop", "IDE protection of poison",
		"pre-shared key", "PID", "link form" } },
	{ "flags", "Flags", 1, 0, 1, { [0] = "none", "the sender hears nothing" } },
	{ "session", "Session offered", 4, 1, 0xFFFFFFFF, base.HEX_DEC },
	{ "count", "Flits dropped", 4, 1, 0xFFFFFFFF },
	{ "padded", "Padded to the flits of a frame", 1, 0, MAX_FLITS },
	{ "check", "Check", 2, 0, 0xFFFF, base.HEX },
	{ "ide_bits", "IDE bits", 2, 0, 0xFFFF, base.HEX },
	{ "random", "Share in the keys", 32 },
	{ "proof", "Proof of the pre-shared key", 16 },
	{ "ready_proof", "Proof of the pre-shared key", 16 },
	{ "challenge", "Challenge", 8, 1 },
	{ "number", "Number", 8, 1 },
	{ "mac", "MAC", 16 },
	{ "memory", "Memory generation", 8, 1 },
	{ "known", "Memory generation of the receiver, as known", 8, 1 },
	{ "fabric", "Fabric", 32 },
	{ "name", "Node", 32 },
	{ "instance", "Instance", 8, 1 },
	{ "heard", "Instance that is answered", 8 },
	{ "runs_ms", "Takes part for (ms)", 4, 0, 0xFFFFFFFF },
}

-- Messages: length, then fields at the slot bits they have in the first message of a slot, which
-- begins with Val at bit 4 (section 4.2). Left: HBR, right: PBR.
local M2S = "op 8:5 snp_type 11:9 meta_field 13:12 meta_value 15:14 tag 31:16 addr 77:32 "
local S2M = "op 7:5 meta_field 9:8 meta_value 11:10 tag 27:12 "
local LAYOUTS = {
	m2s_req = { { 100, M2S .. "ld_id 81:78 ckid 94:82 tc 103:102" },
		{ 120, M2S .. "spid 89:78 dpid 101:90 ckid 114:102 tc 123:122" } },
	m2s_rwd = { { 104, M2S .. "poison 78 trp 79 ld_id 83:80 ckid 96:84 tc 107:106" },
		{ 124, M2S .. "poison 78 trp 79 spid 91:80 dpid 103:92 ckid 116:104 tc 127:126" } },
	m2s_birsp = { { 40, "op 8:5 bi_id 20:9 tag 32:21 low_addr 34:33" },
		{ 52, "op 8:5 tag 20:9 low_addr 22:21 spid 34:23 dpid 46:35" } },
	s2m_bisnp = { { 84, "op 8:5 bi_id 20:9 tag 32:21 addr 78:33" },
		{ 96, "op 8:5 tag 20:9 addr 66:21 spid 78:67 dpid 90:79" } },
	s2m_ndr = { { 40, S2M .. "dev_load 29:28 ld_id 33:30" },
		{ 48, S2M .. "dev_load 29:28 dpid 41:30" } },
	s2m_drs = { { 40, S2M .. "poison 28 dev_load 30:29 ld_id 34:31 trp 35" },
		{ 48, S2M .. "poison 28 dev_load 30:29 dpid 42:31 trp 43" } },
	d2h_req = { { 76, "op 9:5 tag 21:10 nt 22 addr 68:23 cache_id 72:69" },
		{ 96, "op 9:5 tag 21:10 nt 22 addr 68:23 spid 80:69 dpid 92:81" } },
	d2h_rsp = { { 24, "op 9:5 tag 21:10" }, { 36, "op 9:5 tag 21:10 dpid 33:22" } },
	d2h_dh = { { 24, "tag 16:5 bogus 17 poison 18 trp 19" },
		{ 36, "tag 16:5 bogus 17 poison 18 trp 19 dpid 31:20" } },
	h2d_req = { { 72, "op 7:5 addr 53:8 tag 65:54 cache_id 69:66" },
		{ 92, "op 7:5 addr 53:8 tag 65:54 spid 77:66 dpid 89:78" } },
	h2d_rsp = { { 40, "op 8:5 rsp_data 20:9 rsp_pre 22:21 tag 34:23 cache_id 38:35" },
		{ 48, "op 8:5 rsp_data 20:9 rsp_pre 22:21 tag 34:23 dpid 46:35" } },
	h2d_dh = { { 28, "tag 16:5 poison 17 go_err 18 cache_id 22:19" },
		{ 36, "tag 16:5 poison 17 go_err 18 dpid 30:19" } },
}
local HAS_DATA = { m2s_rwd = true, s2m_drs = true, d2h_dh = true, h2d_dh = true }

-- Slot formats by SlotFmt (section 4.1): what a slot holds, in order.
local FORMATS = {
	G = {
		{ [0] = "h2d_req h2d_rsp", "3 h2d_rsp", "d2h_req 2 d2h_rsp", "4 d2h_rsp", "m2s_req",
			"3 m2s_birsp", "s2m_bisnp s2m_ndr", "3 s2m_ndr", [0xC] = "4 h2d_dh",
			[0xD] = "4 d2h_dh", [0xE] = "m2s_rwd", [0xF] = "3 s2m_drs" },
		{ [0] = "h2d_req", "2 h2d_rsp", "d2h_req", "3 d2h_rsp", "m2s_req", "2 m2s_birsp",
			"s2m_bisnp", "2 s2m_ndr", [0xC] = "3 h2d_dh", [0xD] = "3 d2h_dh",
			[0xE] = "m2s_rwd", [0xF] = "2 s2m_drs" },
	},
	H = {
		{ [0] = "h2d_req", "2 h2d_rsp", "d2h_req d2h_rsp", "4 d2h_rsp", "m2s_req",
			"2 m2s_birsp", "s2m_bisnp", "2 s2m_ndr", [0xC] = "3 h2d_dh",
			[0xD] = "4 d2h_dh", [0xE] = "m2s_rwd", [0xF] = "2 s2m_drs" },
		{ [0] = "h2d_req", "2 h2d_rsp", "d2h_req", "3 d2h_rsp", "m2s_req", "2 m2s_birsp",
			"s2m_bisnp", "2 s2m_ndr", [0xC] = "3 h2d_dh", [0xD] = "3 d2h_dh",
			[0xE] = "m2s_rwd", [0xF] = "2 s2m_drs" },
	},
}
local HBR, PBR = 1, 2

-- Credit return (section 4.5): classes of the three CRD fields, and the runs of five codes.
local CREDIT_CLASSES = {
	{ first = 0x04, "H2D Req", "H2D Data", "H2D Rsp" },
	{ first = 0x09, "D2H Req", "D2H Data", "D2H Rsp" },
	{ first = 0x14, "M2S Req", "M2S RwD", "M2S BIRsp" },
	{ first = 0x19, "S2M BISnp", "S2M DRS", "S2M NDR" },
}
local CREDIT_AMOUNTS = { [0] = 1, 4, 8, 12, 16 }

-- Protocol, fields, expert notes, preferences

local weft = Proto("weft", "Weft flits")
local weft_raw = Proto("weft_raw", "Weft raw flits")
local F, E = {}, {}

local function field(make, name, label, ...)
	F[name] = ProtoField[make]("weft." .. name, label, ...)
end

field("uint8", "version", "Version")
field("uint8", "kind", "Kind", base.DEC, { [0] = "flits", "link control" })
field("uint8", "flags", "Flags", base.HEX)
field("uint8", "mode", "Mode", base.DEC, MODES)
field("uint8", "form", "Form", base.DEC, FORMS)
field("uint8", "count", "Flits")
field("uint8", "vc", "Virtual channel")
field("uint16", "spid", "SPID", base.HEX)
field("uint16", "dpid", "DPID", base.HEX)
field("uint32", "session", "Session", base.HEX_DEC)
field("uint32", "clock", "Sender's clock (ns)")
field("uint16", "check", "Header check", base.HEX)
field("string", "drop", "Refused")
field("uint32", "stream", "Stream")
field("none", "flit", "Flit")
field("uint8", "flit.index", "Place in the frame")
field("uint8", "flit.type", "Type", base.DEC, FLIT_TYPES)
field("bool", "flit.prior", "Flit before was payload")
field("uint8", "flit.dllp", "Type of DLLP payload")
field("uint8", "flit.cmd", "Replay Command", base.DEC, COMMANDS)
field("uint16", "flit.field", "Number in the header")
field("uint16", "flit.ack", "Acknowledged up to")
field("uint16", "flit.nak", "Nak of the one behind")
field("uint16", "flit.asked", "Asked for again")
field("uint16", "flit.seq", "Flit number")
field("string", "flit.verdict", "Verdict")
field("uint16", "flit.lost", "Flits lost before")
field("uint16", "flit.shows", "Number of the next flit")
field("framenum", "flit.replay_of", "Number came first in")
field("bool", "flit.empty", "Empty flit")
field("uint64", "flit.crc", "CRC (r7 to r0)", base.HEX)
field("string", "flit.crc_status", "CRC status")
field("bytes", "flit.fec", "FEC")
field("string", "flit.fec_status", "FEC status")
field("uint8", "flit.fec_bytes", "Bytes corrected")
field("uint8", "flit.fec_at", "Byte corrected")
field("bytes", "flit.payload", "Payload")
field("uint16", "crd", "Credit return", base.HEX)
field("string", "credit", "Credits")
field("none", "slot", "Slot")
field("uint8", "slot.index", "Slot number")
field("uint8", "slot.format", "SlotFmt", base.HEX)
field("bytes", "slot.encrypted", "Ciphertext")
field("bytes", "slot.reserved", "Reserved")
field("bytes", "slot.refused", "Refused")
field("bytes", "data", "Data")
field("bytes", "trailer", "Trailer")
field("framenum", "data.header", "Header of the data in")
field("none", "msg", "Message")
field("string", "msg.kind", "Kind")
field("uint8", "msg.op", "Opcode", base.HEX)
field("string", "msg.name", "Opcode name")
field("uint8", "msg.snp_type", "SnpType", base.DEC, SNP_TYPES)
field("uint8", "msg.meta_field", "MetaField", base.DEC, META_FIELDS)
field("uint8", "msg.meta_value", "MetaValue", base.DEC, META_VALUES)
field("uint16", "msg.tag", "Tag", base.HEX)
field("uint64", "msg.addr", "Address", base.HEX)
field("uint8", "msg.ld_id", "LD-ID")
field("uint8", "msg.cache_id", "CacheID")
field("uint16", "msg.spid", "SPID", base.HEX)
field("uint16", "msg.dpid", "DPID", base.HEX)
field("uint16", "msg.ckid", "CKID", base.HEX)
field("uint8", "msg.tc", "Traffic class")
field("uint8", "msg.poison", "Poison")
field("uint8", "msg.trp", "Trailer follows")
field("uint8", "msg.bogus", "Bogus")
field("uint8", "msg.nt", "Non-temporal")
field("uint8", "msg.go_err", "GO-Err")
field("uint16", "msg.bi_id", "BI-ID", base.HEX)
field("uint8", "msg.low_addr", "LowAddr", base.HEX)
field("uint16", "msg.rsp_data", "RspData", base.HEX)
field("uint8", "msg.rsp_pre", "RSP_PRE", base.HEX)
field("uint8", "msg.dev_load", "DevLoad", base.DEC, DEV_LOADS)
field("uint8", "llctrl", "Link-layer control", base.HEX, LLCTRLS)
field("bytes", "llctrl.mac", "MAC")
field("uint16", "llctrl.ld_id", "LD-ID vector", base.HEX)
field("uint8", "llctrl.poison", "Message offset")
field("bool", "llctrl.p2p", "Direct-P2P capable")
field("uint8", "almp", "ALMP", base.HEX, { [0x08] = "vLSM", [0x01] = "L0p" })
field("bytes", "almp.payload", "ALMP payload")
field("none", "control", "Link control")
field("bytes", "control.unknown", "Unknown record")
for _, r in ipairs(CONTROL_RECORDS) do
	if r[3] > 4 then
		field("bytes", "control." .. r[1], r[2])
	else
		local names = type(r[6]) == "table" and r[6] or nil
		field("uint32", "control." .. r[1], r[2], names and base.DEC or r[6] or base.DEC, names)
	end
end

local function expert_note(name, text, group, severity)
	E[name] = ProtoExpert.new("weft.expert." .. name, text, group, severity)
end

expert_note("refused", "Frame refused", expert.group.MALFORMED, expert.severity.ERROR)
expert_note("header_check", "Header check does not match", expert.group.CHECKSUM,
	expert.severity.ERROR)
expert_note("fec_corrected", "FEC corrected the flit", expert.group.CHECKSUM,
	expert.severity.NOTE)
expert_note("fec_uncorrectable", "FEC cannot correct the flit", expert.group.CHECKSUM,
	expert.severity.WARN)
expert_note("crc_bad", "CRC does not match", expert.group.CHECKSUM, expert.severity.ERROR)
expert_note("gap", "Flits lost", expert.group.SEQUENCE, expert.severity.WARN)
expert_note("duplicate", "Number in the past", expert.group.SEQUENCE, expert.severity.NOTE)
expert_note("replay", "Replay: this flit came before", expert.group.SEQUENCE,
	expert.severity.NOTE)
expert_note("late", "Late: the number was missing until now", expert.group.SEQUENCE,
	expert.severity.NOTE)
expert_note("nak_standard", "Nak standard", expert.group.SEQUENCE, expert.severity.NOTE)
expert_note("nak_selective", "Nak selective", expert.group.SEQUENCE, expert.severity.NOTE)
expert_note("all_zero", "All-zero flit", expert.group.PROTOCOL, expert.severity.WARN)
expert_note("slot_format", "Reserved or unexpected slot format", expert.group.PROTOCOL,
	expert.severity.WARN)
expert_note("opcode", "Reserved opcode", expert.group.PROTOCOL, expert.severity.WARN)
expert_note("credit", "Reserved credit code", expert.group.PROTOCOL, expert.severity.WARN)
expert_note("poison", "Poison", expert.group.PROTOCOL, expert.severity.NOTE)
expert_note("record", "Malformed link control record", expert.group.MALFORMED,
	expert.severity.ERROR)
expert_note("unknown_record", "Unknown link control record", expert.group.UNDECODED,
	expert.severity.NOTE)

local all_fields, all_experts = {}, {}
for _, f in pairs(F) do
	all_fields[#all_fields + 1] = f
end
for _, e in pairs(E) do
	all_experts[#all_experts + 1] = e
end
weft.fields = all_fields
weft.experts = all_experts

local FIRST_SEEN = 1024
weft.prefs.check = Pref.bool("Check CRC and FEC", true, "A third of the time")
weft.prefs.isn = Pref.enum("Number in the CRC (rxl)", 0, "How the implicit number enters the CRC",
	{ { "pseudo", "pseudo-header", 0 }, { "xor", "xor", 1 }, { "none", "none", 2 } }, false)
weft.prefs.crc_order = Pref.enum("CRC order", 0, "Coefficient at byte 242 of a flit",
	{ { "r0", "r0 first", 0 }, { "r7", "r7 first", 1 } }, false)
weft.prefs.first = Pref.uint("First number", 1,
	"Number of the first flit of each stream; 1024: take what comes")
weft.prefs.encrypted = Pref.bool("All slots are encrypted", false,
	"Off: from the first IDE message of a stream on")
weft.prefs.cxl_form = Pref.enum("Raw flits of cxl mode", 0, "Frames say it, raw flits do not",
	{ { "hbr", "HBR", 0 }, { "pbr", "PBR", 1 } }, false)
weft.prefs.raw_mode = Pref.enum("Mode of raw flits", 1, "Link type 147 says nothing of it",
	{ { "cxl", "cxl", 0 }, { "rxl", "rxl", 1 } }, false)
weft.prefs.raw_spid = Pref.uint("SPID of raw flits", 0, "0 to 4095")
weft.prefs.raw_dpid = Pref.uint("DPID of raw flits", 0, "0 to 4095")

-- CRC-16/T10-DIF of the frame header

local T10 = {}
for i = 0, 255 do
	local reg = i * 256
	for _ = 1, 8 do
		local shifted = reg * 2 % 0x10000
		reg = reg >= 0x8000 and bxor(shifted, 0x8BB7) or shifted
	end
	T10[i] = reg
end

local function t10dif(bytes, last)
	local reg = 0
	for i = 1, last do
		reg = bxor(reg % 256 * 256, T10[bxor(floor(reg / 256), bytes[i])])
	end
	return reg
end

-- Galois fields

local function gf_times(a, b, poly)
	local product = 0
	while b > 0 do
		if b % 2 == 1 then
			product = bxor(product, a)
		end
		a = a * 2
		if a >= 256 then
			a = bxor(a, poly)
		end
		b = floor(b / 2)
	end
	return product
end

-- Flit CRC (wire-formats.md section 2.1): the remainder as two halves, r7..r4 and r3..r0, and for
-- each byte that leaves at the top its product with the generator.

local CRC_POLY = 0x12B
local CRC_G8 = { 0xD5, 0x68, 0xFE, 0xD5, 0x33, 0x41, 0x4D, 0x69 }
local CRC_HI, CRC_LO = {}, {}
for f = 0, 255 do
	local hi, lo = 0, 0
	for i = 1, 4 do
		hi = hi * 256 + gf_times(f, CRC_G8[i], CRC_POLY)
		lo = lo * 256 + gf_times(f, CRC_G8[i + 4], CRC_POLY)
	end
	CRC_HI[f], CRC_LO[f] = hi, lo
end

local CRC_COVERED = 242
local CRC_ZEROS = {}
for i = 1, CRC_COVERED do
	CRC_ZEROS[i] = 0
end

local function crc_over(hi, lo, bytes, count)
	for i = 1, count do
		local hi_rest, lo_rest = hi % 0x1000000, lo % 0x1000000
		local f = bxor((hi - hi_rest) / 0x1000000, bytes[i])
		hi = bxor(hi_rest * 256 + (lo - lo_rest) / 0x1000000, CRC_HI[f])
		lo = bxor(lo_rest * 256, CRC_LO[f])
	end
	return hi, lo
end

local function crc_received(b, r7_first)
	if r7_first then
		return ((b[243] * 256 + b[244]) * 256 + b[245]) * 256 + b[246],
			((b[247] * 256 + b[248]) * 256 + b[249]) * 256 + b[250]
	end
	return ((b[250] * 256 + b[249]) * 256 + b[248]) * 256 + b[247],
		((b[246] * 256 + b[245]) * 256 + b[244]) * 256 + b[243]
end

-- What the pseudo-header adds to the CRC (encapsulation.md section 3).
local function pseudo_part(spid, dpid, vc, number)
	local head = { floor(spid / 16), spid % 16 * 16 + floor(dpid / 256), dpid % 256,
		vc * 4 + floor(number / 256), number % 256 }
	local hi, lo = crc_over(0, 0, head, 5)
	return crc_over(hi, lo, CRC_ZEROS, CRC_COVERED)
end

-- What the number adds in the XOR form: it stands in bytes 2 and 3.
local function xor_part(number)
	local bytes = {}
	for i = 1, CRC_COVERED do
		bytes[i] = 0
	end
	bytes[3], bytes[4] = number % 256, floor(number / 256)
	return crc_over(0, 0, bytes, CRC_COVERED)
end

-- All 1024 numbers from ten, both parts being linear.
local function number_parts(part_of)
	local hi, lo = { [0] = 0 }, { [0] = 0 }
	local bit_value = 1
	while bit_value < 1024 do
		local bit_hi, bit_lo = part_of(bit_value)
		for n = 0, bit_value - 1 do
			hi[bit_value + n] = bxor(hi[n], bit_hi)
			lo[bit_value + n] = bxor(lo[n], bit_lo)
		end
		bit_value = bit_value * 2
	end
	return hi, lo
end

local PSEUDO_HI, PSEUDO_LO = number_parts(function(n) return pseudo_part(0, 0, 0, n) end)
local XOR_HI, XOR_LO = number_parts(xor_part)
-- The upper halves of any two numbers differ: two symbols apart leave at least 7 of 8 CRC symbols
-- different.
local NUMBER_OF_HI = {}
for n = 0, 1023 do
	NUMBER_OF_HI[PSEUDO_HI[n]] = n
end

-- FEC (wire-formats.md section 2.2)

local FEC_POLY = 0x11D
local FEC_TIMES_2, FEC_LOG = {}, {}
do
	local power = 1
	for i = 0, 254 do
		FEC_LOG[power] = i
		power = gf_times(power, 2, FEC_POLY)
	end
	for i = 0, 255 do
		FEC_TIMES_2[i] = gf_times(i, 2, FEC_POLY)
	end
end
local FEC_CHECK_AT = { [0] = 252, 250, 251 }
local FEC_PARITY_AT = { [0] = 255, 253, 254 }

-- Where group @g is wrong and by what; nothing if it is clean, false if that cannot be said.
local function fec_locate(b, g)
	local check, parity = 0, 0
	for i = g + 1, 250, 3 do
		local d = b[i]
		check = FEC_TIMES_2[bxor(check, d)]
		parity = bxor(parity, d)
	end
	if g ~= 0 then
		check = FEC_TIMES_2[check] -- the virtual zero at k = 83
	end
	check = bxor(check, b[FEC_CHECK_AT[g] + 1])
	parity = bxor(parity, b[FEC_PARITY_AT[g] + 1])
	if check == 0 and parity == 0 then
		return nil
	elseif check == 0 then
		return FEC_PARITY_AT[g], parity
	elseif parity == 0 then
		return FEC_CHECK_AT[g], check
	end
	local k = 84 - (FEC_LOG[check] - FEC_LOG[parity]) % 255
	if k < 0 or 3 * k + g > 249 then
		return false
	end
	return 3 * k + g, parity
end

-- "clean", "corrected" with {at, value, ...}, or "uncorrectable".
local function fec_decode(b)
	local repairs = {}
	for g = 0, 2 do
		local at, value = fec_locate(b, g)
		if at == false then
			return "uncorrectable"
		elseif at then
			repairs[#repairs + 1] = at
			repairs[#repairs + 1] = value
		end
	end
	if #repairs == 0 then
		return "clean"
	end
	return "corrected", repairs
end

-- Slots and messages: the tables above, read once.

local function layout_of(spec)
	local fields = {}
	for name, hi, lo in spec[2]:gmatch("([%a_]+) (%d+):?(%d*)") do
		local lsb = tonumber(lo) or tonumber(hi)
		fields[#fields + 1] = { name = name, lsb = lsb, width = tonumber(hi) - lsb + 1 }
	end
	return { bits = spec[1], fields = fields }
end

local function places_of(text, form)
	local places, at, count = {}, 0, 1
	for word in text:gmatch("%S+") do
		if tonumber(word) then
			count = tonumber(word)
		else
			local layout = layout_of(LAYOUTS[word][form])
			for _ = 1, count do
				places[#places + 1] = { kind = word, at = at, fields = layout.fields }
				at = at + layout.bits
			end
			count = 1
		end
	end
	return places
end

local PLACES = { G = { {}, {} }, H = { {}, {} } }
for slot, forms in pairs(FORMATS) do
	for form, formats in ipairs(forms) do
		for code, text in pairs(formats) do
			PLACES[slot][form][code] = places_of(text, form)
		end
	end
end

-- Flit byte, counted from 1, at which slot @s begins, and its length.
local function slot_place(s)
	if s == 0 then
		return 3, 14
	end
	return 16 * s + 1, 16
end

-- Bits [lsb, lsb + width) of a slot; those beyond its end are 0. Exact up to 52 bits.
local function slot_bits(b, start, len, lsb, width)
	local at, shift = floor(lsb / 8), lsb % 8
	local value, scale = 0, 1
	while width > 0 and at < len do
		local take = 8 - shift
		if take > width then
			take = width
		end
		value = value + floor(b[start + at] / 2 ^ shift) % 2 ^ take * scale
		scale = scale * 2 ^ take
		width, at, shift = width - take, at + 1, 0
	end
	return value
end

-- The valid messages of header slot @s, or nil for a reserved format.
local function slot_messages(b, s, form)
	local start, len = slot_place(s)
	local places = PLACES[s == 0 and "H" or "G"][form][b[start] % 16]
	if not places then
		return nil
	end
	local messages = {}
	for _, place in ipairs(places) do
		if slot_bits(b, start, len, 4 + place.at, 1) == 1 then
			local m = { kind = place.kind, at = place.at, fields = place.fields }
			for _, f in ipairs(place.fields) do
				m[f.name] = slot_bits(b, start, len, f.lsb + place.at, f.width)
			end
			messages[#messages + 1] = m
		end
	end
	return messages
end

local function op_name(m)
	local names = OPCODES[m.kind]
	return names and (names[m.op] or "reserved")
end

-- Streams. A receiver is (SPID, DPID, VC, session) in rxl mode, a source address in cxl mode. State
-- moves on the first pass only; what was found about a frame is kept for later ones.

local streams, n_streams, found

function weft.init()
	streams, n_streams, found = {}, 0, {}
end

local function stream_new(h)
	local is_pbr = h.mode == 1 or h.form == 1
	local st = { index = n_streams, mode = h.mode, form = is_pbr and PBR or HBR,
		span = h.mode == 1 and 1024 or 1023, turn = 0, guessed = 0, seen = {},
		pending = {}, head = 1, n_slots = 0, encrypted = weft.prefs.encrypted }
	if weft.prefs.first < FIRST_SEEN then
		st.expected = weft.prefs.first
	end
	st.addr_hi, st.addr_lo = pseudo_part(h.spid, h.dpid, h.vc, 0)
	n_streams = n_streams + 1
	return st
end

local function stream_of(h, pinfo)
	local key = "raw"
	if h.session and h.mode == 1 then
		key = format("%x %x %x %x", h.spid, h.dpid, h.vc, h.session)
	elseif h.session then
		key = format("cxl %s %d", tostring(pinfo.dl_src), h.form)
	end
	if not streams[key] then
		streams[key] = stream_new(h)
	end
	return streams[key]
end

local function unpack_restart(st)
	st.pending, st.head, st.n_slots = {}, 1, 0
end

-- Numbers run over 0..1023 in rxl mode, 1..1023 in cxl mode.
local function number_add(st, number, by)
	if st.mode == 1 then
		return (number + by) % 1024
	end
	return (number - 1 + by) % 1023 + 1
end

local function skip_one(st)
	if st.expected then
		st.expected = number_add(st, st.expected, 1)
	end
	st.turn = st.turn + 1
end

-- Place an intact flit of a known number. `turn` counts numbers without wrapping.
local function judge_number(st, r, number, frame, crc)
	st.expected = st.expected or number
	local ahead = (number - st.expected) % st.span
	r.seq = number
	if ahead > WINDOW then
		local turn, first = st.turn - (st.span - ahead), st.seen[number]
		r.verdict = "duplicate"
		if first and first.turn == turn then
			r.first, r.same = first.frame, first.crc == crc
		else
			st.seen[number] = { turn = turn, frame = frame, crc = crc }
		end
		return
	end
	r.verdict = "in turn"
	if ahead > 0 then
		r.verdict, r.lost, st.hole = "gap", ahead, true
	end
	st.turn = st.turn + ahead
	st.seen[number] = { turn = st.turn, frame = frame, crc = crc }
	st.turn = st.turn + 1
	st.expected = number_add(st, number, 1)
end

-- Number that an rxl flit was made with, or nil if it is not intact.
local function rxl_number(st, hi, lo)
	local expected = st.expected or 1
	if weft.prefs.isn == 0 then
		hi, lo = bxor(hi, st.addr_hi), bxor(lo, st.addr_lo)
		local number = NUMBER_OF_HI[hi]
		return number and PSEUDO_LO[number] == lo and number or nil
	elseif weft.prefs.isn == 1 then
		return hi == XOR_HI[expected] and lo == XOR_LO[expected] and expected or nil
	end
	return hi == 0 and lo == 0 and expected or nil
end

local function judge_bad(st, r)
	r.verdict, st.hole = "bad", true
	st.guessed = st.guessed + 1
	skip_one(st)
end

local function judge_rxl(st, r, b, hi, lo, frame, crc)
	local number = rxl_number(st, hi, lo)
	if not number then
		judge_bad(st, r)
		return
	end
	local back = ((st.expected or number) - number) % 1024
	if back > 0 and back <= st.guessed then
		st.expected, st.turn = number, st.turn - back -- a bad one before used none
	end
	if b[1] < 0x40 then
		-- A NOP shows the number of the flit that comes next.
		r.verdict, r.shows, st.guessed = "no number", number, 0
		return
	end
	judge_number(st, r, number, frame, crc)
	if r.verdict ~= "duplicate" then
		st.guessed = 0
	end
end

local function judge_cxl(st, r, b, intact, frame, crc)
	local header_number = b[1] % 4 * 256 + b[2]
	if not intact then
		judge_bad(st, r)
	elseif b[1] < 0x40 then
		r.verdict = "no number"
	elseif band(b[1], 0x0C) == 0 and header_number ~= 0 then
		judge_number(st, r, header_number, frame, crc)
	elseif st.expected then
		judge_number(st, r, st.expected, frame, crc)
	else
		r.verdict = "in turn" -- the first number is not known yet
		skip_one(st)
	end
end

local function is_all_zero(b)
	for i = 1, FLIT do
		if b[i] ~= 0 then
			return false
		end
	end
	return true
end

local function judge(st, r, b, frame)
	if is_all_zero(b) then
		r.verdict = "all zero"
		return
	end
	local crc_hi, crc_lo = crc_received(b, weft.prefs.crc_order == 1)
	local crc = format("%08x%08x", crc_hi, crc_lo)
	if not weft.prefs.check then
		if st.mode == 1 then
			r.verdict = "unchecked"
		else
			judge_cxl(st, r, b, true, frame, crc)
		end
		return
	end
	local hi, lo = crc_over(0, 0, b, CRC_COVERED)
	hi, lo = bxor(hi, crc_hi), bxor(lo, crc_lo)
	if st.mode == 1 then
		judge_rxl(st, r, b, hi, lo, frame, crc)
	else
		judge_cxl(st, r, b, hi == 0 and lo == 0, frame, crc)
	end
	r.crc = r.verdict == "bad" and "bad" or "good"
end

-- Walking the slots (section 4.4). r.roles[s]: nil for a header slot, 1..4 for data, 5 for a
-- trailer, "encrypted", "reserved" (not read) or "refused"; r.owner[s] is whose data it is.

local DATA_SLOTS = 4
local PENDING_H = 16 -- with more data slots pending, the H-slot may add none

local function queue_data(st, messages, frame, is_h)
	if is_h and st.n_slots > PENDING_H then
		return false
	end
	local any_trailer = 0
	for _, m in ipairs(messages) do
		any_trailer = math.max(any_trailer, m.trp or 0)
	end
	for i, m in ipairs(messages) do
		local has_trailer = m.trp or 0
		if m.kind == "s2m_drs" then
			-- One trailer slot for all, behind the first message's data.
			has_trailer = i == 1 and any_trailer or 0
		end
		st.pending[#st.pending + 1] = { name = op_name(m) or m.kind, kind = m.kind,
			tag = m.tag, frame = frame, had = 0, slots = DATA_SLOTS + has_trailer }
		st.n_slots = st.n_slots + DATA_SLOTS + has_trailer
	end
	return true
end

local function take_data(st, r, s)
	local m = st.pending[st.head]
	m.had = m.had + 1
	r.roles[s], r.owner[s] = m.had, m
	st.n_slots = st.n_slots - 1
	if m.had == m.slots then
		st.head = st.head + 1
		if st.head > #st.pending then
			unpack_restart(st)
		end
	end
end

local function mark_rest(r, first, role)
	for s = first, SLOTS - 1 do
		r.roles[s] = role
	end
end

local function walk_header(st, r, b, s, frame)
	local messages = slot_messages(b, s, st.form)
	r.messages[s] = messages
	if not messages then
		return false
	end
	if #messages > 0 and HAS_DATA[messages[1].kind] then
		return queue_data(st, messages, frame, s == 0)
	end
	return true
end

local function walk(st, r, b, frame)
	local crd = b[241] + 256 * b[242]
	local first = 0
	if floor(b[1] / 64) ~= 2 or crd % 32 == 1 then
		return
	end
	r.roles, r.owner, r.messages = {}, {}, {}
	if b[3] % 16 == 8 then
		local code = b[3] - 8 + b[4] % 16
		r.llctrl = code
		if IDE_TURNS[code] ~= nil then
			st.encrypted = IDE_TURNS[code]
		end
		if code ~= IDE_MAC then
			mark_rest(r, 1, "reserved")
			return
		end
		first = 1
	end
	if st.encrypted then
		mark_rest(r, first, "encrypted")
		return
	end
	for s = first, SLOTS - 1 do
		if s > 0 and st.n_slots > 0 then
			take_data(st, r, s)
		elseif not walk_header(st, r, b, s, frame) then
			r.roles[s] = "refused"
			mark_rest(r, s + 1, "reserved")
			unpack_restart(st)
			return
		end
	end
end

local USED = { ["in turn"] = true, gap = true, unchecked = true }

-- Everything about a flit that depends on those before it.
local function examine(st, b, frame)
	local r = {}
	if weft.prefs.check then
		r.fec, r.repairs = fec_decode(b)
		for i = 1, r.repairs and #r.repairs or 0, 2 do
			local at = r.repairs[i] + 1
			b[at] = bxor(b[at], r.repairs[i + 1])
		end
	end
	judge(st, r, b, frame)
	if USED[r.verdict] then
		if st.hole then
			unpack_restart(st)
			st.hole = false
		end
		walk(st, r, b, frame)
	end
	return r
end

-- Showing a flit. `view(i, n)` is the range of its bytes from i, counted from 0.

local function show_credits(tree, view, b)
	local crd = b[241] + 256 * b[242]
	local item = tree:add(F.crd, view(240, 2), crd)
	for class = 1, 3 do
		local code = floor(crd / 32 ^ (class - 1)) % 32
		local text
		for _, set in ipairs(CREDIT_CLASSES) do
			local amount = CREDIT_AMOUNTS[code - set.first]
			if amount then
				text = amount .. " " .. set[class]
			end
		end
		if text then
			item:add(F.credit, view(240, 2), text)
		elseif code ~= 0 and not (class == 1 and code == 1) then
			item:add_proto_expert_info(E.credit)
		end
	end
	if crd >= 0x8000 then
		item:add_proto_expert_info(E.credit)
	end
end

local function show_message(tree, range, m, summary)
	local name = op_name(m)
	local item = tree:add(F.msg, range)
	item:set_text(format("%s%s, tag 0x%x", m.kind, name and " " .. name or "", m.tag))
	item:add(F["msg.kind"], range, m.kind)
	for _, f in ipairs(m.fields) do
		local value = m[f.name]
		if f.name == "addr" then
			-- Bits 51:6 are carried.
			local low = value % 2 ^ 26 * 64
			value = UInt64.new(low, floor(value / 2 ^ 26))
		end
		item:add(F["msg." .. f.name], range, value)
	end
	if name then
		item:add(F["msg.name"], range, name)
	end
	if name == "reserved" then
		item:add_proto_expert_info(E.opcode)
	end
	if m.poison == 1 then
		item:add_proto_expert_info(E.poison)
	end
	summary:count(name or m.kind)
end

local function show_llctrl(tree, view, b, code, summary)
	local range = view(2, 14)
	local item = tree:add(F.llctrl, range, code)
	item:add(F["msg.kind"], range, "llctrl")
	if code == IDE_MAC or code == IDE_TMAC then
		item:add(F["llctrl.mac"], view(4, 12))
	elseif code == VIRAL then
		item:add(F["llctrl.ld_id"], view(4, 2), b[5] + 256 * b[6])
	elseif code == POISON then
		item:add(F["llctrl.poison"], view(4, 1), b[5] % 16)
	elseif code == INIT_PARAM then
		item:add(F["llctrl.p2p"], view(4, 1), b[5] % 2 == 1)
	end
	summary:count(LLCTRLS[code] or format("LLCTRL 0x%02x", code))
end

local function show_data(tree, range, role, owner)
	local item = tree:add(role <= DATA_SLOTS and F.data or F.trailer, range)
	item:append_text(format(" (%s, tag 0x%x)", owner.name, owner.tag))
	item:add(F["data.header"], range, owner.frame):set_generated()
end

local function show_slot(tree, view, b, r, s, form, summary)
	local start, len = slot_place(s)
	local range, role = view(start - 1, len), r.roles[s]
	local slot = tree:add(F.slot, range)
	slot:set_text("Slot " .. s)
	slot:add(F["slot.index"], range, s)
	if s == 0 and r.llctrl then
		slot:add(F["slot.format"], range, 8)
		show_llctrl(slot, view, b, r.llctrl, summary)
		return
	elseif r.owner[s] then
		slot:append_text(role <= DATA_SLOTS and ": data" or ": trailer")
		show_data(slot, range, role, r.owner[s])
		return
	elseif role == "reserved" then
		slot:append_text(": not read")
		slot:add(F["slot.reserved"], range)
		return
	end
	slot:add(F["slot.format"], range, b[start] % 16)
	if role == "encrypted" then
		slot:append_text(": encrypted")
		slot:add(F["slot.encrypted"], range)
		return
	elseif role == "refused" then
		slot:add(F["slot.refused"], range):add_proto_expert_info(E.slot_format)
		return
	end
	local messages = r.messages and r.messages[s] or slot_messages(b, s, form)
	for _, m in ipairs(messages) do
		show_message(slot, range, m, summary)
	end
end

local function show_header(tree, view, b, mode)
	local cmd, number = floor(b[1] / 4) % 4, b[1] % 4 * 256 + b[2]
	local range = view(0, 1)
	tree:add(F["flit.type"], range, floor(b[1] / 64))
	tree:add(F["flit.prior"], range, floor(b[1] / 32) % 2 == 1)
	tree:add(F["flit.dllp"], range, floor(b[1] / 16) % 2)
	local item = tree:add(F["flit.cmd"], range, cmd)
	tree:add(F["flit.field"], view(0, 2), number)
	if cmd == 1 then
		tree:add(F["flit.ack"], view(0, 2), number)
	elseif cmd >= 2 then
		local asked = mode == 1 and (number + 1) % 1024 or number % 1023 + 1
		tree:add(F["flit.nak"], view(0, 2), number)
		tree:add(F["flit.asked"], view(0, 2), asked):set_generated()
		item:add_proto_expert_info(cmd == 2 and E.nak_standard or E.nak_selective, format(
			cmd == 2 and "Nak standard: %d and all behind it" or "Nak selective: %d alone", asked))
	end
end

local function show_verdict(tree, view, r)
	local item = tree:add(F["flit.verdict"], view(0, 2), r.verdict)
	item:set_generated()
	if r.seq then
		tree:add(F["flit.seq"], view(0, 2), r.seq):set_generated()
	end
	if r.shows then
		tree:add(F["flit.shows"], view(0, 2), r.shows):set_generated()
	end
	if r.lost then
		tree:add(F["flit.lost"], view(0, 2), r.lost):set_generated()
		item:add_proto_expert_info(E.gap, r.lost .. " flits lost")
	end
	if r.verdict == "all zero" then
		item:add_proto_expert_info(E.all_zero)
	elseif r.verdict == "duplicate" then
		if r.first then
			tree:add(F["flit.replay_of"], view(0, 2), r.first):set_generated()
		end
		local note = not r.first and E.late or r.same and E.replay or E.duplicate
		item:add_proto_expert_info(note)
	end
end

local function show_integrity(tree, view, b, r)
	local hi, lo = crc_received(b, weft.prefs.crc_order == 1)
	local item = tree:add(F["flit.crc"], view(242, 8), UInt64.new(lo, hi))
	if r.crc then
		tree:add(F["flit.crc_status"], view(242, 8), r.crc):set_generated()
	end
	if r.crc == "bad" then
		item:add_proto_expert_info(E.crc_bad)
	end
	item = tree:add(F["flit.fec"], view(250, 6))
	if r.fec then
		tree:add(F["flit.fec_status"], view(250, 6), r.fec):set_generated()
	end
	if r.fec == "uncorrectable" then
		item:add_proto_expert_info(E.fec_uncorrectable)
	elseif r.repairs then
		tree:add(F["flit.fec_bytes"], view(250, 6), #r.repairs / 2):set_generated()
		for i = 1, #r.repairs, 2 do
			tree:add(F["flit.fec_at"], view(r.repairs[i], 1), r.repairs[i]):set_generated()
		end
		item:add_proto_expert_info(E.fec_corrected)
	end
end

local function show_payload(tree, view, b, r, st, summary)
	local kind = floor(b[1] / 64)
	if not USED[r.verdict] then
		tree:add(F["flit.payload"], view(2, 240)):append_text(" (not used)")
	elseif kind == 1 then
		tree:add(F["flit.payload"], view(2, 240))
		summary:count("CXL.io")
	elseif kind == 3 then
		tree:add(F.almp, view(3, 1), b[4])
		tree:add(F["almp.payload"], view(2, 4))
		summary:count("ALMP")
	elseif kind == 2 and b[241] % 32 == 1 then
		tree:add(F["flit.empty"], view(240, 2), true)
		summary:count("Empty")
	elseif kind == 2 then
		for s = 0, SLOTS - 1 do
			show_slot(tree, view, b, r, s, st.form, summary)
		end
	else
		summary:count("NOP")
	end
	if kind == 2 and USED[r.verdict] then
		show_credits(tree, view, b)
	end
end

-- Corrected bytes are shown from a copy of the flit.
local function view_of(tvb, at, b, r, index)
	if not r.repairs then
		return function(i, n) return tvb(at + i, n) end
	end
	local copy = ByteArray.new(string.char(table.unpack(b)), true):tvb("Corrected flit " .. index)
	return function(i, n) return copy(i, n) end
end

local function dissect_flit(tvb, at, index, pinfo, tree, st, summary)
	local key = pinfo.number * 0x100000 + tvb:offset() + at
	local b = { byte(tvb:raw(at, FLIT), 1, FLIT) }
	local r = found[key]
	if not r then
		r = examine(st, b, pinfo.number)
		found[key] = r
	else
		for i = 1, r.repairs and #r.repairs or 0, 2 do
			b[r.repairs[i] + 1] = bxor(b[r.repairs[i] + 1], r.repairs[i + 1])
		end
	end
	local view = view_of(tvb, at, b, r, index)
	local item = tree:add(F.flit, tvb(at, FLIT))
	item:set_text(format("Flit %d: %s%s, %s", index, FLIT_TYPES[floor(b[1] / 64)],
		r.seq and " number " .. r.seq or "", r.verdict))
	item:add(F["flit.index"], tvb(at, FLIT), index)
	show_header(item, view, b, st.mode)
	show_verdict(item, view, r)
	show_payload(item, view, b, r, st, summary)
	show_integrity(item, view, b, r)
	summary:number(r)
	r.messages = nil -- for the first pass only: decoded again from the bytes later
end

-- The Info column

local Summary = {}
Summary.__index = Summary

local function summary_new()
	return setmetatable({ order = {}, counts = {} }, Summary)
end

function Summary:count(name)
	if not self.counts[name] then
		self.counts[name] = 0
		self.order[#self.order + 1] = name
	end
	self.counts[name] = self.counts[name] + 1
end

function Summary:number(r)
	self.first = self.first or r.seq
	self.last = r.seq or self.last
	if r.verdict ~= "in turn" and r.verdict ~= "no number" and r.verdict ~= "unchecked" then
		self:count("[" .. r.verdict .. "]")
	end
end

function Summary:text()
	local words = {}
	for _, name in ipairs(self.order) do
		local n = self.counts[name]
		words[#words + 1] = n > 1 and n .. " " .. name or name
	end
	local numbers = ""
	if self.first then
		numbers = self.first == self.last and " #" .. self.first or
			format(" #%d-%d", self.first, self.last)
	end
	return numbers .. (#words > 0 and " " .. table.concat(words, ", ") or "")
end

local function dissect_flits(tvb, at, n, pinfo, tree, h)
	local st, summary = stream_of(h, pinfo), summary_new()
	tree:add(F.stream, st.index):set_generated()
	for i = 0, n - 1 do
		dissect_flit(tvb, at + FLIT * i, i, pinfo, tree, st, summary)
	end
	return summary:text()
end

-- Link control

-- Record types of a message, as a set.
local CONTROL_SETS = {}
for message, types in ipairs(CONTROL_HAS) do
	CONTROL_SETS[message] = { [RECORD_TYPE] = true, [RECORD_CHECK] = true }
	for kind in types:gmatch("%d+") do
		CONTROL_SETS[message][tonumber(kind)] = true
	end
end

local CONTROL_IDE_SETS = {}
for message, types in pairs(CONTROL_HAS_IDE) do
	CONTROL_IDE_SETS[message] = {}
	for kind in types:gmatch("%d+") do
		CONTROL_IDE_SETS[message][tonumber(kind)] = true
	end
end

local function record_fault(r, len, value, is_zero, seen)
	if seen then
		return "comes twice"
	elseif len ~= r[3] then
		return format("has %d bytes, not %d", len, r[3])
	elseif value and (value < r[4] or value > r[5]) then
		return format("is out of range: %d", value)
	elseif is_zero and r[4] == 1 then
		return "is 0"
	end
end

-- Show a record: its value (true if that is no number), or nil and what is wrong with it.
local function show_record(tree, tvb, at, len, r, seen)
	local range = tvb(at, len + 2)
	local value = len > 0 and len <= 4 and len == r[3] and tvb(at + 2, len):uint() or nil
	local is_zero = len == 8 and tvb(at + 2, 8):uint64() == UInt64(0)
	local fault = record_fault(r, len, value, is_zero, seen)
	local item
	if value then
		item = tree:add(F["control." .. r[1]], range, value)
	elseif len == r[3] then
		item = tree:add(F["control." .. r[1]], tvb(at + 2, len))
	else
		item = tree:add(F["control.unknown"], range)
	end
	if fault then
		item:add_proto_expert_info(E.record, r[2] .. " " .. fault)
		return nil, fault, item
	end
	return value or true, nil, item
end

local function records_check(tvb, first, at)
	local bytes = { byte(tvb:raw(first, at - first), 1, at - first) }
	return t10dif(bytes, at - first)
end

-- What stands behind the check: anything, if the length was announced, else zeros.
local function padding_fault(tvb, first, at, padded)
	if padded and padded ~= 0 then
		return tvb:len() - first < padded * FLIT and "Shorter than it announces" or nil
	end
	for i = at, tvb:len() - 1 do
		if tvb(i, 1):uint() ~= 0 then
			return "Bytes behind the check are not zero"
		end
	end
end

-- A message has exactly its records.
local function set_fault(values)
	local set = CONTROL_SETS[values[RECORD_TYPE]]
	local ide_set = CONTROL_IDE_SETS[values[RECORD_TYPE]] or {}
	local may = CONTROL_MAY_HAVE[values[RECORD_TYPE]] or {}
	local ide = values[RECORD_IDE]
	for kind in pairs(ide_set) do
		if not ide and values[kind] then
			ide = 1 -- one of them says that it is on
		end
	end
	for kind, r in ipairs(CONTROL_RECORDS) do
		local must = set and (set[kind] or ide_set[kind] and ide and ide ~= 0)
		if must and not values[kind] then
			return r[2] .. " is missing"
		elseif set and not must and not may[kind] and values[kind] then
			return r[2] .. " does not belong here"
		end
	end
	return not set and "It says of no message what it is" or nil
end

-- Records from @first up to the check: {type: value}, where they end, and whether one is wrong.
local function show_records(item, tvb, first)
	local len, at, values, bad = tvb:len(), first, {}, false
	while not values[RECORD_CHECK] do
		local value_len = at + 1 < len and tvb(at + 1, 1):uint()
		if not value_len or at + 2 + value_len > len then
			item:add_proto_expert_info(E.record, "A record runs past the end")
			return values, at, true
		end
		local kind = tvb(at, 1):uint()
		local r = CONTROL_RECORDS[kind]
		if r then
			local value, fault, shown = show_record(item, tvb, at, value_len, r, values[kind])
			bad, values[kind] = bad or fault ~= nil, value or values[kind] or true
			if kind == RECORD_CHECK and value and value ~= records_check(tvb, first, at) then
				shown:add_proto_expert_info(E.record, "Check does not match")
				bad = true
			end
		else
			item:add(F["control.unknown"], tvb(at, value_len + 2))
				:add_proto_expert_info(E.unknown_record)
		end
		at = at + 2 + value_len
	end
	return values, at, bad
end

local function dissect_control(tvb, first, tree)
	local item = tree:add(F.control, tvb(first))
	local values, at, bad = show_records(item, tvb, first)
	local name = CONTROL_MESSAGES[values[RECORD_TYPE]] or "link control"
	if bad then
		return name, true
	end
	local fault = set_fault(values) or padding_fault(tvb, first, at, values[RECORD_PADDED])
	if fault then
		item:add_proto_expert_info(E.record, fault)
	end
	return name, fault ~= nil
end

-- Frames. The order of the checks is that of doc/wire.md.

local function header_fault(h, len)
	if h.version ~= 1 then
		return "version"
	elseif h.kind > 1 then
		return "kind"
	elseif h.flags > 2 then
		return "flags"
	elseif h.computed ~= h.check then
		return "header_check"
	elseif h.kind == 1 and h.count ~= 0 or h.kind == 0 and (h.count < 1 or h.count > MAX_FLITS) then
		return "count"
	elseif h.vc > 7 then
		return "vc"
	elseif h.spid > 0xFFF or h.dpid > 0xFFF or
			h.mode == 0 and (h.spid ~= 0xFFF or h.dpid ~= 0xFFF) then
		return "id"
	elseif h.kind == 0 and len ~= HEADER + FLIT * h.count then
		return "length"
	end
end

local function header_read(tvb)
	local bytes = { byte(tvb:raw(0, HEADER), 1, HEADER) }
	return { version = floor(bytes[1] / 16), kind = bytes[1] % 16, flags = bytes[2],
		mode = bytes[2] % 2, form = floor(bytes[2] / 2), count = bytes[3], vc = bytes[4], spid = tvb(4, 2):uint(),
		dpid = tvb(6, 2):uint(), session = tvb(8, 4):uint(), clock = tvb(12, 4):uint(),
		check = tvb(16, 2):uint(), computed = t10dif(bytes, 16) }
end

local function header_show(tree, tvb, h)
	tree:add(F.version, tvb(0, 1), h.version)
	tree:add(F.kind, tvb(0, 1), h.kind)
	tree:add(F.flags, tvb(1, 1), h.flags)
	tree:add(F.mode, tvb(1, 1), h.mode)
	if h.mode == 0 then
		tree:add(F.form, tvb(1, 1), h.form)
	end
	tree:add(F.count, tvb(2, 1), h.count)
	tree:add(F.vc, tvb(3, 1), h.vc)
	tree:add(F.spid, tvb(4, 2), h.spid)
	tree:add(F.dpid, tvb(6, 2), h.dpid)
	tree:add(F.session, tvb(8, 4), h.session)
	tree:add(F.clock, tvb(12, 4), h.clock)
	local item = tree:add(F.check, tvb(16, 2), h.check)
	if h.computed ~= h.check then
		item:append_text(format(" (should be 0x%04x)", h.computed))
		item:add_proto_expert_info(E.header_check)
	end
end

local function refuse(tree, tvb, reason)
	local item = tree:add(F.drop, tvb(0), reason)
	item:set_generated()
	item:add_proto_expert_info(E.refused, "Refused: " .. reason)
	return "refused: " .. reason
end

local function dissect_frame(tvb, pinfo, tree)
	if tvb:reported_len() < HEADER then
		return refuse(tree, tvb, "runt")
	elseif tvb:len() < tvb:reported_len() then
		return refuse(tree, tvb, "caplen")
	end
	local h = header_read(tvb)
	header_show(tree, tvb, h)
	local fault = header_fault(h, tvb:len())
	if fault then
		return refuse(tree, tvb, fault)
	end
	local info = h.mode == 1 and format("rxl %03x -> %03x VC %d", h.spid, h.dpid, h.vc) or "cxl"
	if h.kind == 0 then
		return info .. dissect_flits(tvb, HEADER, h.count, pinfo, tree, h)
	end
	local name, bad = dissect_control(tvb, HEADER, tree)
	if bad then
		refuse(tree, tvb, "bad_control")
	end
	return info .. " " .. name
end

function weft.dissector(tvb, pinfo, tree)
	local item = tree:add(weft, tvb(0))
	pinfo.cols.protocol = "WEFT"
	pinfo.cols.info = dissect_frame(tvb, pinfo, item)
	return tvb:len()
end

function weft_raw.dissector(tvb, pinfo, tree)
	local item = tree:add(weft, tvb(0))
	local len = tvb:len()
	pinfo.cols.protocol = "WEFT"
	if len < tvb:reported_len() then
		pinfo.cols.info = refuse(item, tvb, "caplen")
	elseif len == 0 or len % FLIT ~= 0 or len > FLIT * MAX_FLITS then
		pinfo.cols.info = refuse(item, tvb, "raw_length")
	else
		local h = { mode = weft.prefs.raw_mode, form = weft.prefs.cxl_form, vc = 0, spid = weft.prefs.raw_spid % 4096,
			dpid = weft.prefs.raw_dpid % 4096 }
		pinfo.cols.info = "raw" .. dissect_flits(tvb, 0, len / FLIT, pinfo, item, h)
	end
	return len
end

DissectorTable.get("ethertype"):add(0x88B5, weft)
DissectorTable.get("wtap_encap"):add(wtap.USER0, weft_raw)
