#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# bench-report: tables of real runs and of made-up ones whose ratios are known, plots, bad files.
. "$(dirname "$0")/lib.sh"
report=$(dirname "$0")/../../usertools/bench-report

# row FILE TEXT: cells of the one line of a table that holds TEXT, between single bars.
row() {
	[ "$(grep -cF -- "$2" "$1")" -eq 1 ] || die "not one line with $2 in $(cat "$1")"
	grep -F -- "$2" "$1" | sed 's/ *| */|/g; s/^|//; s/|$//'
}

says() {
	grep -qF -- "$2" "$1" || die "\"$2\" is not in $(cat "$1")"
}

for i in 1 2; do
	"$app/weft-bench" --seconds 0.01 --stage crc,rx-pipeline --frame-flits 1,8 --json "$work/$i.json" >"$work/text"
done
"$report" "$work/1.json" >"$work/one.md"
same "rows of one run" 5 "$(grep -cE '^\| (crc|rx-pipeline) ' "$work/one.md")"
same "columns of one run" "stage|kernel|layout|flits/frame|Mflit/s|cycles/flit|least..most|instr/flit" \
	"$(row "$work/one.md" '| Mflit/s |')"
"$report" "$work/1.json" "$work/2.json" >"$work/two.md"
same "columns of two runs" "stage|kernel|layout|flits/frame|Mflit/s|spread|runs|cycles/flit|least..most|instr/flit" \
	"$(row "$work/two.md" '| Mflit/s |')"
"$report" "$work/1.json" --compare "$work/1.json" >"$work/self.md"
same "ratios with itself" 5 "$(grep -cE '^\| (crc|rx-pipeline) .*\| 1\.000 \| - \| - \|$' "$work/self.md")"
says "$work/self.md" "over 5 rows: 1.000."

# run NAME ROWS: a file of rows "stage mflits instructions checked".
run() {
	/usr/bin/python3 - "$work/$1.json" "$2" <<'PY'
import json, sys
rows = []
for line in sys.argv[2].split(";"):
    stage, rate, count, checked = line.split()
    rows.append({"stage": stage, "kernel": "k|1", "layout": "rtc", "frame_flits": 8,
                 "mflits_per_s": float(rate), "cycles_per_flit": 2000 / float(rate),
                 "cycles_min": 1.5, "cycles_max": 99.5, "checked": checked == "yes",
                 "instructions_per_flit": json.loads(count)})
json.dump({"cpu": "X", "tsc_hz": 2000000000, "version": "1", "results": rows}, open(sys.argv[1], "w"))
PY
}
run a "one 10 80 yes; two 7 null yes; bad 5 3 no"
run b "one 40 90 yes; two 7 10 yes; bad 5 3 yes"
run c "one 16 100 yes; two 7 null yes; bad 5 3 yes"
run old "one 8 100 yes; gone 3 null yes; bad 5 3 yes; two 14 5 yes"
"$report" "$work/"{a,b,c}.json --compare "$work/old.json" >"$work/known.md"
same "median and spread" 'one|k\|1|rtc|8|16.00|10.00..40.00|3|125.0|1.5..99.5|90.0' \
	"$(row "$work/known.md" '| one | k\|1 | rtc | 8 | 16.00 |')"
same "ratio" 'one|k\|1|rtc|8|8.00|16.00|2.000|1.250..5.000|0.900' \
	"$(row "$work/known.md" '| one | k\|1 | rtc | 8 | 8.00 |')"
says "$work/known.md" "over 2 rows: 1.000."
says "$work/known.md" "- gone k\|1 rtc 8 old"
says "$work/known.md" "5.00 **wrong answer**"
same "wrong answers in ratios" 0 "$(grep -c '^| bad .*1\.000' "$work/known.md")"
"$report" "$work/a.json" --compare "$work/1.json" >"$work/none.md"
says "$work/none.md" "No row is in both."
says "$work/none.md" "different machines"
same "warnings about one machine" 0 "$(grep -c 'different machines' "$work/known.md")"

