#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weftctl top in a terminal of 80 columns: what it shows, its keys, other sizes, and that it gives the terminal back.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$work
cd "$work"
refuses 'start weftd' "$app/weftctl" top
command -v tmux >/dev/null || skip 'tmux is not installed'
cat >lab.yaml <<-'Y'
	fabric: seen
	nodes:
	  - {name: h0, kind: host, pid: 0x101}
	  - {name: s0, kind: switch, pid: 0x010}
	  - {name: g0, kind: gfd, pid: 0x200, memory: 4M}
	links: [{a: h0, b: s0, driver: ring}, {a: s0, b: g0, driver: ring}]
	workloads:
	  - {on: h0, kind: mem, requests: 0, rate: 200, outstanding: 16, timeout_ms: 60000}
Y
"$app/weftd" --topology lab.yaml --idle yield >weftd.log 2>weftd.err &
daemon=$!
pids+=($daemon)
wait_for 60 test -S "weft/weftd-$daemon.ctl"
refuses 'expected a terminal; weftctl show nodes --watch 1' "$app/weftctl" top
refuses "--node h9: no daemon of this user runs such a node" "$app/weftctl" top --node h9
misused 'seconds of 0.1 to 3600' "$app/weftctl" top --watch 0

export TMUX_TMPDIR=$work
server=0 # each terminal has one of its own: one that was told to end may still be there
mux() { tmux -L "weft-$$-$server" -f /dev/null "$@"; }
cleanup() { mux kill-server 2>/dev/null || true; }
# screen PATTERN: what stands there now
screen() { mux capture-pane -p -t top | grep -qE -- "$1"; }
# begin [VARIABLE=VALUE...] COMMAND...: in a terminal of its own
begin() {
	mux kill-server 2>/dev/null || true
	server=$((server + 1))
	mux new-session -d -s top -x 80 -y 24 "env LC_ALL=C.UTF-8 $* 2>last; echo \"ended \$?, \$(cat last)\"; sleep 100"
}
begin "$app/weftctl" top --watch 0.2
wait_for 60 screen '^fabric seen: 3 nodes of 1 daemon, each 0.2 s +..:..:..$'
for node in 'h0 +host +1/1' 's0 +switch +0/0' 'g0 +gfd +1/1'; do
	screen "^$node " || die "no line of $node: $(mux capture-pane -p -t top)"
done
wait_for 60 screen '^h0 +host +1/1 +[0-9.]+ +[0-9.]+ +0 +0 +[0-9.]+ +[0-9.e+]+ +[▁▂▃▄▅▆▇█]+$'
same 'lines of a page' 24 "$(mux capture-pane -p -t top | wc -l)"
# A daemon that stands still is seen to, and so is that it goes on.
kill -STOP $daemon
wait_for 20 screen "^h0 +host +- +weftd $daemon does not answer$"
wait_for 20 screen '^fabric seen: 3 nodes of 1 daemon, 1 silent, '
kill -CONT $daemon
wait_for 20 screen '^h0 +host +1/1 '
wait_for 20 screen '^h0 +host +1/1 +[0-9.]+ +[0-9.]+ +0 +0 '
mux send-keys -t top p
wait_for 20 screen 'PAUSED'
mux send-keys -t top s
wait_for 20 screen 'sort by order'
wait_for 20 screen '^s0 ' # passes on what both send
same 'the node with the most load' s0 "$(mux capture-pane -p -t top | sed -n '3s/ .*//p')"
mux send-keys -t top s Down End NPage Home x # at the end of the list, and a key without a meaning
wait_for 20 screen 'sort by load'
mux resize-window -t top -x 60 -y 10
wait_for 20 screen 'expected 74 columns and 8 lines, got 60 and 10'
mux resize-window -t top -x 80 -y 4
wait_for 20 screen 'expected 74 columns and 8 lines, got 80 and 4'
mux send-keys -t top NPage
sleep 0.3 # the size is asked for again with each key
mux resize-window -t top -x 100 -y 8
wait_for 20 screen '^q quit'
wait_for 20 screen '^g0 +gfd '
mux send-keys -t top q
wait_for 20 screen '^ended 0, ?$'

