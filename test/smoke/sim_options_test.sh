#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-sim: every option that chooses what happens in a run, topologies of files, captures, refusals.
. "$(dirname "$0")/sim_lib.sh"

# Parts of a run; few fabrics have all of their load.
part=$(few 2 20) drawn=$(few 5 20) wires=$(few 5 10)
sim --seed 17 --stop-at 1000 --json -
mv "$work/text" "$work/stop.json"
same "steps" 1000 "$(j stop 'o["steps"]')"
sim --seed 5 --seeds $part --faults 0 --json f.json
same "no faults" 0 "$(j f 'sum(n for k, n in o["faults"].items() if not k.startswith("wire_"))')"
sim --seed 5 --seeds $part --without node_crash --without storm --json w.json
same "left out" "0 0 True" "$(j w '"%d %d %s" % (o["faults"]["node_crash"], o["faults"]["storm"], o["faults"]["node_stall"] > 0)')"
sim --seed 5 --seeds $drawn --drawn always --json d.json || die "a drawn fabric fails: $(j d 'o["failures"]')"
same "fabrics with their load" True "$(j d 'all(o["domains"][k] > 1000 for k in ("uio", "ats", "transfer"))')"
same "programs that attach" True "$(j d 'o["domains"]["clients"] > 100')"
sim --seed 5 --seeds $part --drawn never --json d.json
same "fabrics without" "0 0 0 0" "$(j d '" ".join(str(o["domains"][k]) for k in ("uio", "ats", "transfer", "rights"))')"

# And again any
sim --seed 5 --seeds $part --calm --json calm.json
same "calm" "0 0" "$(j calm 'str(sum(o["faults"].values())) + " " + str(o["lost"])')"
sim --seed 3 --hops 2000 --json h.json
same "few hops" True "$(j h '2000 <= o["hops"] < 12000')"

# One bad wire for all links
sim --impair uncorrectable=0.05 --seeds $wires --hops 20000 --mode cxl --json i.json
same "wires that are bad" True "$(j i '30 < o["faults"]["wire_flits"] / o["faults"]["wire_uncorrectable"] * 2 < 50')"
sim --impair drop=0.1,delay_us=20@0.1,replay=0.1 --seeds $wires --hops 20000 --json i.json || die "--impair fails"
same "other injectors" 0 "$(j i 'o["faults"]["wire_touched"]')"
same "injectors" True "$(j i 'all(o["faults"]["wire_" + k] > 0 for k in ("dropped", "delayed", "replayed"))')"

# Experiments, where no other test has them
for name in $(few "rxl llr" ""); do
	sim --experiment $name --brief --seed 2 --threads 2 --json e.json || [ $? -eq 1 ] || die "--experiment $name fails"
	same "$name: rows" True "$(j e 'len(o["rows"]) > 50')"
done

# For so long, or until the user has enough: the totals come. Short seeds, so that some end on any machine.
status=0
sim_for() { (cd "$work" && timeout -k 20 -s INT 2 "$app/weft-sim" --hours 1 --hops 1000 --json int.json >text); }
sim_for || status=$?
same "interrupted" 124 "$status"
grep -q '^violations 0$' "$work/text" || die "no totals after SIGINT"
same "seeds until SIGINT" True "$(j int 'o["seeds"] > 0')"

cat >"$work/topology.yaml" <<'END'
fabric: file
nodes:
  - {name: h0, kind: host, pid: 0x101}
  - {name: h1, kind: host, pid: 0x102}
  - {name: s0, kind: switch, pid: 0x010}
  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}
links:
  - {a: h0, b: s0, driver: ring}
  - {a: h1, b: s0, driver: ring}
  - {a: s0, b: g0, driver: ring}
workloads:
  - {on: h0, kind: mem, seed: 1, lines: 64, requests: 500}
END
sim --topology topology.yaml --calm --json t.json
same "requests of the file, and the sweep" True "$(j t '500 <= o["requests"] <= 564')"
sed 's/kind: mem,/& rate: 100,/' "$work/topology.yaml" >"$work/rate.yaml"
sim --topology rate.yaml --calm --json t.json
same "100 a second for 400 ms, bursts of 64, and the sweep" True "$(j t '64 < o["requests"] <= 64 + 40 + 64')"
for retry in '' 'window: 8, selective: false'; do
	sed "1a defaults: {retry: {$retry}}" "$work/topology.yaml" >"$work/retry.yaml"
	for m in cxl rxl; do
		sim --mode $m --topology retry.yaml --seeds $(few 5 20) --hops 5000 --json r.json || die "retry {$retry} fails"
		same "$m: flits held with {$retry}" "$([ -z "$retry" ] && echo True || echo False)" \
			"$(j r 'o["retry"]["held"] > 0')"
	done
