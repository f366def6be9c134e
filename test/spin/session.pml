/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The session handshake (encapsulation.md section 2, reliability.md section 3.6; doc/spin.md): end
 * A asks, end B answers. HELLO(X), WELCOME(X, S), READY(S), then KEEPALIVEs and flits of S; and how
 * a session ends: whoever hears that it is over, by RESET or GOODBYE, asks by CHALLENGE, and GONE is the
 * answer.
 *
 * The network before `calm` is as bad as can be: every frame ever sent may come at any time, any
 * number of times, or never. So no frame is kept: what may come follows from what was ever sent,
 * and an end may as well send all that its state allows at once. Ends crash and forget everything.
 * Somebody else says RESET and GOODBYE of any session at any time, too, and CHALLENGE with the numbers
 * that were asked with; not GONE with a number that he has not seen. With KEYS, GOODBYE has a MAC: it comes
 * only if it was sent, and is believed.
 *
 * Promised (assertions): an end takes flits only of the life that its session was made with, from
 * number 1 on; a session begins once at each end, at B first; none that both ends are in is ended
 * by a frame. With CALM the faults stop at any moment, and every run must end with both ends in one
 * session.
 *
 * Broken on purpose, each by a switch: NO_CHECK, NO_X, DROP_AT_HELLO, COUNTED; NO_CHALLENGE, NO_NUMBER,
 * GONE_SOON, NO_MAC.
 */

#ifndef XS
#define XS 3 /* X drawn in one run, at most */
#endif
#ifndef SS
#define SS 4 /* S drawn in one run, at most, before the calm */
#endif
#ifndef CRASHES
#define CRASHES 2 /* of both ends together */
#endif
#ifndef FLITS
#define FLITS 2 /* of one session, each way */
#endif

#define LIVES (CRASHES + 1)
#define A 0
#define B 1
#define MAX_S (SS + 3) /* with those of the calm */

/* Ends. What is the initiator's or the responder's alone is 0 at the other. */
typedef end_state {
	byte id; /* live session; 0: none */
	byte asked; /* A: X of the HELLO that is out */
	byte wanted; /* A: S that was offered */
	byte last; /* A: session that it was in last */
	byte for_x; /* B: X that the live session answers */
	byte offer, offer_for; /* B: candidate, and the X that it answers */
	byte expected; /* number of the flit expected in the live session */
	byte life; /* which life this is; the end does not know */
	byte partner; /* life of the other end that this session was made with; nor this */
};
end_state end[2];

byte last_x, last_s; /* drawn so far: never again */
byte crashes = CRASHES;
bool calm;

/* What was ever sent. HELLOs: of every X up to last_x. */
byte x_of[MAX_S + 1]; /* WELCOMEs: S was offered for this X; 0: S was not drawn */
byte readied[MAX_S + 1]; /* READYs of S: bit l: from A's life l */
typedef per_session { byte by[MAX_S + 1] };
per_session begun[2]; /* flits, KEEPALIVEs: bit l: life l was in S */
per_session asked[2]; /* CHALLENGEs about S: a number was drawn, by an end in S */
per_session gone[2]; /* GONEs of S, to that number */
#ifdef KEYS
per_session bye[2]; /* GOODBYEs of S */
#endif

/* In the calm: what is under way, at most one frame of a kind; 0: none. */
byte hello_now, welcome_now, welcome_for, ready_now, reset_now;
byte alive_now[2], asked_now[2], gone_now[2];

/* --- what both ends do --- */

inline begin(e, s, of_life)
{
	assert(begun[e].by[s] == 0); /* once */
	assert(e == B || begun[B].by[s] != 0); /* B first */
	assert(end[e].id == 0 || end[1 - e].id != end[e].id); /* the old one was over */
	begun[e].by[s] = begun[e].by[s] | (1 << end[e].life);
	end[e].for_x = end[e].offer_for;
	end[e].id = s;
	end[e].last = (e == A -> s : 0);
	end[e].expected = 1;
	end[e].partner = of_life;
	end[e].offer = 0;
	end[e].offer_for = 0;
	end[e].wanted = 0
}

inline ask_anew(e)
{
	end[e].asked = 0;
	end[e].wanted = 0
}

inline finish(e)
{
	end[e].id = 0;
	end[e].for_x = 0;
	end[e].expected = 0;
	end[e].partner = 0;
	ask_anew(e)
}

