# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Payloads of CCI commands as fabric.md 4.6 prints them.

A layout is a line of fields "OFFSET:name[bytes]", offsets in hex, one byte if no number stands
there, "r" reserved, at its end "(bytes)" where the specification gives the sum. Lists:

    name[n*2]       as many 2-byte numbers as field n says
    name[n*entry]   as many structures ENTRIES["entry"] as field n says
    name[n*]        as many bytes as field n says
    name[*20 tag]   to the end of the payload (here of 20-byte structures); name[*]: of bytes

"+name[4]" stands behind a list. None is no payload. The offsets are redundant on purpose: a field
that was left out or has the wrong width does not add up, and nothing of this module loads.
"""

LPI = ("0:port 1:far_port 2:pid_type[2] 4:id[16] 14:vc 15:uio_vc 16:prim_uuid[16] 26:sec_uuid[16] "
       "(54)")

ENTRIES = {
    "lpi": LPI,
    "target": "0:id[2] 2:type 3:inst 4:vcs 5:port 6:pid[2] (8)",
    "segment": "0:flags 1:intlv 2:gran 3:r 4:dpid_ix[2] 6:r[2] (8)",
    "rgt": "0:ports[8] 8:cnt 9:mode A:r[2] (12)",
    "rerouter": "0:pid_en[2] 2:seg 3:bus 4:devfn (5)",
    "lpi_vdm": "0:port 1:r 2:pid_type[2] 4:id[16] 14:vc 15:uio_vc 16:prim_uuid[16] "
               "26:sec_uuid[16] 36:r[10] (64)",
    "assign": "0:pid[2] 2:target[2] 4:inst (5)",
    "table": "0:type 1:index[2] 3:ports[32] 23:r[4] (39)",
    "gae_vppb": "0:nseg[2] 2:r[2] (4)",
    "region": "0:base[8] 8:decode_len[8] 10:len[8] 18:blk[8] 20:flags 21:idx 22:r[2] 24:san "
              "25:r[3] (40)",
    "extent": "0:dpa[8] 8:len[8] 10:tag[16] 20:seq[2] 22:r[6] (40)",
    "gdt": "0:idx 1:v 2:coh 3:r 4:hpa_base[8] C:dpa_base[8] 14:dpa_len[8] 1C:intlv 1D:gran 1E:way "
           "1F:r (32)",
    "tag": "0:tag[16] 10:flags 11:r[3] (20)",
    "sat": "0:rpid[2] 2:vec[4] (6)",
    "log": "0:uuid[16] 10:size[4] (20)",
    "port": "0:port 1:state 2:mode 3:r 4:type 5:modes 6:maxw 7:negw 8:speeds 9:maxs A:curs B:ltssm "
            "C:lane D:flags[2] F:ld (16)",
    "record": "0:uuid[16] 10:length 11:flags[3] 14:handle[2] 16:related[2] 18:ts[8] "
              "20:maintenance[2] 22:ld[2] 24:head 25:r[11] 30:data[80] (128)",
}

# Requests and answers that several commands have.
TABLE_GET = "0:vppb 1:r 2:n[2] 4:start[2] (6)"
VECTOR_GET = "0:start[4] 4:n[4] (8)"
VECTOR_OF_VCS = "0:vcs 1:r[3] 4:start[4] 8:n[4] (12)"
VECTOR = "0:n[4] 4:data[n*]"
GAE = "0:caps[2] 2:threads[2] 4:avail[2] 6:vppb 7:n 8:vppbs[n*gae_vppb]"
DRT_GET = "0:drt 1:r 2:n[2] 4:start[2] (6)"
RGT_GET = "0:rgt 1:r 2:n[2] 4:start[2] (6)"
EXTENTS = "0:grp[2] 2:r[2] 4:start[4] 8:n[4] C:total[4] 10:gen[4] 14:r[4] 18:extent[n*extent]"
DC_REQUEST = "4:len[8] C:tag[16] 1C:n[4] 20:max_rsp[4] 24:extent[n*extent]"
QOS = "0:ctl 1:mod 2:sev 3:bp 4:basis[2] 6:ci (7)"
QOS_LIMITS = "0:n[2] 2:start_rpid[2] 4:frac[n*1]"
TUNNEL = "0:len[2] 2:r[2] 4:msg[len*]"
PERFORMANCE = "8:lat_unit[8] 10:lat[2] 12:bw_unit[8] 1A:bw[2] (28)"

# opcode: (name, request, response)
COMMANDS = {
    0x0001: ("Identify", None,
             "0:vid[2] 2:did[2] 4:svid[2] 6:ssid[2] 8:serial[8] 10:maxmsg 11:comp (18)"),
    0x0002: ("Background Operation Status", None, "0:st 1:r 2:op[2] 4:rc[2] 6:ext[2] (8)"),
    0x0003: ("Get Response Message Limit", None, "0:n (1)"),
    0x0004: ("Set Response Message Limit", "0:n (1)", "0:n (1)"),
    0x0005: ("Request Abort Background Operation", None, None),
    0x0100: ("Get Event Records", "0:log (1)",
             "0:flags 1:r 2:ovf[2] 4:first_ts[8] C:last_ts[8] 14:n[2] 16:r[10] "
             "20:records[n*record]"),
    0x0101: ("Clear Event Records", "0:log 1:flags 2:n 3:r[3] 6:handles[n*2]", None),
    0x0104: ("Get MCTP Event Interrupt Policy", None, "0:policy[2] (2)"),
    0x0105: ("Set MCTP Event Interrupt Policy", "0:policy[2] (2)", "0:policy[2] (2)"),
    0x0106: ("Event Notification", "0:what[2] (2)", None),
    0x0107: ("Enhanced Event Notification",
             "0:pid[2] 2:mask[2] 4:type 5:trig 6:rpid[2] 8:dpa[8] 10:hpa[8] 18:grp[2] 1A:memop "
             "1B:r 1C:flags[2] 1E:handle[2] 20:ts[8] (40)", None),
    0x0108: ("Enhanced Event Notification, GAM",
             "0:pid[2] 2:type 3:memop 4:flags[2] 6:rpid[2] 8:dpa[8] 10:hpa[8] 18:ts[8] (32)",
             None),
    0x0109: ("Get GAM Buffer", None, "0:reg[8] (8)"),
    0x010A: ("Set GAM Buffer", "0:reg[8] (8)", None),
    0x0300: ("Get Timestamp", None, "0:ts[8] (8)"),
    0x0301: ("Set Timestamp", "0:ts[8] (8)", None),
    0x0400: ("Get Supported Logs", None, "0:n[2] 2:r[6] 8:logs[n*log]"),
    0x0401: ("Get Log", "0:uuid[16] 10:off[4] 14:len[4] (24)", "0:data[*]"),
    0x0700: ("Identify PBR Component", None,
             "0:pid[2] 2:prim_fm_pid[2] 4:prim_uuid[16] 14:sec_fm_pid[2] 16:sec_uuid[16] (38)"),
    0x0701: ("Claim Ownership", "0:op 1:fm_pid[2] 3:fm_uuid[16] 13:new_pid[2] (21)",
             "0:prim_fm_pid[2] 2:prim_uuid[16] 12:sec_fm_pid[2] 14:sec_uuid[16] (36)"),
    0x0702: ("Read CDAT", "0:pid[2] 2:r[2] 4:start[8] C:n[8] (20)",
             "0:total[8] 8:n[8] 10:data[n*]"),
    0x4900: ("Identify GFD", None,
             "0:ndmp 1:nregion 2:ngrp[2] 4:add_pol[2] 6:qos 7:r 8:rel_pol[2] A:san_mask B:r "
             "C:total[8] 14:region_blk[64] 54:dmp_blk[32] 74:volatile[8] 7C:persistent[8] (132)"),
    0x4901: ("Get GFD Status", None,
             "0:st 1:mode 2:maxw 3:negw 4:speeds 5:maxs 6:curs 7:ltssm 8:lane 9:flags[2] (11)"),
    0x4902: ("Get GFD DC Region Configuration", "0:r[2] 2:n 3:start (4)",
             "0:r[2] 2:avail 3:n 4:region[n*region] +ext_total[4] +ext_avail[4] +tag_total[4] "
             "+tag_avail[4]"),
    0x4903: ("Set GFD DC Region Configuration",
             "0:id 1:r[3] 4:blk[8] C:san D:r[3] 10:base[8] 18:decode_len[8] 20:len[8] (40)", None),
    0x4904: ("Get GFD DC Region Extent Lists", "0:grp[2] 2:r[2] 4:n[4] 8:start[4] (12)", EXTENTS),
    0x4905: ("Get GFD DMP Configuration", "0:r[2] 2:n 3:start (4)",
             "0:r[2] 2:avail 3:n 4:dmp[n*region]"),
    0x4906: ("Set GFD DMP Configuration", "0:r[2] 2:n 3:start 4:dmp[n*region]", None),
    0x4907: ("GFD Dynamic Capacity Add", "0:grp[2] 2:policy 3:region " + DC_REQUEST, EXTENTS),
    0x4908: ("GFD Dynamic Capacity Release", "0:grp[2] 2:flags 3:r " + DC_REQUEST, EXTENTS),
    0x4909: ("GFD DC Add Reference", "0:tag[16] (16)", None),
    0x490A: ("GFD DC Remove Reference", "0:tag[16] (16)", None),
    0x490B: ("GFD DC List Tags", "0:start[4] 4:max[4] (8)",
             "0:gen[4] 4:total[4] 8:r[4] C:tags[*20 tag]"),
    0x490C: ("Get GFD SAT Entry", "0:r[2] 2:n[2] 4:start_rpid[2] (6)",
             "0:r[2] 2:n[2] 4:start_rpid[2] 6:vec[n*4]"),
    0x490D: ("Set GFD SAT Entry", "0:n[2] 2:rows[n*sat]", None),
    0x490E: ("Get GFD QoS Control", None, QOS),
    0x490F: ("Set GFD QoS Control", QOS, QOS),
    0x4910: ("Get GFD QoS Status", None, "0:avg (1)"),
    0x4911: ("Get GFD QoS BW Limit", "0:n[2] 2:start_rpid[2] (4)", QOS_LIMITS),
    0x4912: ("Set GFD QoS BW Limit", QOS_LIMITS, QOS_LIMITS),
    0x4913: ("Get GDT Configuration", "0:rpid[2] 2:r[2] 4:n 5:start (6)",
             "0:rpid[2] 2:r[2] 4:start 5:n 6:total 7:r 8:gdt[n*gdt]"),
    0x4914: ("Set GDT Configuration", "0:rpid[2] 2:r[2] 4:n 5:start 6:gdt[n*gdt]", None),
    0x5100: ("Identify Switch Device", None,
             "0:ingress 1:r 2:nports 3:nvcs 4:ports[32] 24:vcs[32] 44:vppbs[2] 46:bound[2] 48:hdm "
             "(73)"),
    0x5101: ("Get Physical Port State", "0:n 1:ports[n*1]", "0:n 1:r[3] 4:block[n*port]"),
    0x5102: ("Physical Port Control", "0:port 1:op (2)", None),
    0x5103: ("Send PPB CXL.io Configuration Request", "0:port 1:reg[3] 4:data[4] (8)",
             "0:data[4] (4)"),
    0x5200: ("Get Virtual CXL Switch Info", "0:start 1:limit 2:n 3:vcs[n*1]",
             "0:n 1:r[3] 4:block[*]"),
    0x5201: ("Bind vPPB", "0:vcs 1:vppb 2:port 3:r 4:ld[2] (6)", None),
    0x5202: ("Unbind vPPB", "0:vcs 1:vppb 2:how (3)", None),
    0x5203: ("Generate AER Event", "0:vcs 1:vppb 2:r[2] 4:err[4] 8:hdr[32] (40)", None),
    0x5300: ("Tunnel Management Command", "0:id 1:ttype 2:size[2] 4:msg[size*]", TUNNEL),
    0x5700: ("Identify PBR Switch", None, "0:gae_map[8] 8:ndrt 9:nrgt A:r B:modes (12)"),
    0x5701: ("Fabric Crawl Out", "0:target[2] 2:ttype 3:r 4:size[2] 6:msg[size*]", TUNNEL),
    0x5702: ("Get PBR Link Partner Info", "0:n 1:ports[n*1]", "0:n 1:r[3] 4:block[n*lpi]"),
    0x5703: ("Get PID Target List", "0:start[2] 2:n[2] (4)", "0:total[2] 2:n[2] 4:entry[n*target]"),
    0x5704: ("Configure PID Assignment", "0:op 1:r 2:n[2] 4:entry[n*assign]", None),
    0x5705: ("Get PID Binding", "0:vcs 1:vppb (2)",
             "0:pid[2] 2:r[2] 4:lat_unit[8] C:lat[2] E:bw_unit[8] 16:bw[2] (24)"),
    0x5706: ("Configure PID Binding", "0:op 1:vcs 2:vppb 3:r 4:pid[2] 6:r[2] " + PERFORMANCE, None),
    0x5707: ("Get Table Descriptors", "0:start[2] 2:n[2] (4)",
             "0:start[2] 2:n[2] 4:entry[n*table]"),
    0x5708: ("Get DRT", DRT_GET, "0:drt 1:r 2:n[2] 4:start[2] 6:rgt 7:r 8:entry[n*2]"),
    0x5709: ("Set DRT", "0:drt 1:r 2:n[2] 4:start[2] 6:entry[n*2]", None),
    0x570A: ("Get RGT", RGT_GET, "0:rgt 1:r 2:n[2] 4:start[2] 6:entry[n*rgt]"),
    0x570B: ("Set RGT", "0:rgt 1:r 2:n[2] 4:start[2] 6:entry[n*rgt]", None),
    0x570C: ("Get LDST/IDT Capabilities", "0:vppb (1)",
             "0:vppb 1:nseg[2] 3:lsegsz 4:nidt[2] 6:nrr[2] 8:pid[2] A:base[8] 12:limit[8] (26)"),
    0x570D: ("Set LDST/IDT Configuration", "0:vppb 1:lsegsz 2:base[8] A:limit[8] (18)", None),
    0x570E: ("Get LDST Segment Entries", TABLE_GET, "0:n[2] 2:start[2] 4:entry[n*segment]"),
    0x570F: ("Set LDST Segment Entries", "0:vppb 1:r 2:n[2] 4:start[2] 6:entry[n*segment]", None),
    0x5710: ("Get LDST IDT DPID Entries", TABLE_GET, "0:n[2] 2:start[2] 4:pid[n*2]"),
    0x5711: ("Set LDST IDT DPID Entries", "0:vppb 1:r 2:n[2] 4:start[2] 6:r[2] 8:pid[n*2]", None),
    0x5712: ("Get Completer-ID Re-Router Entries", TABLE_GET,
             "0:n[2] 2:start[2] 4:entry[n*rerouter]"),
    0x5713: ("Set Completer-ID Re-Router Entries",
             "0:vppb 1:r 2:n[2] 4:start[2] 6:entry[n*rerouter]", None),
    0x5714: ("Get LDST Access Vector", VECTOR_GET, VECTOR),
    0x5715: ("Get VCS LDST Access Vector", VECTOR_OF_VCS, VECTOR),
    0x5716: ("Configure VCS LDST Access", "0:vcs 1:r 2:pid_op[2] (4)", None),
    0x5800: ("Identify GAE", "0:vppb 1:n (2)", GAE),
    0x5801: ("Get PID Interrupt Vector", "0:start[4] 4:n[4] 8:clear (9)", VECTOR),
    0x5802: ("Get PID Access Vectors", VECTOR_GET, VECTOR),
    0x5803: ("Get FAST/IDT Capabilities", "0:vppb 1:r[3] (4)",
             "0:vppb 1:nseg[2] 3:fsegsz 4:nidt[2] 6:npid 7:vp 8:r[2] A:base[8] 12:limit[8] "
             "1A:pid[npid*2]"),
    0x5804: ("Set FAST/IDT Configuration", "0:vppb 1:fsegsz 2:vp 3:r 4:base[8] C:limit[8] (20)",
             None),
    0x5805: ("Get FAST Segment Entries", TABLE_GET, "0:n[2] 2:start[2] 4:entry[n*segment]"),
    0x5806: ("Set FAST Segment Entries", "0:vppb 1:r 2:n[2] 4:start[2] 6:entry[n*segment]", None),
    0x5807: ("Get IDT DPID Entries", TABLE_GET, "0:n[2] 2:start[2] 4:pid[n*2]"),
    0x5808: ("Set IDT DPID Entries", "0:vppb 1:r 2:n[2] 4:start[2] 6:r[2] 8:pid[n*2]", None),
    0x5809: ("Proxy GFD Management Command",
             "0:pid[2] 2:req_addr[8] A:req_size[2] C:rsp_addr[8] 14:rsp_max[2] (22)",
             "0:seq 1:avail[2] (3)"),
    0x580A: ("Get Proxy Thread Status", "0:pid_seq[2] (2)", "0:busy 1:r 2:avail[2] (4)"),
    0x580B: ("Cancel Proxy Thread", "0:pid_seq[2] (2)", "0:avail[2] (2)"),
    0x5900: ("Identify VCS GAE", "0:vcs 1:vppb 2:n (3)", GAE),
    0x5901: ("Get VCS PID Access Vectors", VECTOR_OF_VCS, VECTOR),
    0x5902: ("Configure VCS PID Access",
             "0:vcs 1:r 2:pid_op[2] 4:lat_unit[8] C:lat[2] E:bw_unit[8] 16:bw[2] (24)", None),
    0x5903: ("Get VendPrefixL0 State", "0:vcs (1)", "0:vp (1)"),
    0x5904: ("Set VendPrefixL0 State", "0:vcs 1:r 2:vp (3)", None),
}
