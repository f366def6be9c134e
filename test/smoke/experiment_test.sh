#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-sim --experiment rxl and rxl-report: every result there, shares as counted by hand, files that
# parse, a seed that changes the sample and not the verdicts.
. "$(dirname "$0")/lib.sh"
sim=$app/weft-sim
report=$here/../../usertools/rxl-report
export MPLCONFIGDIR=$work/mpl

# The samples that only `usertools/test.sh --all` takes.
size=--brief
[ -z "${WEFT_TEST_ALL:-}" ] || size=--quick
status=0
timeout 250 "$sim" --experiment rxl $size --seed 2 --threads 2 --json "$work/2.json" --csv "$work/2.csv" \
	>"$work/table" 2>/dev/null || status=$?
[ $status -le 1 ] || die "weft-sim ended with $status"
[ $status -eq 0 ] || [ $size = --brief ] || die "another seed disagrees: $(cat "$work/table")"
status=0
timeout 250 "$report" --sim "$sim" --quick --seed 1 --out "$work/r" >"$work/text" 2>"$work/log" || status=$?
[ $status -eq 0 ] || die "rxl-report ended with $status: $(cat "$work/log" "$work/text")"
timeout 250 "$sim" --experiment llr $size --threads 2 --json "$work/l.json" >"$work/table.l" 2>/dev/null
same "name" llr "$(json "$work/l.json" 'o["experiment"]')"
for name in rxl llr; do
	for threads in 1 2; do
		timeout 250 "$sim" --experiment $name --brief --seed 2 --threads $threads --json "$work/t$threads.json" \
			>/dev/null 2>&1 || [ $? -eq 1 ] || die "$name: --brief fails"
	done
	cmp -s "$work/t1.json" "$work/t2.json" || die "$name: threads change the results"
done

/usr/bin/python3 - "$work" $size <<'PY' || die "the results are not what they should be"
import csv, json, math, sys
folder = sys.argv[1]
first, second = (json.load(open(f"{folder}/{name}")) for name in ("r/rxl.json", "2.json"))
ids = ["fer", "fec_detect_4", "fec_detect_5", "fec_detect_6", "fer_uc_iid", "fer_uc_burst"]
ids += [f"order_{mode}_l{level}" for mode in ("cxl", "rxl") for level in (1, 2, 3, 4)]
ids += ["fec_detect_7", "fec_detect_64", "fer_ualink", "fer_uc_ualink", "p_correct", "p_uncorrectable"]
ids += ["fer_drop", "erroneous_per_s", "log10_cxl_to_rxl", "log10_cxl_to_direct", "bwloss_acks_p1"]
ids += ["order_cxl_p0.5", "buffer_multipath", "buffer_selective", "messages_limit", "fig5a_cxl_twice"]
ids += ["fig5a_rxl", "fig5b_cxl", "fig5b_rxl", "order_rxl_no_fsn", "gain_no_fsn"]
ids += ["fit_cxl_l1", "fit_rxl_l1", "bwloss_direct", "bwloss_l1", "bwloss_separate_acks"]


def tail(pmf, k, way):
    """Chance of k and all further on that side."""
    total, term = 0.0, pmf(k)
    while term > 1e-18 and k >= 0:
        total, k = total + term, k + way
        term = pmf(k) if k >= 0 else 0
    return total


def check_tails(row, k, pmf, low, high):
    """The ends of the interval are where the count seen is just still likely."""
    assert abs(tail(lambda i: pmf(low, i), k, 1) - 0.025) < 1e-4, row
    assert abs(tail(lambda i: pmf(high, i), k, -1) - 0.025) < 1e-4, row


def check_share(row):
    n, lg = row["sample"], math.lgamma
    check_tails(row, row["events"], lambda p, i: 0 if i > n else math.exp(
        lg(n + 1) - lg(i + 1) - lg(n - i + 1) + i * math.log(p) + (n - i) * math.log1p(-p)),
        row["low"], row["high"])


def check_count(row, scale):
    check_tails(row, row["events"], lambda m, i: math.exp(i * math.log(m) - m - math.lgamma(i + 1)),
                row["low"] * row["sample"] / scale, row["high"] * row["sample"] / scale)


