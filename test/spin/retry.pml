/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Retry of rxl mode between two ends, both directions, Acks and Naks riding on the flits of the
 * other direction (encapsulation.md section 3, reliability.md section 3.6; doc/spin.md).
 *
 * Promised: every flit delivered is the next true one, and no flit is given up before it was
 * delivered (assertions). With FLITS, so many flits go each way and then all rests: every run must
 * end (no cycle) with everything delivered and acknowledged (no process left behind).
 *
 * Every place in a stream is kept relative to the flit that its receiver expects, flit 0: the rules
 * look at differences only. So without FLITS the streams have no end and the states are still few.
 * A number is the place modulo M; what a place really is, only the assertions look at.
 *
 * GAP: numbers are read from intact flits out of turn, and single flits are asked for; else go back
 * N. Broken on purpose: NO_ISN, NO_RENAK, ANY_ACK, RESTART, OLD without AGE, and a W too large.
 */

#ifndef M
#define M 8 /* numbers */
#endif
#ifndef W
#define W 2 /* window: most flits unacknowledged */
#endif
#ifndef ROOM
#define ROOM 2 /* flits on the wire, each way */
#endif
#define AT_WILL 255
#ifndef FAULTS
#define FAULTS AT_WILL /* flits lost or corrupted in one run, both directions together */
#endif
#ifndef EARLY
#define EARLY AT_WILL /* times that a timer goes off although something is under way */
#endif
#ifndef RX
#define RX W /* room of the Rx buffer (GAP) */
#endif

#define HALF (M / 2)
#define number(place) ((((place) % M) + M) % M)

mtype = { DATA, NOP, BAD }; /* flits; BAD: corrupt */
mtype = { NONE, ACK, NAK, ONE }; /* their field: Nak standard, Nak selective */
mtype = { PASS, LOSE, SPOIL }; /* what becomes of a flit */

typedef end_state {
	/* Sender. Places of its own stream: acked <= cursor <= next. */
	short acked; /* oldest flit that is not acknowledged */
	short cursor; /* flit to send next, replayed or new */
	short next; /* first flit never sent */
	byte again; /* bit i: acked + i was asked for by itself */
	bit nudge; /* a NOP must tell where the stream ends */
	/* Receiver. All of it counts from the flit expected. */
	byte horizon; /* one more than the newest known to be sent */
	byte held; /* bit i: flit i waits in the Rx buffer */
	byte ask; /* bit i: flit i must be asked for by itself */
	byte bad; /* bad flits since the last Nak */
	bit asking; /* something was asked for that has not come */
	bit go_back; /* a standard Nak must go out */
	bit owed; /* an Ack may go out */
	bit overflowed;
};
end_state end[2];

/* What goes from an end: flit, its place, its field, the place that names in the other stream. */
chan wire[2] = [ROOM] of { mtype, short, mtype, short };

byte faults = FAULTS;
byte early = EARLY;

#ifdef FLITS
#ifndef BACK
#define BACK FLITS /* so many from end 1 to end 0 */
#endif
byte left[2]; /* flits that still have to be sent for the first time */
#define MORE(e) (left[e] > 0)
#define COUNT(e) left[e]--
#else
/* Without an end. BACK: only from end 0 to end 1. */
#ifdef BACK
#define MORE(e) ((e) == 0)
#else
#define MORE(e) true
#endif
#define COUNT(e) skip
#endif

#ifdef OLD
/* One flit that was seen on the wire, to come once more at any time. */
mtype old_kind, old_field;
short old_place, old_ref;
byte old_from = 2; /* end that sent it; 2: none yet; 3: it has come */
#endif

#ifdef RESTART
byte skew; /* by so much end 1 expects a wrong number */
bit restarted;
#define number_at(e, place) (e == 1 -> number(place - skew) : number(place))
#else
#define number_at(e, place) number(place)
#endif

/* Scratch of one step. */
hidden mtype kind, field;
hidden short place, ref;
hidden mtype kind2, field2;
hidden short place2, ref2;
hidden byte by, n;
hidden byte in_turn;

/* --- sending --- */

#define sender_rests(e) (end[e].again == 0 && end[e].cursor == end[e].next)
#define has_room(e) (end[e].next - end[e].acked < W)
#define must_say(e) (end[e].go_back || end[e].ask != 0 || end[e].owed || end[e].nudge)