# bad TEXT JSON: refused with one line that holds both TEXT and the name of the file.
bad() {
	printf '%s' "$2" >"$work/bad.json"
	refuses "$work/bad.json: $1" "$report" "$work/bad.json"
	refuses "$work/bad.json: $1" "$report" "$work/1.json" --compare "$work/bad.json"
}
bad 'not JSON' '{"results": ['
bad 'not JSON' $'\xff\xfe'
bad 'not JSON' ''
bad 'not JSON' "$(printf '[%.0s' $(seq 100000))"
bad 'not a run of weft-bench' '[1, 2]'
bad 'not a run of weft-bench' '{"results": 3}'
bad 'no results' '{"results": []}'
bad 'result 1: expected an object' '{"results": [7]}'
bad 'result 1: "stage" is not a string' '{"results": [{}]}'
start='{"results": [{"stage": "s", "kernel": "k", "layout": "rtc", "frame_flits": 8, "cycles_per_flit": 1'
bad 'result 1: "mflits_per_s" is not' "$start}]}"
bad 'result 1: "mflits_per_s" is not' "$start, \"mflits_per_s\": true}]}"
bad 'result 1: "mflits_per_s" is not' "$start, \"mflits_per_s\": NaN}]}"
bad 'result 1: "mflits_per_s" is not' "$start, \"mflits_per_s\": 0}]}"
bad 'result 1: "checked" is neither' "$start, \"mflits_per_s\": 1}]}"
bad 'result 1: "frame_flits" is not' "${start/: 8,/: 65,}, \"mflits_per_s\": 1}]}"
bad 'result 1: "instructions_per_flit" is neither' "$start, \"mflits_per_s\": 1, \"instructions_per_flit\": \"x\"}]}"
refuses "/nonesuch.json: No such file" "$report" /nonesuch.json
refuses "$work: Is a directory" "$report" "$work"
rc=0
"$report" >"$work/out" 2>&1 || rc=$?
same "status without a file" 2 $rc
"$report" "$work/1.json" | head -n 1 >"$work/out"

# Without matplotlib the tables are there, and --plots says what is missing.
mkdir "$work/none"
echo 'raise ImportError("none")' >"$work/none/matplotlib.py"
PYTHONPATH=$work/none "$report" "$work/1.json" >"$work/out"
refuses "--plots: needs matplotlib (Debian: python3-matplotlib)" \
	env PYTHONPATH="$work/none" "$report" "$work/1.json" --plots "$work/p"

/usr/bin/python3 -c 'import matplotlib' 2>/dev/null ||
	skip "plots were not drawn: matplotlib (Debian: python3-matplotlib) is not installed; tables are good"
export MPLCONFIGDIR=$work/mpl
"$report" "$work/1.json" "$work/2.json" --plots "$work/plots/new" >"$work/plots.md"
/usr/bin/python3 - "$work/plots/new" <<'PY' || die "plots are not what they should be"
import struct, sys, xml.etree.ElementTree as xml, zlib
for name in "stages", "sweep":
    assert xml.parse(f"{sys.argv[1]}/{name}.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    png = open(f"{sys.argv[1]}/{name}.png", "rb").read()
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and png[12:16] == b"IHDR"
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", png[at + 8 + length:at + 12 + length])[0]
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height = struct.unpack(">II", png[16:24])
    assert kind == b"IEND" and width > 300 and len(set(zlib.decompress(data))) > 20, name
PY
same "plots that the report shows" "stages.svg sweep.svg" \
	"$(echo $(sed -n 's|^!\[.*](.*/\(.*\))$|\1|p' "$work/plots.md"))"
"$report" "$work/a.json" --plots "$work/plots/one" >"$work/plots.md"
same "plots of a run without a sweep" "stages.png stages.svg" "$(echo $(ls "$work/plots/one"))"
refuses "--plots $work/1.json: File exists" "$report" "$work/1.json" --plots "$work/1.json"
echo "bench-report does what it says"