done
# All that a file may have: its own sources and signatures judge.
cat >"$work/all.yaml" <<'END'
fabric: all
segments: [{target: g0}, {target: g1, size: 1M}, {gim: h0}]
groups: [{name: x, ranges: [{gfd: g0, base: 0, size: 1M}, {gfd: g1, base: 0, size: 1M}]}]
nodes:
  - {name: h0, kind: host, pid: 0x101, gim: 64K, windows: [{base: 0, size: 64K, nodes: [d0]}], access: [x]}
  - {name: h1, kind: host, pid: 0x102, ats: {agent: a0, entries: 16}, access: [x]}
  - {name: a0, kind: host, pid: 0x103, access: [x], translations: [
      {host: h1, va: 0, pa: 0x10000002000, size: 64K, page: 4K, rights: rw}]}
  - {name: h2, kind: host, pid: 0x104, access: []}
  - {name: s0, kind: switch, pid: 0x010}
  - {name: s1, kind: switch, pid: 0x011}
  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
  - {name: g1, kind: gfd, pid: 0x201, memory: 1M}
  - {name: d0, kind: device, pid: 0x300}
links: [{a: h0, b: s0}, {a: h1, b: s0}, {a: a0, b: s1}, {a: h2, b: s1}, {a: s0, b: s1}, {a: g0, b: s1},
  {a: g1, b: s0}, {a: d0, b: s1}]
workloads:
  - {on: h0, kind: mem, seed: 1, lines: 64, requests: 300}
  - {on: h0, kind: uio, seed: 2, lines: 16, requests: 100}
  - {on: h1, kind: mem, seed: 3, lines: 64, requests: 300, outstanding: 32}
  - {on: h2, kind: mem, seed: 4, lines: 16, requests: 100}
  - {on: d0, kind: uio, seed: 5, lines: 16, requests: 100}
END
sed 's/^fabric: all/&\nmode: cxl/' "$work/all.yaml" >"$work/all_cxl.yaml"
for m in all all_cxl; do
	sim --topology $m.yaml --calm --seeds 3 --json t.json || die "$m: $(tail -n 3 "$work/text")"
	same "$m: requests of the files, and the sweeps" "0 True" "$(j t 'str(o["lost"]) + " " + str(o["requests"] >= 3 * 700)')"
	sim --topology $m.yaml --seeds 10 --hops 5000 --json t.json || die "$m: $(tail -n 3 "$work/text")"
	same "$m: faults" True "$(j t 'sum(o["faults"].values()) > 100')"
done
# Pages that move do so to the end: all requests have ended, and nothing becomes quiet.
sim --seed 21 --print-topology && mv "$work/text" "$work/moves.yaml"
grep -q 'kind: move' "$work/moves.yaml" || die "seed 21 draws no pages that move"
sim --topology moves.yaml --seed 2100 --hops 10000 || die "pages that move: $(tail -n 3 "$work/text")"
cp "$work/topology.yaml" "$work/transfer.yaml"
echo '  - {on: h1, kind: transfer, transfers: [{kind: write, gfd: g0, offset: 512K, bytes: 4K, wire: "crc32:512"},
  {kind: read, gfd: g0, offset: 512K, bytes: 4K, wire: "crc32:512"}]}' >>"$work/transfer.yaml"
for m in cxl rxl; do
	sim --topology transfer.yaml --mode $m --calm --json t.json || die "transfers, $m: $(tail -n 3 "$work/text")"
	same "$m: lines that transfers move, 4 KiB and signatures twice" True "$(j t 'o["messages"]["m2s_rwd"] > 64')"
