#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-bench --atc-workload: ratios that are known beforehand, wrong options refused; its report.
. "$(dirname "$0")/lib.sh"

"$app/weft-bench" --atc-workload all --atc-entries 64,4096 --atc-page 4K,2M --atc-prefetch 1,8 \
	--atc-accesses "$(few 40000 200000)" --json "$work/a.json" >"$work/text"
same "lines of the simulation" 49 "$(wc -l <"$work/text")"
same "rows of the simulation" 48 "$(json "$work/a.json" 'len(o["atc"])')"
same "sequential streams without prefetch" True "$(json "$work/a.json" 'all(abs(r["hit_ratio"] - 15 / 16) < 0.001
for r in o["atc"] if (r["workload"], r["page"], r["entries"], r["prefetch"]) == ("streams", "4K", 4096, 1))')"
same "sequential streams with prefetch" True "$(json "$work/a.json" 'all(r["hit_ratio"] > 0.985
for r in o["atc"] if (r["workload"], r["page"], r["entries"], r["prefetch"]) == ("streams", "4K", 4096, 8))')"
same "larger caches that know less" 0 "$(json "$work/a.json" 'sum(a["hit_ratio"] > b["hit_ratio"] + 0.01
for a in o["atc"] for b in o["atc"] if a["entries"] < b["entries"] and all(a[k] == b[k] for k in ("workload", "page", "prefetch")))')"
"$app/weft-bench" --atc-workload kv --atc-entries 64 --atc-accesses 20000 --json - >"$work/b.json"
same "the same addresses every time" "$("$app/weft-bench" --atc-workload kv --atc-entries 64 --atc-accesses 20000 --json -)" \
	"$(cat "$work/b.json")"
bench=$app/weft-bench
misused '--atc-workload: expected one of streams, uniform, zipf, nvme, nic, kv, all' "$bench" --atc-workload x
misused '--atc-entries: expected powers of two from 8 on' "$bench" --atc-workload kv --atc-entries 100
misused '--atc-entries: expected a list with one comma between' "$bench" --atc-workload kv --atc-entries ,
misused '--atc-page: expected one of 4K, 64K, 2M, 1G' "$bench" --atc-workload kv --atc-page 8K
misused '--atc-prefetch: expected a number of 1 to 15' "$bench" --atc-workload kv --atc-prefetch 16
misused '--atc-accesses: expected a number of 1000' "$bench" --atc-workload kv --atc-accesses 10
misused 'expected --atc-workload with them' "$bench" --atc-entries 64
warns 'weft-bench: --sig, --kernel, --seconds: no effect with --atc-workload' \
	"$bench" --atc-workload kv --atc-entries 64 --atc-accesses 1000 --kernel scalar --seconds 1 --sig
refuses '--json /nonesuch/f: No such file' "$bench" --atc-workload kv --atc-entries 8 --atc-accesses 1000 --json /nonesuch/f

report=$(dirname "$0")/../../usertools/bench-report
"$report" "$work/a.json" >"$work/report"
same "rows of the report" 48 "$(grep -cE '^\| (streams|uniform|zipf|nvme|nic|kv) ' "$work/report")"
# Plots take a second for each workload.
"$app/weft-bench" --atc-workload kv --atc-entries 64,4096 --atc-page 4K,2M --atc-prefetch 1,8 \
	--atc-accesses 20000 --json "$work/kv.json" >"$work/text"
for plot in $(few "" "entries page prefetch"); do
	[ -d "$work/plots" ] || "$report" --plots "$work/plots" "$work/kv.json" >"$work/report"
	[ -s "$work/plots/atc-$plot.svg" ] || die "no plot against $plot"
	grep -qF "atc-$plot.svg" "$work/report" || die "the report does not show the plot against $plot"
done
echo '{"version": "0", "atc": [{"workload": "kv", "hit_ratio": 2}]}' >"$work/bad.json"
refuses 'result 1: "page"' "$report" "$work/bad.json"
refuses 'of one kind' "$report" "$work/a.json" --compare "$work/a.json"
echo "hit ratios are told as they are"
