#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# bench-peers: what it reads out of programs that printed peers/*.txt, ratios that are known, programs
# that fail, hang or are missing, nothing left behind; then a short round with DPDK's real ones.
. "$(dirname "$0")/lib.sh"
peers=$here/../../usertools/bench-peers
fake=$work/fake
export work
mkdir "$fake"

"$peers" --help >"$work/help"
for word in --rounds --seconds --frame-flits --core --weft-bench --json --latency --trips crypto-perf testpmd-io; do
	grep -qF -- "$word" "$work/help" || die "$word is not in --help"
done

/usr/bin/python3 - "$peers" "$here/peers" <<'PY' || die "its parts do not do what they should"
import importlib.machinery, importlib.util, os, sys
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("peers", sys.argv[1])
p = importlib.util.module_from_spec(importlib.util.spec_from_loader("peers", loader))
loader.exec_module(p)
crypto = open(sys.argv[2] + "/crypto-perf.txt").read()
testpmd = open(sys.argv[2] + "/testpmd.txt").read()

def fails(text, call, *args):
    try:
        got = call(*args)
    except p.Failure as why:
        assert text in str(why) and "\n" not in str(why), (text, str(why))
    else:
        raise AssertionError(f"{text}: got {got}")

assert p.parse_crypto_perf(crypto) == 3.109
assert p.parse_crypto_perf(crypto.replace("\n", "\r\n")) == 3.109
columns = crypto.replace("Ops(Millions),Throughput(Gbps)", "Throughput(Gbps),Ops(Millions)")
assert p.parse_crypto_perf(columns) == 5.970
for bad in "", "\0,\n", crypto[:100], crypto.replace("3.109", "x"), crypto.replace("3.109", "nan"), \
        crypto.replace("3.109", "0.0"), crypto.replace(",5000000", ",0"), crypto.replace("Ops(", "("):
    fails("rate", p.parse_crypto_perf, bad)
assert abs(p.parse_testpmd(testpmd) - 113620608 / 7682827845 * 2600) < 1e-9
for bad in "", testpmd.replace("CPU cycles/packet", "x"), testpmd.replace("cycles=7682827845", "cycles=0"), \
        testpmd.replace("packets=113620608)", "packets=)"):
    fails("cycles a packet", p.parse_testpmd, bad)
fails("a rate of 0", p.parse_testpmd, testpmd.replace("packets=113620608)", "packets=0)"))
for bad in "", "[]", "{}", '{"results": [7]}', '{"tsc_hz": 1, "results": [{"checked": true}]}':
    fails("not what was expected", p.parse_weft_bench, bad)
trip = '{"kind": "tcp", "trips": 9, "p50": 4700, "p99": 9000, "p99_9": 30500}'
assert p.parse_trips(trip) == {"p50": 4.7, "p99": 9.0, "p99_9": 30.5}
assert p.parse_trips('{"nodes": [{"latency_ns": %s}]}' % trip) == p.parse_trips(trip)
for bad in "", "[]", "{}", '{"nodes": []}', '{"nodes": [{}]}', trip.replace("4700", '"x"'):
    fails("not what was expected", p.parse_trips, bad)
fails("a rate of 0", p.parse_trips, trip.replace("4700", "0"))
rows = list(p.compare_latency({"read": [{"p50": 2}, {"p50": 3}, {"p50": 9}], "tcp": [{"p50": 4}] * 3}))
assert rows == [{"trip": "read", "peer": "tcp", "median": 0.75, "min": 0.5, "max": 2.25}], rows
fails("a wrong answer", p.parse_weft_bench, '{"results": [{"checked": false}]}')
assert p.last_line("a\n\x1b[2J\x1b[1;1Hb\n\n") == ": b"

# Whatever happens to a program, it is gone in the end.
p.TIMEOUT = 0.3
pid = os.environ["work"] + "/pid"
for work, text in ((None, "did not end within 0.3 s"), (0.1, "did not end within 0.3 s")):
    fails(text, p.run, ["bash", "-c", f"trap '' INT TERM; echo $$ >{pid}; exec sleep 50"], None, work)
    assert not os.path.exists("/proc/" + open(pid).read().strip())
fails("exit status 3: why", p.run, ["bash", "-c", "echo why >&2; exit 3"], None)
fails("exit status -9", p.run, ["bash", "-c", "kill -9 $$"], None)
fails("No such file", p.run, ["/nonesuch"], None)
PY

# Programs of the same names: sums that are known.
cat >"$fake/weft-bench" <<'SH'
#!/bin/bash
echo "$*" >"$work/args"
for stage in rx-pipeline-ide switch-rxl rx-pipeline; do
	rows+="${rows:+,}{\"stage\":\"$stage\",\"frame_flits\":8,\"cycles_mean\":200,\"cpu_share\":0.5,\"checked\":true}"