/* The field of a flit that goes out; `acks`: take the chance to acknowledge. */
inline fill_field(e, acks)
{
	field = NONE;
	ref = 0;
	if
#ifdef GAP
	:: end[e].go_back ->
#elif defined(NO_RENAK)
	:: end[e].go_back ->
#else
	/* A Nak in a flit that is out of turn there cannot be read, so it stands in all of them. */
	:: end[e].go_back || end[e].asking ->
#endif
		field = NAK;
		end[e].go_back = 0;
		end[e].asking = 1;
		end[e].ask = 0;
		end[e].owed = 0
	:: else ->
		if
		:: end[e].ask != 0 ->
			field = ONE;
			do
			:: ((end[e].ask >> ref) & 1) == 0 -> ref++
			:: else -> break
			od;
			end[e].ask = end[e].ask & ~(1 << ref)
		:: else ->
			if
			:: acks ->
				field = ACK;
				end[e].owed = 0
			:: else
			fi
		fi
	fi
}

/* Put kind, place, field, ref on the wire, or not. */
inline put(e, fate)
{
	if
	:: fate == PASS -> wire[e]!kind, place, field, ref
	:: fate == SPOIL -> wire[e]!BAD, 0, NONE, 0
	:: fate == LOSE
	fi;
	if
	:: fate == PASS
	:: else -> faults = (faults == AT_WILL -> faults : faults - 1)
	fi
}

inline keep_old(e, keep)
{
#ifdef OLD
	if
	:: keep ->
		old_kind = kind;
		old_place = place;
		old_field = field;
		old_ref = ref;
		old_from = e
	:: else
	fi
#else
	skip
#endif
}

inline send(e, is_new, fate, acks, keep)
{
	kind = DATA;
	if
	:: is_new ->
		place = end[e].next;
		end[e].next++;
		end[e].cursor++;
		COUNT(e)
	:: end[e].again != 0 ->
		n = 0;
		do
		:: ((end[e].again >> n) & 1) == 0 -> n++
		:: else -> break
		od;
		place = end[e].acked + n;
		end[e].again = end[e].again & ~(1 << n)
	:: else ->
		if
		:: end[e].cursor < end[e].next ->
			place = end[e].cursor;
			end[e].cursor++
		:: else ->
			kind = NOP;
			place = end[e].next;
			end[e].nudge = 0
		fi
	fi;
	fill_field(e, (acks || kind == NOP));
	keep_old(e, keep);
	put(e, fate)
}

inline rewind(e)
{
	end[e].cursor = end[e].acked;
	end[e].again = 0
}

/* --- receiving: what the field says of this end's own stream --- */

inline free_to(e)
{
	end[e].acked = end[e].acked + n;
	end[e].again = end[e].again >> n;
	if
	:: end[e].cursor < end[e].acked -> end[e].cursor = end[e].acked
	:: else
	fi;
	assert(end[e].acked <= 0) /* given up, but not delivered */
}

inline take_field(e)
{
	n = number(ref - end[e].acked);
	if
	:: field == NONE
#ifndef ANY_ACK
	:: field != NONE && n > end[e].next - end[e].acked /* cannot be: ignored */
	:: field != NONE && n <= end[e].next - end[e].acked ->
#else
	:: field != NONE ->
#endif
		if
		:: field == ACK -> free_to(e)
		:: field == NAK ->
			free_to(e);
			rewind(e);
			if
			:: end[e].acked == end[e].next -> end[e].nudge = 1
			:: else
			fi
		:: field == ONE ->
			if
			:: end[e].acked + n < end[e].cursor ->
				end[e].again = end[e].again | (1 << n)
			:: else
			fi
		fi
	fi
}

/* --- receiving: the flit itself --- */

