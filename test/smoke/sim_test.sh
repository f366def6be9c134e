#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-sim: 100 seeds (usertools/test.sh --all: 400) without a violation, those that failed once, the same run for the same seed.
. "$(dirname "$0")/sim_lib.sh"

# The suite's seeds: every kind of fault strikes, every request ends, and nothing is wrong.
seeds=$(few 40 100)
[ -z "${WEFT_TEST_ALL:-}" ] || seeds=400
seeds=${WEFT_SIM_SEEDS:-$seeds}
sim --seeds "$seeds" --json all.json || die "a seed of 1 to $seeds fails: $(j all 'o["failures"]')"
same "seeds" "$seeds" "$(j all 'o["seeds"]')"
same "violations" "0 []" "$(j all 'str(o["violations"]) + " " + str(o["failures"])')"
same "requests that ended" "$(j all 'o["requests"]')" "$(j all 'o["completed"] + o["lost"]')"
same "faults that struck" True "$(j all 'all(n > 0 for n in o["faults"].values())')"
# Equal links that share are rare.
same "domains" "uio ats transfer rights late_poison clients clients_uio restart equal manager True" \
	"$(j all '" ".join(o["domains"]) + " " + str(all(n > 0 or (k == "equal" and o["seeds"] < 200) for k, n in o["domains"].items()))')"
same "flits played back" True "$(j all '0 < o["played_back"]["taken"] < o["played_back"]["old"]')"
same "rights changed" True "$(j all '0 < o["rights_changed"] <= o["faults"]["rights_change"]')"
same "files that do not fit" True "$(j all 'o["refusals"] > 0')"
same "goodbyes" True "$(j all 'o["farewells"] > 0')"
same "parts healed before the rest" True "$(j all 'o["cores"] > 0')"
same "lines of memory that was lost" True "$(j all '0 < o["forgotten"]')"
same "losses heard of, told of and there" True \
	"$(j all '0 < o["losses_heard"] <= o["losses_told"] <= o["dropped"]["uncorrectable_flits"]')"
same "hops" True "$(j all 'o["hops"] > o["seeds"] * 10000')"

# Seeds that failed once
while read -r seed options; do
	# shellcheck disable=SC2086
	sim --seed "$seed" $options || die "--seed $seed $options fails: $(tail -n 3 "$work/text")"
done < <(grep -v '^#' "$here/sim_seeds.txt")

# A seed is a run.
first=$(few 19 17) some=$(few 1 3)
for i in a b; do sim --seed "$first" --seeds "$some" --json $i.json --verbose; mv "$work/text" "$work/$i.txt"; done
cmp "$work/a.json" "$work/b.json" || die "two runs of the same seeds differ"
same "lines of seeds" "$(grep ^seed "$work/a.txt")" "$(grep ^seed "$work/b.txt")"
sim --seed $((first + 1)) --seeds "$some" --json c.json
[ "$(j a 'o["digest"]')" != "$(j c 'o["digest"]')" ] || die "other seeds are the same run"
WEFT_CPU=scalar sim --seed "$first" --seeds "$some" --json s.json
cmp "$work/a.json" "$work/s.json" || die "the run depends on the kernels"
echo "weft-sim finds nothing wrong, and the same each time"