inline crash(e)
{
	finish(e);
	end[e].last = 0;
	end[e].offer = 0;
	end[e].offer_for = 0;
	end[e].life++;
#ifdef COUNTED
	last_s = (e == B -> 0 : last_s);
#endif
	crashes--
}

/* A frame that only an end in session `s` sends: flit `n`, or a KEEPALIVE if that is 0. */
inline got_frame(e, s, of_life, n)
{
	if
	:: e == A && end[e].id == 0 && s == end[e].wanted -> begin(e, s, of_life)
	:: else
	fi;
	if
#ifdef NO_CHECK
	:: end[e].id != 0 ->
#else
	:: end[e].id == s ->
#endif
		if
		:: n != 0 && n == end[e].expected ->
			assert(of_life == end[e].partner); /* of this session's life */
			end[e].expected++
		:: else
		fi
	:: else ->
		if
		:: e == B -> reset_now = (calm -> s : 0)
		:: else
		fi
	fi
}

/* --- what B does --- */

inline got_hello(x)
{
	if
	:: (end[B].id != 0 && end[B].for_x == x) || (end[B].offer != 0 && end[B].offer_for == x)
	:: else ->
		last_s++;
		end[B].offer = last_s;
		end[B].offer_for = x;
		x_of[last_s] = x;
#ifdef DROP_AT_HELLO
		assert(end[B].id == 0 || end[A].id != end[B].id);
		finish(B)
#endif
	fi;
	if
	:: calm ->
		welcome_now = (end[B].id != 0 && end[B].for_x == x -> end[B].id : end[B].offer);
		welcome_for = x
	:: else
	fi
}

inline got_ready(s, of_life)
{
	if
	:: s == end[B].offer && s != end[B].id ->
		begin(B, s, of_life)
	:: else
	fi;
	if
	:: calm && s == end[B].id -> alive_now[B] = s
	:: else
	fi
}

/* --- what A does --- */

#define asks (end[A].id == 0)

inline got_welcome(x, s)
{
	if
#ifdef NO_X
	:: asks ->
#else
	:: asks && x == end[A].asked ->
#endif
		end[A].wanted = s;
		readied[s] = readied[s] | (1 << end[A].life);
		ready_now = (calm -> s : 0)
	:: else
	fi
}

/* --- how a session ends --- */

/* Somebody says that it is over. */
inline hears_over(e, s)
{
	if
	:: s == end[e].id ->
#ifdef NO_CHALLENGE
		assert(end[1 - e].id != s);
		finish(e)
#else
		asked[e].by[s] = 1;
		asked_now[e] = (calm -> s : 0)
#endif
	:: else
	fi
}

#ifdef GONE_SOON
#define is_over(e, s) (s != end[e].id)
#else
/* While it asks, A may be about to begin any but the one it was in. */
#define is_over(e, s)                                                                              \
	(s != end[e].id && s != end[e].wanted && s != end[e].offer &&                              \
		(e == B || !asks || s == end[e].last))
#endif

inline got_challenge(e, s)
{
	if
	:: is_over(e, s) ->
		gone[e].by[s] = 1;
		gone_now[e] = (calm -> s : 0)
	:: else
	fi
}

inline got_gone(e, s)
{
	if
	:: s == end[e].id ->
		assert(end[1 - e].id != s);
		assert(s != end[1 - e].wanted);
		finish(e)
	:: else
	fi
}

/* --- the run --- */

#ifdef NO_CHECK
#define heeds(e, s) (end[e].id != 0 || s == end[e].wanted || s == end[e].offer)
#else
/* Other sessions are unknown to it, whatever it is that comes in them. */
#define heeds(e, s) (s == end[e].id || s == end[e].wanted || s == end[e].offer)
#endif
#define agreed (end[A].id != 0 && end[A].id == end[B].id)