done
echo "{\"tsc_hz\":2000000000,\"results\":[$rows]}"
SH
cat >"$fake/dpdk-test-crypto-perf" <<SH
#!/bin/bash
cat "$here/peers/crypto-perf.txt"
SH
cat >"$fake/dpdk-testpmd" <<SH
#!/bin/bash
echo \$\$ >"\$work/pmd"
trap 'cat "$here/peers/testpmd.txt"; exit 0' INT
while :; do read -rt 0.05 <> <(:); done
SH
chmod +x "$fake"/*
ours=(--weft-bench "$fake/weft-bench" --seconds 0.01)
PATH=$fake:$PATH "$peers" "${ours[@]}" --rounds 2 --frame-flits 8 --json "$work/p.json" >"$work/text"
grep -q -- '--frame-flits 8 .*-- --lcores' "$work/args" || die "weft-bench was called otherwise: $(cat "$work/args")"
same "rates of ours" "[20.0, 20.0]" "$(json "$work/p.json" 'o["ours"][1]["rates"]')"
same "pairs" "rx-pipeline/testpmd-io rx-pipeline/testpmd-mac switch-rxl/testpmd-io switch-rxl/testpmd-mac" \
	"$(json "$work/p.json" '" ".join(sorted(r["stage"] + "/" + r["peer"] for r in o["ratios"]
if r["peer"] != "crypto-perf"))')"
same "ratio to testpmd" 0.52014 "$(json "$work/p.json" '[round(r["median"], 5) for r in o["ratios"]
if r["peer"] == "testpmd-io"][0]')"
grep -q '^switch-rxl (8) / testpmd-mac  *0\.52   0\.52\.\.0\.52$' "$work/text" || die "no such ratio: $(cat "$work/text")"
if [ "$(nproc)" -gt 1 ]; then
	same "ratio to crypto-perf" 6.43294 "$(json "$work/p.json" '[round(r["median"], 5) for r in o["ratios"]
if r["peer"] == "crypto-perf"][0]')"
else
	same "why no crypto-perf" "needs a second CPU: its main lcore spins" \
		"$(json "$work/p.json" 'o["skipped"]["crypto-perf"]')"
fi

# Ended from outside, it takes the program with it that it waits for.
PATH=$fake:$PATH "$peers" --weft-bench "$fake/weft-bench" --seconds 60 >"$work/text" 2>&1 &
pids+=($!)
rm -f "$work/pmd"
wait_for 10 test -s "$work/pmd"
kill -TERM "${pids[-1]}"
rc=0
wait "${pids[-1]}" || rc=$?
same "status after SIGTERM" 143 $rc
[ ! -e "/proc/$(cat "$work/pmd")" ] || die "dpdk-testpmd was left behind"

# Peers that fail or are missing are left out, and it says why.
printf '#!/bin/bash\necho "EAL: no luck" >&2\nexit 1\n' >"$fake/dpdk-testpmd"
rc=0
PATH=$fake:$PATH "$peers" "${ours[@]}" --rounds 2 >"$work/text" 2>&1 || rc=$?
grep -q '^skipped testpmd-mac: exit status 1: EAL: no luck$' "$work/text" || die "no reason in $(cat "$work/text")"
[ "$(nproc)" -eq 1 ] || same "status with one peer" 0 $rc
mkdir "$work/bin"
ln -s "$(command -v bash)" "$work/bin/"
refuses "nothing to compare with" env PATH="$work/bin" "$peers" "${ours[@]}" --rounds 1
grep -q '^skipped crypto-perf: dpdk-test-crypto-perf is not installed (Debian: dpdk-dev)$' "$work/out" ||
	die "no reason in $(cat "$work/out")"
# Before anything is measured: the program that would measure is not there either.
refuses "--json /nonesuch/x: No such file" "$peers" --weft-bench /nonesuch --json /nonesuch/x
refuses "--json $work: Is a directory" "$peers" --weft-bench /nonesuch --json "$work"
refuses "/nonesuch: No such file" "$peers" --weft-bench /nonesuch
: >"$work/text-file" # a name without a slash is a file that is here
(cd "$work" && refuses "text-file: Permission denied" "$peers" --weft-bench text-file)
refuses "--core 4095: this process may use" "$peers" "${ours[@]}" --core 4095
printf '#!/bin/bash\necho "weft-bench: no" >&2\nexit 1\n' >"$fake/weft-bench"
refuses "$fake/weft-bench: exit status 1: weft-bench: no" env PATH="$work/bin" "$peers" "${ours[@]}"
for bad in "--rounds 0" "--rounds x" "--seconds 0" "--nonesuch" "--core -1" "--frame-flits 0" "--frame-flits x" \
	"--frame-flits 1,65"; do
	rc=0
	# shellcheck disable=SC2086
	"$peers" $bad >"$work/out" 2>&1 || rc=$?
	same "status of $bad" 2 $rc
done

# Round trips, few but real: each way is measured, and no daemon is left.
timeout 200 "$peers" --latency --weft-bench "$app/weft-bench" --rounds 1 --trips 1000 --json "$work/l.json" >"$work/text"
grep -q '^read / tcp-1 ' "$work/text" || die "no ratio in $(cat "$work/text")"
same "ways" True "$(json "$work/l.json" '{"read", "tcp-1", "unix-1"} <= set(o["microseconds"]) and
set(o["skipped"].values()) <= {"needs a second CPU"} and len(o["microseconds"]) + len(o["skipped"]) == 8')"
same "shares" True "$(json "$work/l.json" 'all(0 < r["p50"] <= r["p99"] <= r["p99_9"]
for rounds in o["microseconds"].values() for r in rounds)')"
refuses "nothing to compare with" "$peers" --latency --weft-bench /nonesuch/weft-bench --rounds 1
grep -q '^skipped tcp-1: not built: ninja -C .* usertools/pingpong/pingpong$' "$work/out" ||
	die "no way out in $(cat "$work/out")"

for program in dpdk-test-crypto-perf dpdk-testpmd; do
	command -v $program >/dev/null ||
		skip "no round with DPDK's own programs: $program (Debian: dpdk-dev) is not installed; the rest is good"
done
timeout 200 "$peers" --weft-bench "$app/weft-bench" --rounds 1 --seconds 0.02 --json "$work/r.json" >"$work/text"
same "peers that were skipped" True "$(json "$work/r.json" 'not o["skipped"] or
list(o["skipped"].values()) == ["needs a second CPU: its main lcore spins"]')"
same "ratios of real programs" True "$(json "$work/r.json" 'len(o["ratios"]) >= 8 and
all(0 < r["min"] <= r["median"] <= r["max"] for r in o["ratios"])')"
echo "bench-peers does what it says"