/* Flit 0 is delivered: the next one is flit 0 now, for all who speak of this stream. */
inline step(e)
{
	end[1 - e].acked--;
	end[1 - e].cursor--;
	end[1 - e].next--;
	n = len(wire[1 - e]);
	do
	:: n > 0 ->
		wire[1 - e]?kind2, place2, field2, ref2;
		place2 = (kind2 == BAD -> 0 : place2 - 1);
		wire[1 - e]!kind2, place2, field2, ref2;
		n--
	:: else -> break
	od;
	n = len(wire[e]);
	do
	:: n > 0 ->
		wire[e]?kind2, place2, field2, ref2;
		ref2 = (field2 == NONE -> 0 : ref2 - 1);
		wire[e]!kind2, place2, field2, ref2;
		n--
	:: else -> break
	od;
#ifdef OLD
	/* However old: what matters is its number, and that it is old. */
	if
	:: old_from == 1 - e ->
		old_place--;
		if
		:: old_place < -3 * M -> old_place = old_place + M
		:: else
		fi
	:: old_from == e && old_field != NONE ->
		old_ref--;
		if
		:: old_ref < -3 * M -> old_ref = old_ref + M
		:: else
		fi
	:: else
	fi;
#endif
	end[e].horizon = (end[e].horizon == 0 -> 0 : end[e].horizon - 1);
	end[e].held = end[e].held >> 1;
	end[e].ask = end[e].ask >> 1;
	end[e].bad = 0;
	end[e].owed = 1
}

inline gap_closed(e)
{
	end[e].asking = 0;
	end[e].ask = 0;
	end[e].overflowed = 0;
	end[e].bad = 0
}

inline deliver(e)
{
	assert(place == 0); /* the next true flit */
	step(e);
	do
	:: end[e].horizon > 0 && (end[e].held & 1) -> step(e)
	:: else -> break
	od;
	if
	:: end[e].horizon == 0 -> gap_closed(e)
	:: else
	fi
}

/* All that is missing before the horizon. */
inline ask_all(e)
{
	end[e].ask = ~end[e].held & ((1 << end[e].horizon) - 1);
	end[e].asking = 1
}

/* All flits before `by` have been sent. */
inline gap(e)
{
	if
	:: by > end[e].horizon ->
		if
		:: end[e].go_back
		:: else ->
			n = ((1 << by) - 1) & ~((1 << end[e].horizon) - 1);
			end[e].ask = end[e].ask | n;
			end[e].asking = 1;
			end[e].bad = 0
		fi;
		end[e].horizon = by
	:: else
	fi
}

inline too_early(e)
{
	gap(e);
	end[e].horizon = (end[e].horizon == by -> by + 1 : end[e].horizon);
	if
	:: by <= RX ->
		assert(place == by || (end[e].held >> by) & 1); /* kept for what it is */
		end[e].held = end[e].held | (1 << by);
		end[e].ask = end[e].ask & ~(1 << by)
	:: else ->
		end[e].go_back = end[e].go_back | !end[e].overflowed;
		end[e].overflowed = 1
	fi
}

inline bad_flit(e)
{
	if
#ifndef GAP
	:: !end[e].asking && !end[e].go_back -> end[e].go_back = 1
	:: else ->
#else
	:: true ->
#endif
#ifndef NO_RENAK
		end[e].bad++;
		if
		:: end[e].bad < W
		:: else ->
			end[e].bad = 0;
			if
			:: end[e].asking && end[e].horizon > 0 -> ask_all(e)
			:: else -> end[e].go_back = 1
			fi
		fi
#else
		skip
#endif
	fi
}

/* Take kind, place, field, ref. */
inline receive(e)
{
	by = number_at(e, place);
	in_turn = (by == 0);
#ifdef NO_ISN
	/* The field holds a number or an Ack: with an Ack, the flit passes for the next one. */
	in_turn = in_turn || (kind == DATA && field != NONE);
#endif
	if
	:: kind == BAD -> bad_flit(e)
#ifndef GAP
	:: kind != BAD && !in_turn -> bad_flit(e)
#endif
	:: else ->
		take_field(e);
		if
		:: in_turn && kind == DATA -> deliver(e)
		:: in_turn && kind == NOP ->
			if
			:: end[e].horizon == 0 -> gap_closed(e)
			:: else
			fi
#ifdef GAP
		:: !in_turn && kind == NOP ->
			if
			:: by < HALF -> gap(e)
			:: else
			fi
		:: !in_turn && kind == DATA ->
			if
			:: by < HALF -> too_early(e)
			:: else -> end[e].owed = 1 /* come before; the Ack may be lost */
			fi
#endif
		fi
	fi
}

