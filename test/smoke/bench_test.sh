#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-bench: the stages by name, every result checked, JSON as promised, wrong options refused.
. "$(dirname "$0")/lib.sh"

stages="fec-encode fec-check crc crc-lopt isn rx-check rx-check-two-passes rx-check-crc-first tx-protect
t10dif crc32 crc32c crc64-xp10 ide-seal-containment ide-open-containment ide-seal-skid ide-open-skid
ide-seal-containment-nopcrc ide-open-containment-nopcrc ide-seal-skid-nopcrc ide-open-skid-nopcrc
gcm-direct-464 gcm-direct-464-open gcm-direct-7616 gcm-direct-7616-open atc atc-16k atc-256k
atc-streams atc-invalidate drt hpa-port gfam gfam-full pack-reads pack-data
deliver-reads deliver-data checker gfd gfd-far host fabric-read fabric-write route route-wait ring-hop rx-pipeline
rx-pipeline-no-route rx-pipeline-crc-first rx-pipeline-ide rx-workers rx-workers-ide tx-pipeline tx-pipeline-ide switch-rxl"

same "stages of --list" "$(echo $stages)" "$(echo $("$app/weft-bench" --list | cut -d' ' -f1))"

# What is measured is what runs: each stage that a benchmark times stands in a layout of weftd.
"$app/weft-bench" --list --json "$work/list.json"
same "listed" "$(echo $stages)" "$(json "$work/list.json" '" ".join(b["stage"] for b in o["benchmarks"])')"
same "stages that are timed and not live" "[]" "$(json "$work/list.json" '[s["stage"] for s in o["stages"] if s["timed"] and not s["live"]]')"
same "stages of pipelines that are not timed by that" "[]" "$(json "$work/list.json" \
	'[s for b in o["benchmarks"] for s in b["stages"] if s not in {t["stage"] for t in o["stages"] if t["timed"]}]')"
same "timed stages" True "$(json "$work/list.json" 'sum(s["timed"] for s in o["stages"]) >= 13')"

"$app/weft-bench" --seconds 0.01 --frame-flits 1,8,35 --json "$work/b.json" >"$work/text"
same "stages measured" "$(echo $stages | tr ' ' '\n' | sort | tr '\n' ' ')" \
	"$(json "$work/b.json" '" ".join(sorted({r["stage"] for r in o["results"]})) + " "')"
same "unchecked results" 0 "$(json "$work/b.json" 'sum(r["checked"] is not True for r in o["results"])')"
same "keys" True "$(json "$work/b.json" 'all({"stage","kernel","layout","frame_flits","mflits_per_s",
"cycles_per_flit","cycles_min","cycles_max","cycles_mean","timed_flits","cpu_share","checked","counted_by",
"instructions_per_flit","core_cycles_per_flit"} == r.keys() for r in o["results"]) and
{"cpu","tsc_hz","version","results"} == o.keys()')"
same "rates that agree with cycles" True "$(json "$work/b.json" 'all(abs(r["mflits_per_s"] *
r["cycles_per_flit"] * 1e6 / o["tsc_hz"] - 1) < 1e-6 for r in o["results"])')"
same "medians and means between least and most" True "$(json "$work/b.json" 'all(r["cycles_min"] <=
r[k] <= r["cycles_max"] for r in o["results"] for k in ("cycles_per_flit", "cycles_mean"))')"
same "pipelines on two lcores" 27 "$(json "$work/b.json" 'sum(r["layout"] == "ring" for r in o["results"])')"
same "lengths of the sweep" "[1, 8, 35]" "$(json "$work/b.json" 'sorted({r["frame_flits"] for r in o["results"]})')"
same "pipelines without all lengths" 0 "$(json "$work/b.json" 'sum({r["frame_flits"] for r in o["results"]
if r["stage"] == s} != {1, 8, 35} for s in ("ring-hop", "rx-pipeline", "tx-pipeline-ide", "switch-rxl"))')"
same "kernels measured once" 1 "$(json "$work/b.json" 'sum(r["stage"] == "crc" for r in o["results"])')"
same "counts that nobody asked for" 0 "$(json "$work/b.json" 'sum(r[k] is not None for r in o["results"]
for k in ("counted_by", "instructions_per_flit", "core_cycles_per_flit"))')"