brief = sys.argv[2] == "--brief"
seen = [row["id"] for row in second["rows"]]
assert seen == [row["id"] for row in first["rows"]]
for run in (first,) if brief else (first, second):
    seen = [row["id"] for row in run["rows"]]
    assert len(seen) == len(set(seen)), "an id comes twice"
    assert set(ids) <= set(seen), set(ids) - set(seen)
    rows = {row["id"]: row for row in run["rows"]}
    for row in run["rows"]:
        assert row["low"] <= row["measured"] <= row["high"], row
        assert row["low_4_sigma"] <= row["low"] and row["verdict"] != "disagrees", row
    check_share(rows["fer"])
    check_share(rows["fec_detect_6"])
    check_count(rows["order_cxl_l1"], 0.03)
    # Counted over all starts and ratios: 21,084 of 64,515, 1,749,972 of 16,386,300, and so on.
    for burst, missed in ((4, 7028 / 21505), (5, 20833 / 195075), (6, 192892 / 5527125)):
        row = rows[f"fec_detect_{burst}"]
        assert abs(row["exact"] - (1 - missed)) < 1e-12, row
        assert row["sample"] >= 90000 and row["measured"] == row["events"] / row["sample"]
        assert abs(row["measured"] - (1 - missed)) < 4 * math.sqrt(missed / row["sample"]), row
        assert row["verdict"] == "paper rounds"
    # Longer bursts, by the table of the specification.
    for burst, share in ((7, 0.964537), (8, 0.963964), (9, 0.963382)):
        assert abs(rows[f"fec_detect_{burst}"]["exact"] - share) < 1e-6, burst
    assert abs(rows["fer_ualink"]["exact"] - (1 - (1 - 2.4e-4) ** 2048)) < 1e-9
    assert abs(rows["p_correct"]["exact"] - 0.9849) < 1e-4
    assert abs(rows["p_correct"]["measured"] + rows["p_uncorrectable"]["measured"] - 1) < 1e-12
    assert rows["p_uncorrectable_iid"]["verdict"] == "paper disagrees"
    assert rows["buffer_multipath"]["measured"] == 128e6 and rows["messages_limit"]["measured"] == 44
    # A duplicate and an order failure that a host sees in CXL, and not in RXL.
    for name, least in (("fig5a_cxl_twice", 10), ("fig5b_cxl", 10)):
        assert rows[name]["events"] >= least, rows[name]
    for name in "fig5a_rxl", "fig5b_rxl", "order_rxl_no_fsn":
        assert rows[name]["events"] == 0 and rows[name]["sample"] > 1e5, rows[name]
    assert 9 < rows["gain_no_fsn"]["measured"] < 11
    assert abs(rows["fer"]["exact"] - 2.045905e-3) < 1e-9
    assert abs(rows["fer_uc_iid"]["exact"] - 6.9057e-7) < 1e-11
    assert rows["fer_uc_iid"]["verdict"] == "paper disagrees" and rows["fer_uc_iid"]["note"]
    assert abs(rows["fer_uc_burst"]["exact"] - 3.0e-5) < 0.03e-5
    assert abs(rows["bwloss_direct"]["exact"] - 0.00149775) < 1e-8
    assert abs(rows["bwloss_l1"]["exact"] - 0.00299103) < 1e-8
    assert abs(rows["bwloss_separate_acks"]["exact"] - 0.101348) < 1e-6
    assert abs(rows["fit_cxl_l1"]["exact"] / 5.4e15 - 1) < 1e-9
    assert abs(rows["fit_rxl_l1"]["exact"] - 3.9e-3) < 0.05e-3
    assert rows["fer_ud_eq9"]["verdict"] == "paper disagrees" and rows["fer_ud_eq9"]["note"]
    for level in 1, 2, 3, 4:
        assert abs(rows[f"order_cxl_l{level}"]["exact"] - level * 3e-6) < 1e-15
        assert rows[f"order_cxl_l{level}"]["events"] > 20
        row = rows[f"order_rxl_l{level}"]
        assert row["verdict"] == "bound" and row["measured"] == row["events"] == 0
        assert abs(row["high"] * row["sample"] - 3) < 0.01, row
a, b = ({row["id"]: row for row in run["rows"]} for run in (first, second))
assert list(a) == list(b)
assert brief or [row["verdict"] for row in a.values()] == [row["verdict"] for row in b.values()], \
    [(k, a[k]["verdict"], b[k]["verdict"]) for k in a if a[k]["verdict"] != b[k]["verdict"]]
for name in "fer", "fec_detect_4", "fer_uc_burst", "order_cxl_l1", "bwloss_direct":
    assert a[name]["measured"] != b[name]["measured"], f"{name}: the same sample"