/* --- timers --- */

/*
 * A timer goes off when nothing moves any more, or early. All that run go off before one of them
 * does for the second time: they are of about the same length.
 */
byte gone_off; /* bits: those that did */
#define RETRY(e) (1 << (e))
#define ASK(e) (4 << (e))
#define retry_runs(e) (sender_rests(e) && end[e].acked < end[e].next)
#ifdef NO_RENAK
#define ask_runs(e) false
#else
#define ask_runs(e) (end[e].asking && !must_say(e))
#endif
#define goes_off(timer) ((timeout && (gone_off & timer) == 0) || early > 0)
#define all_went_off \
	(gone_off != 0 && (!retry_runs(0) || (gone_off & RETRY(0))) && \
		(!retry_runs(1) || (gone_off & RETRY(1))) && \
		(!ask_runs(0) || (gone_off & ASK(0))) && (!ask_runs(1) || (gone_off & ASK(1))))

inline goes_off_now(timer)
{
	gone_off = gone_off | timer;
	early = (early == 0 || early == AT_WILL -> early : early - 1);
#ifndef FLITS
	gone_off = 0
#endif
}

active [2] proctype link_end()
{
	mtype fate = PASS;
	bit acks, is_new, keep;
#define e _pid
#ifdef FLITS
	left[e] = (e == 0 -> FLITS : BACK);
#endif
	do
	/* Send: again, replay, new, or a NOP. */
	:: atomic {
		nfull(wire[e]) &&
			(!sender_rests(e) || (has_room(e) && MORE(e)) || must_say(e)) ->
		if
		:: sender_rests(e) && has_room(e) && MORE(e) -> is_new = 1
		:: !sender_rests(e) || must_say(e)
		fi;
		if
		:: true
		:: faults > 0 -> fate = LOSE
		:: faults > 0 -> fate = SPOIL
		fi;
		if
		:: true
		:: end[e].owed -> acks = 1
		fi;
#ifdef OLD
		if
		:: true
		:: old_from == 2 -> keep = 1
		fi;
#endif
		d_step {
			send(e, is_new, fate, acks, keep);
			fate = PASS;
			acks = 0;
			is_new = 0;
			keep = 0
		}
	   }
	:: d_step {
		nempty(wire[1 - e]) ->
		wire[1 - e]?kind, place, field, ref;
		receive(e)
	   }
	/* The retry time-out: all again, or with gap decoding the oldest flit and a NOP. */
	:: atomic {
		goes_off(RETRY(e)) && retry_runs(e) ->
		d_step {
			goes_off_now(RETRY(e));
			rewind(e)
		}
	   }
#ifdef GAP
	:: atomic {
		goes_off(RETRY(e)) && retry_runs(e) ->
		d_step {
			goes_off_now(RETRY(e));
			end[e].again = 1;
			end[e].nudge = 1
		}
	   }
#endif
#ifndef NO_RENAK
	/* What was asked for did not come. */
	:: atomic {
		goes_off(ASK(e)) && ask_runs(e) ->
		d_step {
			goes_off_now(ASK(e));
			if
			:: end[e].horizon > 0 -> ask_all(e)
			:: else -> end[e].go_back = 1
			fi
		}
	   }
#endif
#ifdef OLD
#ifdef AGE
	:: d_step {
		old_from == 1 - e && old_place > -AGE && old_ref > -AGE ->
#else
	:: d_step {
		old_from == 1 - e ->
#endif
		kind = old_kind;
		place = old_place;
		field = old_field;
		ref = old_ref;
		old_from = 3;
		old_kind = 0;
		old_place = 0;
		old_field = 0;
		old_ref = 0;
		receive(e)
	   }
#endif
#ifdef RESTART
	/* Its number 0 may fall anywhere in a stream without an end. */
	:: atomic {
		e == 1 && !restarted ->
		if
		:: skew = 1
		:: skew = M - 1
		fi;
		restarted = 1
	   }
#endif
#ifdef FLITS
	:: timeout && e == 0 && all_went_off -> gone_off = 0
	:: timeout && left[0] == 0 && left[1] == 0 && end[0].acked == end[0].next &&
		end[1].acked == end[1].next && !end[0].asking && !end[1].asking -> break
#endif
	od
#undef e
}
