#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weft-sig: the manual's examples, every pair of types there and back, reports, refusals.
. "$(dirname "$0")/lib.sh"

cd "$work"
py() { /usr/bin/python3 -c "import sys; $1"; }
sig() { timeout 20 "$app/weft-sig" "$@" 2>err; }
hex() { od -An -v -tx1 "$1" | tr -d ' \n'; }

# The manual's examples
py 'sys.stdout.buffer.write(b"c" * 512)' >c512
sig rx --mem crc32:512 --wire none <c512 >c516
same "example 1.1" "$(hex c512)5f17ce9b" "$(hex c516)"
sig tx --mem crc32:512 --wire none <c516 >out
cmp out c512 || die "example 1 changes data"
same "example 1: reports" "" "$(cat err)"
py 'sys.stdout.buffer.write(b"c" * 516)' >bad516
sig tx --mem crc32:512 --wire none <bad516 >out || die "a mismatch ends with status $?"
cmp out c512 || die "a mismatch changes data"
same "report" '{"error": "bad_guard", "block": 0, "offset": 0, "computed": 2613974879, "stored": 1667457891}' "$(cat err)"
py 'sys.stdout.buffer.write(bytes(range(256)) * 32)' >inc
page=dif:4096,guard=crc,bg=ffff,app=abcd,ref=1234567,remap
sig tx --mem none --wire $page <inc >units
same "example 2" "688fabcd01234567 688fabcd01234568" \
	"$(hex units | cut -c8193-8208) $(hex units | cut -c16401-16416)"
sig rx --mem none --wire $page <units >out
cmp out inc || die "example 2.1 changes data"
same "example 2.1: reports" "" "$(cat err)"

# Every pair there and back, in odd chunks
py 'import random; sys.stdout.buffer.write(random.Random(1).randbytes(3 * 33280))' >data
dif=guard=crc,bg=0,app=1,ref=fffffffe,remap
csum=guard=csum,bg=0,app=2,ref=7,app-ref-escape
for mem in none crc32:512 crc32c:520 crc64:520 dif:512,$dif dif:520,$csum; do
	sig rx --mem $mem --wire none <data >in
	for wire in none crc32:520,seed=0 crc32c:512 crc64:512,seed=0 dif:520,$dif dif:512,$csum; do
		sig tx --mem $mem --wire $wire <in >on || die "$mem to $wire: $(cat err)"
		same "$mem to $wire: reports" "" "$(cat err)"
		dd bs=777 status=none <on | sig rx --mem $mem --wire $wire >back
		cmp back in || die "$mem and back from $wire"
		same "$wire to $mem: reports" "" "$(cat err)"
	done
done

# Reports: one a block, guard before tags; what a mask leaves out is not compared
py 'd = bytearray(open("units", "rb").read()); d[4104 + 5] ^= 1; d[4104 + 4099] = 0; d[4098] = 0
sys.stdout.buffer.write(d)' >hurt
sig rx --mem none --wire $page <hurt >out
same "reports" '{"error": "bad_apptag", "block": 0, "offset": 0, "computed": 43981, "stored": 205}
{"error": "bad_guard", "block": 1, "offset": 4104, "computed": GUARD, "stored": 26767}' \
	"$(sed '2s/"computed": [0-9]*/"computed": GUARD/' err)"
sig rx --mem none --wire $page --check-mask 0f <hurt >out
same "reference tags are right" "" "$(cat err)"
sig rx --mem none --wire $page --check-mask 0xf --block0 3 <hurt >out
same "block0" '{"error": "bad_reftag", "block": 3, "offset": 12312, "computed": 19088746, "stored": 19088743}
{"error": "bad_reftag", "block": 4, "offset": 16416, "computed": 19088747, "stored": 19088744}' "$(cat err)"
sig tx --mem $page --wire ${page/abcd/ffff} --check-mask cf --copy-mask 30 <hurt >out
same "carried tag" "00cd" "$(hex out | cut -c8197-8200)"

# Blocks that are not checked because of their tags are counted: with a CRC nobody could tell.
py 'sys.stdout.buffer.write((b"x" * 512 + b"ab" + b"\xff" * 6) * 3)' >escape
sig tx --mem dif:512,guard=crc,bg=0,app=1,ref=2,app-escape --wire crc32c:512 <escape >out
same "escaped" '{"escaped": 3, "escaped_unprotected": 3}' "$(cat err)"
sig tx --mem dif:512,guard=crc,bg=0,app=1,ref=2,app-ref-escape --wire dif:512,guard=csum,bg=0,app=1,ref=2 --stream <escape >out
same "escaped, and said so" '{"escaped": 3, "escaped_unprotected": 0}' "$(cat err)"

# What does not end where a block does
cat c516 | sig tx --mem none --wire crc32:512 >out && die "4 bytes too many are taken"
same "a partial block" "weft-sig: 516 bytes of input are not whole blocks; nothing was written" "$(cat err)"
[ ! -s out ] || die "a partial block moves data"
sig tx --mem none --wire crc32:512 <c516 >out && die "4 bytes too many are taken of a file"
[ ! -s out ] || die "a partial block of a file moves data"
same "bytes that a file of the system says to have" 0 "$(stat -c %s /proc/version)"
sig tx --mem none --wire crc32:4096 </proc/version >out && die "a file of the system is taken for whole blocks"
same "a file of the system" "$(wc -c </proc/version) bytes of input are not whole blocks; nothing was written" \
	"$(sed 's/^weft-sig: //' err)"