# Counts: a number on x86 whatever the kernel allows, but never for two lcores; runs that agree. Each instruction
# may be a signal, so in builds after the first one stage is enough.
counted=crc,rx-pipeline rows=2
[ -z "${WEFT_TEST_AGAIN:-}" ] || counted=crc rows=1
"$app/weft-bench" --iterations 5 --count --frame-flits 1 --stage $counted --json "$work/n.json" >"$work/text"
"$app/weft-bench" --iterations 10 --count --frame-flits 1 --stage $counted --json "$work/m.json" >"$work/text"
same "counts where they are possible" True "$(json "$work/n.json" 'all(
r["instructions_per_flit"] > 1 if r["layout"] == "rtc" and r["counted_by"] else
r["instructions_per_flit"] is None and r["core_cycles_per_flit"] is None for r in o["results"])')"
[ "$(uname -m)" != x86_64 ] || same "rows counted" $rows \
	"$(json "$work/n.json" 'sum(r["counted_by"] in ("counters", "steps") for r in o["results"])')"
same "flits of 5 runs" 320 "$(json "$work/n.json" 'o["results"][0]["timed_flits"]')"
same "flits of 5 and 10 runs" True "$(json "$work/n.json" "[2 * r['timed_flits'] for r in o['results']] ==
[r['timed_flits'] for r in load('$work/m.json')['results']]")"
same "counts that are the same every time" True "$(json "$work/n.json" "all(a['counted_by'] is None or
abs(a['instructions_per_flit'] / b['instructions_per_flit'] - 1) < 0.02 for a, b in
zip(o['results'], load('$work/m.json')['results']))")"

"$app/weft-bench" --seconds 0.01 --stage crc,fec-check --stage isn --kernel scalar --json - >"$work/c.json"
same "stages asked for" "fec-check crc isn" "$(json "$work/c.json" '" ".join(r["stage"] for r in o["results"])')"
WEFT_CPU=scalar "$app/weft-bench" --seconds 0.01 --stage ide-open-skid --json - >"$work/d.json"
same "IDE kernel without features" sse "$(json "$work/d.json" 'o["results"][0]["kernel"]')"
# What ran, where a kernel of one pass stands beside the library's path; on a CPU without AVX2 there is none.
WEFT_CPU=avx2,pclmul "$app/weft-bench" --seconds 0.01 --stage ide-seal-skid,gcm-direct-464 --json - >"$work/d.json"
case $(json "$work/d.json" '" ".join(r["stage"] + "=" + r["kernel"] for r in o["results"])') in
'ide-seal-skid=aesni gcm-direct-464=avx2' | 'ide-seal-skid=sse gcm-direct-464=sse') ;;
*) die "kernels of IDE: $(cat "$work/d.json")" ;;
esac
path=$(json "$work/d.json" 'o["results"][1]["kernel"]')
WEFT_CPU=avx2,pclmul "$app/weft-bench" --seconds 0.01 --stage ide-seal-skid --kernel "$path" --json - >"$work/e.json"
same "IDE by the library's path" "$(json "$work/d.json" 'o["results"][0]["kernel"]')" "$(json "$work/e.json" 'o["results"][0]["kernel"]')"
WEFT_CPU=scalar "$app/weft-bench" --seconds 0.01 --stage t10dif,crc32,crc32c,crc64-xp10 --json - >"$work/e.json"
same "kernels of the data CRCs" "isa-l isa-l isa-l scalar" "$(json "$work/e.json" '" ".join(r["kernel"] for r in o["results"])')"

# Signatures: only when asked for, every type, block and way, and with the kernel named.
same "rows of --sig" 105 "$("$app/weft-bench" --sig --list | wc -l)"
for kernel in avx512-vpclmul scalar; do
	"$app/weft-bench" --seconds 0.01 --sig --kernel $kernel --json "$work/s.json" >"$work/text" 2>"$work/err" || {
		grep -q 'no stage has a kernel of that name here' "$work/err" && continue # not on this CPU
		die "--sig --kernel $kernel: $(cat "$work/err")"
	}
	same "unchecked results of --sig" 0 "$(json "$work/s.json" 'sum(r["checked"] is not True for r in o["results"])')"
	same "results of --sig" True "$(json "$work/s.json" 'sum(r["stage"].startswith("sig-c") or
r["stage"].startswith("sig-t") for r in o["results"]) == 100')"
done