# A prompt: completion by the daemons, the status of what failed, Ctrl-C, and a history.
keys() { mux send-keys -t top "$@"; }
last() { mux capture-pane -p -t top | grep . | tail -n 1; }
is_last() { [ "$(last)" = "$1" ]; }
ready() { wait_for 20 is_last "weftctl${1:+ [$1]}>"; }
begin ASAN_OPTIONS=detect_leaks=0 XDG_STATE_HOME="$work/state" "$app/weftctl" # what editline forgets
ready
keys 'sho' Tab
wait_for 20 is_last 'weftctl> show'
keys 'rou' Tab '--no' Tab 'h' Tab Enter
wait_for 20 screen '^h0 +g0 +0x200 +0$'
ready
keys 'trace s' Tab
wait_for 20 is_last 'weftctl> trace s0.'
keys Tab
wait_for 20 screen '^s0\.0 +s0\.1$'
keys C-c
wait_for 20 screen '^weftctl> trace s0\.\^C$'
ready
keys 'mem read g' Tab '0 1' Enter
wait_for 20 screen '^weftctl> mem read g0 0 1$'
wait_for 20 screen '^00000001$'
ready
keys 'capture stop s0.0' Enter
ready 1
keys 'log level de' Tab Enter
wait_for 20 screen '^weftctl \[1\]> log level detail$'
ready
keys 'events --follow' Enter
wait_for 20 screen 'session with h0 is up$'
keys C-c
ready
keys 'help fm pa' Enter
ready 2
keys ' show fabric' Enter
wait_for 20 screen '^seen +rxl '
ready
same 'mode of the history' 600 "$(stat -c %a state/weft/weftctl_history)"
grep -q '^capture\\040stop\\040s0.0' state/weft/weftctl_history || die "history: $(cat state/weft/weftctl_history)"
! grep -q 'fabric' state/weft/weftctl_history || die 'a line that begins with a blank is kept'
keys C-d
wait_for 20 screen '^ended 0, weftctl: .* being captured'
rm state/weft/weftctl_history
mkdir state/weft/weftctl_history # it cannot be written, and nobody is told
begin ASAN_OPTIONS=detect_leaks=0 XDG_STATE_HOME="$work/state" "$app/weftctl" # what editline forgets
ready
keys 'show nonesuch' Enter
ready 2
keys 'exit' Enter
wait_for 20 screen 'ended 0, weftctl: show: expected one of'

# A locale without the bars, a terminal that nobody knows, signals.
begin LC_ALL=C "$app/weftctl" top --watch 0.2 --node g0
wait_for 60 screen '^g0 +gfd +1/1 .* [-.:=+*#]+$'
! screen '^h0' || die '--node shows others'
pkill -TERM -f "weftctl top --watch 0.2 --node g0" -P "$(mux display-message -p -t top '#{pane_pid}')"
wait_for 20 screen '^ended 0, ?$'
begin TERM=nonesuch ASAN_OPTIONS=detect_leaks=0 "$app/weftctl" top # what curses forgets
wait_for 20 screen 'ended 1, weftctl: TERM: expected a terminal that curses knows, got "nonesuch"'

begin TERM=dumb "$app/weftctl" top
wait_for 20 screen '^ended 1, weftctl: TERM: expected a terminal whose cursor can be'

# The daemon goes: the last line stands on the terminal as it was.
begin "$app/weftctl" top --watch 0.2
wait_for 60 screen '^h0'
kill -TERM $daemon
wait $daemon || die "weftd ended with $?: $(cat weftd.err)"
wait_for 20 screen 'ended 1, weftctl: no daemon answers any more'
echo 'weftctl top shows the fabric on any terminal'