done
refuses '--mode: expected that of all.yaml' env -C "$work" "$app/weft-sim" --topology all.yaml --mode cxl
# What the file says counts, if no option says otherwise.
sed 's/^fabric: file/&\nmode: cxl/' "$work/topology.yaml" >"$work/cxl.yaml"
for m in cxl topology; do
	sim --topology $m.yaml --calm --hops 3000 --json a.json
	[ $m = cxl ] || m=rxl
	sim --topology topology.yaml --mode $m --calm --hops 3000 --json b.json
	sim --topology cxl.yaml --mode $m --calm --hops 3000 --json c.json
	same "the file's mode: $m" "$(j b 'o["digest"]')" "$(j a 'o["digest"]')"
	same "--mode $m wins" "$(j b 'o["digest"]')" "$(j c 'o["digest"]')"
	j a 'o["digest"]' >>"$work/digests"
done
same "modes that differ" 2 "$(sort -u "$work/digests" | wc -l)"
refuses 'need rxl, but cxl.yaml says mode: cxl' env -C "$work" "$app/weft-sim" --topology cxl.yaml --impair drop=0.1
# file_says DEFAULTS MODE ISN ORDER FLITS OPTIONS...: the largest frame has FLITS; weft-replay reads all with OPTIONS.
file_says() {
	sed "s/^fabric: file/&\ndefaults: {$1}/" "$work/$2.yaml" >"$work/says.yaml"
	sim --topology says.yaml --calm --hops 3000 --json t.json --capture t.cap
	same "{$1}" "$2 $3 $4" "$(j t '"%s %s %s" % tuple(o["capture"][k] for k in ("mode", "isn", "crc_order"))')"
	same "{$1}: flits of the largest frame" "$5" "$(/usr/bin/python3 - "$work/t.cap" <<-'END'
		import struct, sys
		data, at, most = open(sys.argv[1], "rb").read(), 24, 0
		while at < len(data):
		    size = struct.unpack_from("<I", data, at + 8)[0]
		    at, most = at + 16 + size, max(most, size)
		print((most - 32) // 256)
	END
	)"
	"$app/weft-replay" --in "$work/t.cap" "${@:6}" --json "$work/read.json" >/dev/null
	same "{$1}: flits with a good CRC" "$(j t 'o["capture"]["flits"]') 0" "$(j read '"%(good)d %(bad)d" % o["crc"]')"
}
# One link, so that every flit is captured once.
for m in cxl rxl; do
	sed "/s0, kind/d; /name: h1/d; /a: h1/d; /a: s0/d; s/b: s0/b: g0/; s/^fabric: file/&\nmode: $m/" \
		"$work/topology.yaml" >"$work/$m.yaml"
done
file_says 'mtu: 9000' rxl pseudo r0 35
file_says 'mtu: 544, isn: xor' rxl xor r0 2 --isn xor
file_says 'mtu: 9000, flits_per_frame: 7, crc_order: r7' rxl pseudo r7 7 --crc-order r7
file_says 'mtu: 1500, crc_order: r7' cxl none r7 5 --mode cxl --crc-order r7
for m in cxl rxl; do
	sim --mode $m --seed 3 --hops 2000 --json h.json
	sim --mode $m --seed 3 --hops 2000 --json cap.json --capture c.cap
	same "a captured run" "$(j h 'o["digest"]')" "$(j cap 'o["digest"]')"
	same "captured" True "$(j cap '0 < o["capture"]["flits"] <= o["hops"]')"
done
pace() {
	sim --pace --fabric "$1" --hops "${WEFT_SIM_PACE_HOPS:-$(few 100000 1500000)}"
	sed -n 's/.*: \([0-9.]*\) M flit-hops.*/\1/p' "$work/text"
}
small=$(pace tree:3,2) large=$(pace "$(few tree:3,5 tree:3,15)")
[ -n "$small" ] && [ -n "$large" ] || die "--pace says no pace"
echo "M flit-hops/s: $small with 15 nodes, $large with many:" \
	"a hop costs $(/usr/bin/python3 -c "print(f'{$small / $large:.2f}')") times as much"
same "no files left" "" "$(cd "$work" && ls | grep pcap || true)"