for name, run in ("r/rxl.csv", first), ("2.csv", second):
    lines = list(csv.DictReader(open(f"{folder}/{name}")))
    assert [line["id"] for line in lines] == [row["id"] for row in run["rows"]], name
    for line, row in zip(lines, run["rows"]):
        assert line["verdict"] == row["verdict"]
        if row["measured"] is None:
            assert brief and not math.isfinite(float(line["measured"] or "nan")), line
        else:
            assert abs(float(line["measured"]) - row["measured"]) <= 1e-6 * abs(row["measured"])
# Asking for single flits never costs more bandwidth than going back.
beyond = {(o["frame_flits"], o["lost"], o["rate"], o["retry"]): o for o in first["beyond"]}
assert len(beyond) == 30
for (flits, lost, rate, retry), o in beyond.items():
    if retry == "single" and rate >= 1e-3:
        assert o["goodput_loss"] < beyond[flits, lost, rate, "back-n"]["goodput_loss"], o
PY
same "rows of the text" "$(json "$work/2.json" 'len(o["rows"])')" "$(($(wc -l <"$work/table") - 1))"
grep -q '^| *fer_uc_iid .*paper disagrees' "$work/text" || die "no table: $(cat "$work/text")"
cmp -s "$work/text" "$work/r/report.md" || die "report.md is not what was printed"

# What lost frames cost: threads change nothing, asking for single flits is near what must be lost.
/usr/bin/python3 - "$work/l.json" $size <<'PY' || die "what lost frames cost is not what it should be"
import json, sys
rows = {r["id"]: r for r in json.load(open(sys.argv[1]))["rows"]}
assert len(rows) == 57, len(rows)
brief = sys.argv[2] == "--brief" # a few hundred frames each
for flits in 1, 5, 35:
    for drop in 0.001, 0.01, 0.02, 0.05:
        rate, back_n = (rows[f"rate_{drop:g}_f{flits}_{kind}"]["measured"] for kind in ("selective", "back_n"))
        # What is lost is sent again, so no link keeps more than 1 - drop; the sample is small.
        assert (0.6 if brief else 0.97) * (1 - drop) < rate < 1 - drop + (0.02 if brief else 0.005), (flits, drop, rate)
        assert back_n < rate or (brief and drop < 0.05), (flits, drop, rate, back_n)
        assert rows[f"latency_{drop:g}_f{flits}_selective"]["measured"] > (0.99 if brief else 1)
    for frames in 1, 10, 100:
        assert -0.01 < rows[f"burst{frames}_f{flits}"]["measured"] < 5, rows[f"burst{frames}_f{flits}"]
assert not any("order" in r.get("note", "") for r in rows.values())
PY

misused '--experiment: expected one of rxl, llr, got "x"' "$sim" --experiment x
misused '--seed: expected a number' "$sim" --experiment rxl --seed x
misused 'unexpected argument "x"' "$sim" --experiment rxl x
for bad in 0 1025 x; do
	rc=0
	"$report" --sim "$work/nonesuch" --threads $bad --out "$work/no" >"$work/out" 2>&1 || rc=$?
	same "status of --threads $bad" 2 $rc
done
refuses '--csv /nonesuch/x: No such file' timeout 5 "$sim" --experiment rxl --csv /nonesuch/x
refuses "/nonesuch.json: No such file" "$report" --run /nonesuch.json --out "$work/no"
echo '{"experiment": "rxl", "rows": 3}' >"$work/bad.json"
refuses '"rows" is not a list' "$report" --run "$work/bad.json" --out "$work/no"
refuses "$work/nonesuch: No such file" "$report" --sim "$work/nonesuch" --out "$work/no"
[ ! -e "$work/no" ] || die "a run that failed left a folder"
mkdir "$work/old"
refuses "nonesuch: No such file" "$report" --sim nonesuch --out "$work/old"
[ -d "$work/old" ] || die "a run that failed took a folder away that was there"
# A name without a slash is a file that is here.
printf '#!/bin/bash\nexit 5\n' >"$work/fake-sim"
chmod +x "$work/fake-sim"
(cd "$work" && refuses "fake-sim ended with status 5" "$report" --sim fake-sim --out no)

/usr/bin/python3 -c 'import matplotlib' 2>/dev/null ||
	skip "plots were not drawn: matplotlib (Debian: python3-matplotlib) is not installed; results are good"
/usr/bin/python3 - "$work/r" <<'PY' || die "plots are not what they should be"
import struct, sys, xml.etree.ElementTree as xml, zlib
for name in "fit", "bandwidth", "crc", "latency":
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
echo "the experiment does what it says"