# Over a wire: all rates of a ring, where nothing is lost; a memif of two names; a device that loses all.
"$app/weft-bench" --live ring --seconds 0.05 --frame-flits 1,35 --json "$work/l.json" >"$work/text"
same "lengths on a wire" "[(1, 288), (35, 8992)]" "$(json "$work/l.json" '[(r["frame_flits"], r["frame_bytes"]) for r in o["live"]]')"
same "a ring loses nothing" True "$(json "$work/l.json" 'all(t["received"] == t["sent"] > 0 and t["changed"] == 0
for r in o["live"] for t in r["trials"]) and all(r[k]["loss"] == 0 and r["ndr"] == r["pdr"] for r in o["live"] for k in ("mrr", "ndr"))')"
same "rates of a wire that agree" True "$(json "$work/l.json" 'all(abs(r[k]["frames_per_s"] * r["frame_flits"] / r[k]["mflits_per_s"] / 1e6 - 1) < 1e-6
and abs(r[k]["frames_per_s"] * r["frame_bytes"] * 8 / r[k]["gbps"] / 1e9 - 1) < 1e-6 for r in o["live"] for k in ("mrr", "ndr", "pdr"))')"
same "text" "6 2 2 2" "$(grep -cE '0\.0000 %$' "$work/text") $(for k in MRR NDR PDR; do grep -c " $k " "$work/text"; done | xargs)"
"$app/weft-bench" --live "socket=$work/s,role=server,socket=$work/s" --seconds 0.05 --json "$work/l.json" >"$work/text"
same "by memif" True "$(json "$work/l.json" 'o["live"][0]["mrr"]["frames_per_s"] > 0 and len(o["ports"]) == 2')"
refuses "frames that port a took none came to port b" \
	"$app/weft-bench" --live vdev=net_null0 --live vdev=net_null1,size=64 --seconds 0.01 --json "$work/l.json"
same "nothing found" "None None 1.0" "$(json "$work/l.json" '" ".join(str(v) for v in (o["live"][0]["ndr"], o["live"][0]["pdr"], o["live"][0]["mrr"]["loss"]))')"
misused '--live: expected two ports with a comma between them, or ring, got one' "$app/weft-bench" --live veth0
misused '--live: expected two ports, got one more, "c"' "$app/weft-bench" --live a,b,c
misused '--live: expected no port beside ring' "$app/weft-bench" --live ring --live a
refuses 'port a: interface nonesuch: no such interface here' "$app/weft-bench" --live nonesuch,b
warns '--stage, --kernel, --iterations: no effect with --live' \
	"$app/weft-bench" --live ring --seconds 0.01 --stage crc --kernel scalar --iterations 2

misused '--stage: expected a list' "$app/weft-bench" --stage ''
misused '--stage: expected a list' "$app/weft-bench" --stage crc,
misused '--stage: no stage is called "nonesuch"' "$app/weft-bench" --stage nonesuch
# All that there are have room, and so they have twice.
all=$(for sig in "" --sig; do "$app/weft-bench" --list $sig | cut -d' ' -f1; done | paste -sd,)
misused '--stage: no stage is called "nonesuch"' "$app/weft-bench" --stage "$all" --stage "$all,nonesuch"
misused '--kernel nonesuch: no stage has a kernel of that name' "$app/weft-bench" --kernel nonesuch
misused '--kernel nonesuch: stage crc has no such kernel' "$app/weft-bench" --stage crc --kernel nonesuch
misused '--layout: expected one of rtc, ring' "$app/weft-bench" --layout both
misused '--frame-flits: expected a number of 1 to 64' "$app/weft-bench" --frame-flits 65
misused '--frame-flits: expected a number of 1 to 64' "$app/weft-bench" --frame-flits 1,x
misused '--frame-flits: expected a list' "$app/weft-bench" --frame-flits 1,,2
misused '--frame-flits: expected a list' "$app/weft-bench" --frame-flits ,
misused '--frame-flits: more than 16 numbers' "$app/weft-bench" --frame-flits "$(seq -s, 17)"
misused '--iterations: expected a number of 1 to 100000' "$app/weft-bench" --iterations 0
misused '--seconds: expected 0.01 to 60' "$app/weft-bench" --seconds 0
refuses 'do not have this layout' "$app/weft-bench" --stage crc --layout ring
misused 'WEFT_CPU=sse9: expected' env WEFT_CPU=sse9 "$app/weft-bench" --stage crc
misused 'unrecognized option' "$app/weft-bench" --nonesuch
misused 'expected options only' "$app/weft-bench" crc
warns 'weft-bench: --stage, --seconds: no effect with --list' "$app/weft-bench" --list --stage crc --seconds 1
warns 'EAL arguments: no effect with --list' "$app/weft-bench" --list -- -l 0
warns '--sig: no effect with --stage' "$app/weft-bench" --sig --stage crc --seconds 0.01
warns '--seconds: no effect with --iterations' "$app/weft-bench" --stage crc --seconds 0.01 --iterations 1
refuses '--json /nonesuch/f: No such file' "$app/weft-bench" --stage crc --seconds 0.01 --json /nonesuch/f
echo "weft-bench does what it says"