sig tx --mem none --wire crc32:512 </dev/null >out || die "no input is whole blocks, too: $(cat err)"
: >empty
sig tx --mem none --wire crc32:512 <empty >out || die "an empty file is whole blocks, too: $(cat err)"
sig tx --mem crc32:512 --wire crc32:4096 <c516 >out && die "an eighth of a block is taken"
[ ! -s out ] || die "an eighth of a block moves data"
sig tx --stream --mem none --wire crc32:512 <c516 >out && die "4 bytes too many are taken in a stream"
same "a partial block of a stream" "weft-sig: input ended inside block 1: 4 of 512 bytes" "$(cat err)"
same "what came before it" "$(hex c516)" "$(hex out)"
sig tx --stream --mem crc32:512 --wire crc32:4096 <c516 >out && die "an eighth of a block is taken in a stream"
same "a partial output block" "weft-sig: input ended inside block 0 of output" "$(cat err)"
(sleep 1; cat c512) | sig tx --stream --mem none --wire crc32:512 >out
cmp out c516 || die "--stream changes data"
sig tx --mem none --wire none <c516 >out
cmp out c516 || die "none to none changes data"

# Refused
s=$app/weft-sig
misused 'expected one of tx, rx' "$s"
misused 'expected tx or rx, got "up"' "$s" up --mem none --wire none
misused 'expected --mem and --wire, got no --wire' "$s" tx --mem none
misused 'expected one of tx, rx' "$s" tx rx --mem none --wire none
misused 'unrecognized option' "$s" tx --frob
misused 'expected none or TYPE:BLOCK' "$s" tx --mem crc32 --wire none
misused 'expected none, crc32, crc32c' "$s" tx --mem crc16:512 --wire none
misused 'expected a block of 512' "$s" tx --mem crc32:513 --wire none
misused 'expected a block of 512' "$s" tx --mem crc32:0512 --wire none
misused 'expected seed=X' "$s" tx --mem crc32:512,bg=0 --wire none
misused 'expected each key once, got "seed=0" again' "$s" tx --mem crc32:512,seed=0,seed=0 --wire none
for word in guard=csum bg=0 app=2 ref=3 remap app-escape app-ref-escape; do
	misused "expected each key once, got \"$word\" again" "$s" tx --wire none \
		--mem "dif:512,guard=crc,bg=ffff,app=1,ref=2,remap,app-escape,app-ref-escape,$word"
done
misused 'a seed is 0 or ffffffff' "$s" tx --mem crc32:512,seed=1 --wire none
misused 'expected a hex number up to ffffffff' "$s" tx --mem crc32:512,seed=ffffffffffffffff --wire none
misused 'a seed is 0 or ffffffffffffffff' "$s" tx --mem crc64:512,seed=ffffffff --wire none
misused 'dif needs' "$s" tx --mem dif:512 --wire none
misused 'dif needs' "$s" tx --mem dif:512,guard=crc,bg=0,app=0 --wire none
misused 'expected guard=crc or' "$s" tx --mem dif:512,guard=md5 --wire none
misused 'bg is 0 or ffff' "$s" tx --mem dif:512,guard=crc,bg=1,app=0,ref=0 --wire none
misused 'expected a hex number up to ffff' "$s" tx --mem dif:512,guard=crc,bg=0,app=10000,ref=0 --wire none
misused 'app-ref-escape, got "remapp"' "$s" tx --mem dif:512,$dif,remapp --wire none
misused 'expected a hex number up to ff' "$s" tx --mem crc32:512 --wire none --check-mask 100
misused 'expected a hex number up to ff' "$s" tx --mem crc32:512 --wire none --check-mask -1
misused 'same type and block' "$s" tx --mem crc32:512 --wire none --copy-mask ff
misused 'same type and block' "$s" tx --mem crc32:512 --wire crc32c:512 --copy-mask ff
misused 'same type and block' "$s" tx --mem none --wire none --copy-mask ff
misused '--block0: expected a number' "$s" tx --mem crc32:512 --wire none --block0 x
misused 'does not begin a block of output' "$s" tx --mem crc32:512 --wire crc32:4096 --block0 1
refuses_with 1 'standard input' bash -c "exec $s tx --mem none --wire none <&-"
refuses_with 1 'standard output' bash -c "exec $s tx --mem none --wire none </etc/passwd >/dev/full"
refuses_with 1 'standard output: File too large' \
	bash -c "ulimit -f 1; exec $s tx --mem none --wire crc32c:4096 <inc >limited"
# Output that is read again as input would grow without end: a limit keeps the disk.
cp inc self
for stream in "" --stream; do
	refuses_with 1 'input file is output file' \
		bash -c "ulimit -f 1000; exec $s tx --mem none --wire ${page/1234567/0} $stream <self >>self"
	cmp self inc || die "a file that is input and output was changed"
done
"$s" --help | grep -q '^usage: weft-sig tx|rx' || die "--help has no usage"
echo "weft-sig does what it says"