# Refused
refuses '--json /nonesuch/f: No such file' timeout 5 "$app/weft-sim" --hours 8 --json /nonesuch/f
misused '--seeds: expected a number of 1 to' "$app/weft-sim" --seeds 0
misused '--fabric: expected pair, star:H,G' "$app/weft-sim" --fabric ring:3
misused '--fabric: expected pair, star:H,G' "$app/weft-sim" --fabric tree:2,0
misused 'fat:K with an even K, got "fat:3"' "$app/weft-sim" --fabric fat:3
misused 'mesh:100,100: expected at most 4095 nodes, got 30000' "$app/weft-sim" --fabric mesh:100,100
misused 'got "mesh:2000,2"; numbers of mesh are 1 to 1000' "$app/weft-sim" --fabric mesh:2000,2
misused '--json: expected a file, or - for standard output, got nothing' "$app/weft-sim" --json ''
misused '--fabric: tree:1,1: expected a host and a GFD at least' "$app/weft-sim" --fabric tree:1,1
misused '--without: expected one of link_flap, link_hold' "$app/weft-sim" --without rain
misused '--mode: expected one of cxl, rxl' "$app/weft-sim" --mode pcie
misused '--ide: expected one of off, containment, skid' "$app/weft-sim" --ide on
misused '--capture takes one seed' "$app/weft-sim" --seeds 2 --capture x
misused '--capture takes one seed' "$app/weft-sim" --minutes 1 --capture x
refuses 'No such file' "$app/weft-sim" --capture /nonesuch/x
refuses '--pcap /nonesuch/x: /nonesuch: No such file' "$app/weft-sim" --pcap /nonesuch/x
misused '--impair: expected key=value' "$app/weft-sim" --impair ''
refuses '--capture /dev/full' "$app/weft-sim" --hops 100 --capture /dev/full
refuses "--json $work/limited: File too large" \
	bash -c "ulimit -f 1; exec $app/weft-sim --hops 100 --json $work/limited >/dev/null"
[ ! -e "$work/limited" ] || die "a report that is not whole stays"
echo kept >"$work/kept"
for two in "--capture $work/z --json $work/z" "--topology $work/kept --json $work/kept" \
	"--topology $work/kept --capture $work/kept" "--experiment rxl --json - --csv -"; do
	# shellcheck disable=SC2086
	misused 'expected two files, got' "$app/weft-sim" $two
done
same "a topology that was named for output" kept "$(cat "$work/kept")"
misused '--impair: unknown key "x"' "$app/weft-sim" --impair x=1
misused '--impair: drop: expected P' "$app/weft-sim" --impair drop=2
misused '--impair: bits must be 1 to 64' "$app/weft-sim" --impair bits=65@1
misused '--impair: frames can be late by 100 us' "$app/weft-sim" --impair delay_us=90,jitter_us=20
misused 'need --mode rxl' "$app/weft-sim" --mode cxl --impair dup=0.1
misused '--seeds and --minutes: expected one of them' "$app/weft-sim" --seeds 2 --minutes 1
misused '--seeds and --hours: expected one of them' "$app/weft-sim" --hours 1 --seeds 2
misused '--minutes and --hours: expected one of them' "$app/weft-sim" --hours 1 --minutes 1
warns '--faults, --without: no effect with --calm' "$app/weft-sim" --calm --hops 100 --faults 3 --without storm
warns '--faults: no effect with --pace' "$app/weft-sim" --pace --fabric pair --hops 100 --faults 3
"$app/weft-sim" --seeds 2 --hops 100 --verbose --json - >"$work/j.json" 2>"$work/err"
same "seeds beside JSON" "2 2" "$(json "$work/j.json" 'o["seeds"]') $(grep -c '^seed ' "$work/err")"
misused 'exclude each other' "$app/weft-sim" --fabric pair --topology x
refuses 'No such file' "$app/weft-sim" --topology /nonesuch
# idle LINE...: a file whose one host sends that, and nothing of kind mem.
idle() {
	printf '%s\n' "fabric: idle" "nodes:" "  - {name: h0, kind: host, pid: 0x101}" \
		"  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}" "links:" "  - {a: h0, b: g0}" "$@" >"$work/idle.yaml"
}
idle
refuses 'idle.yaml: expected a workload, got none' "$app/weft-sim" --topology "$work/idle.yaml"
idle "workloads:" "  - {on: h0, kind: transfer, transfers: [{kind: write, gfd: g0, bytes: 4096, file: f}]}"
refuses 'f: files of transfers are not simulated' "$app/weft-sim" --topology "$work/idle.yaml"
misused 'unexpected argument "x"' "$app/weft-sim" x
misused 'unrecognized option' "$app/weft-sim" --frob
echo "weft-sim does what it says"