active proctype world()
{
	byte s, x, l, n, e;

	/* Before the calm: one thing after another, of all that can happen. */
progress_before:
	do
	/* Some frame about S comes, if one was ever sent. */
	:: atomic {
		select(s : 1 .. SS);
		if
		:: x_of[s] != 0 -> d_step { got_welcome(x_of[s], s) }
		:: s == end[A].id && asked[A].by[s] == 0 -> d_step { hears_over(A, s) }
		:: s == end[B].id && asked[B].by[s] == 0 -> d_step { hears_over(B, s) }
		:: asked[A].by[s] != 0 -> d_step { got_challenge(B, s) }
		:: asked[B].by[s] != 0 -> d_step { got_challenge(A, s) }
#ifdef NO_NUMBER
		:: s == end[A].id -> d_step { got_gone(A, s) }
		:: s == end[B].id -> d_step { got_gone(B, s) }
#endif
		:: gone[A].by[s] != 0 -> d_step { got_gone(B, s) }
		:: gone[B].by[s] != 0 -> d_step { got_gone(A, s) }
#ifdef KEYS
#ifdef NO_MAC
		:: true -> d_step { got_gone(A, s) }
#endif
		:: bye[A].by[s] != 0 -> d_step { got_gone(B, s) }
		:: bye[B].by[s] != 0 -> d_step { got_gone(A, s) }
#endif
		:: true ->
			select(e : A .. B);
			if
			:: heeds(e, s) ->
				select(l : 0 .. LIVES - 1);
				if
				:: e == B && ((readied[s] >> l) & 1) ->
					d_step { got_ready(s, l) }
				:: (begun[1 - e].by[s] >> l) & 1 ->
					select(n : 0 .. FLITS);
					d_step { got_frame(e, s, l, n) }
				:: else
				fi
			:: !heeds(e, s) && begun[1 - e].by[s] != 0 -> d_step { got_frame(e, s, 0, 0) }
			:: else
			fi
		fi;
		d_step { s = 0; l = 0; e = 0; n = 0 }
	   }
	:: atomic {
		last_s < SS && last_x > 0 ->
		select(x : 1 .. last_x);
		d_step { got_hello(x); x = 0 }
	   }
	/* A asks, or gives up what it was offered. */
	:: d_step {
		asks && end[A].asked == 0 && last_x < XS ->
		last_x++;
		end[A].asked = last_x
	   }
	:: end[A].wanted != 0 -> end[A].wanted = 0
	/* An end hears nothing for too long, or crashes. */
	:: atomic {
		select(e : A .. B);
		if
		:: end[e].id != 0 ->
			d_step {
#ifdef KEYS
				bye[e].by[end[e].id] = 1;
#endif
				finish(e)
			}
		:: crashes > 0 -> d_step { crash(e) }
		:: else
		fi;
		e = 0
	   }
#ifdef CALM
	:: break
#endif
	od;

	/* The calm: what was under way is gone, what is sent now arrives. */
	calm = true;
	do
	:: d_step { hello_now != 0 -> x = hello_now; hello_now = 0; got_hello(x); x = 0 }
	:: d_step {
		welcome_now != 0 ->
		s = welcome_now;
		welcome_now = 0;
		got_welcome(welcome_for, s);
		welcome_for = 0;
		s = 0
	   }
	:: d_step {
		ready_now != 0 ->
		s = ready_now;
		ready_now = 0;
		got_ready(s, end[A].life);
		s = 0
	   }
	:: d_step { reset_now != 0 -> s = reset_now; reset_now = 0; hears_over(A, s); s = 0 }
	:: d_step { asked_now[A] != 0 -> s = asked_now[A]; asked_now[A] = 0; got_challenge(B, s); s = 0 }
	:: d_step { asked_now[B] != 0 -> s = asked_now[B]; asked_now[B] = 0; got_challenge(A, s); s = 0 }
	:: d_step { gone_now[A] != 0 -> s = gone_now[A]; gone_now[A] = 0; got_gone(B, s); s = 0 }
	:: d_step { gone_now[B] != 0 -> s = gone_now[B]; gone_now[B] = 0; got_gone(A, s); s = 0 }
	:: d_step {
		alive_now[A] != 0 ->
		s = alive_now[A];
		alive_now[A] = 0;
		got_frame(B, s, end[A].life, 0);
		s = 0
	   }
	:: d_step {
		alive_now[B] != 0 ->
		s = alive_now[B];
		alive_now[B] = 0;
		got_frame(A, s, end[B].life, 0);
		s = 0
	   }
	/* Nothing under way: A asks, who is in a session says so. */
	:: timeout && !agreed && asks ->
		d_step {
			if
			:: end[A].asked == 0 ->
				last_x++;
				end[A].asked = last_x
			:: else
			fi;
			hello_now = end[A].asked
		}
	:: timeout && !agreed && end[A].id != 0 -> alive_now[A] = end[A].id
	:: timeout && agreed -> break
	od
}
