/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Both intervals ask for the parameter at which the count seen is just still likely, by bisection
 * on the regularized incomplete beta and gamma functions (continued fractions by Lentz, series).
 */

#include "stats.h"

#include <math.h>

#define STEPS 400
#define TINY 1e-300

/* Continued fraction of the incomplete beta function, for x < (a + 1) / (a + b + 2). */
static double
stats_beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < TINY ? TINY : d);
	h = d;
	for (int m = 1; m < 100000; m++) {
		double t = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double step;

		for (int odd = 0; odd < 2; odd++) {
			d = 1 + t * d;
			c = 1 + t / c;
			d = 1 / (fabs(d) < TINY ? TINY : d);
			c = fabs(c) < TINY ? TINY : c;
			step = c * d;
			h *= step;
			t = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		}
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return h;
}

/* Regularized incomplete beta function. */
static double
stats_beta(double x, double a, double b)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * stats_beta_fraction(x, a, b) / a;
	return 1 - front * stats_beta_fraction(1 - x, b, a) / b;
}

/* Regularized lower incomplete gamma function. */
static double
stats_gamma_lower(double a, double x)
{
	double front = x <= 0 ? 0 : exp(a * log(x) - x - lgamma(a));

	if (x < a + 1) {
		double term = 1 / a, sum = term;

		for (double n = a + 1; fabs(term) > sum * 1e-16; n++) {
			term *= x / n;
			sum += term;
		}
		return front * sum;
	}
	{
		double b = x + 1 - a, c = 1 / TINY, d = 1 / b, h = d;

		for (int i = 1; i < 100000; i++) {
			double an = -i * (i - a), step;

			b += 2;
			d = an * d + b;
			c = b + an / c;
			d = 1 / (fabs(d) < TINY ? TINY : d);
			c = fabs(c) < TINY ? TINY : c;
			step = c * d;
			h *= step;
			if (fabs(step - 1) < 1e-15)
				break;
		}
		return 1 - front * h;
	}
}

struct stats_range
stats_share(uint64_t events, uint64_t n, double confidence)
{
	const double tail = (1 - confidence) / 2, k = (double)events, all = (double)n;
	struct stats_range r = { 0, 1 };

	for (int end = 0; end < 2; end++) {
		double low = 0, high = 1;

		if (events == (end == 0 ? 0 : n))
			continue;
		for (int i = 0; i < STEPS && high - low > 1e-16 * high; i++) {
			double p = (low + high) / 2;
			/* Grows with p: chance of more than was seen, or of that much. */
			double more = end == 0 ? stats_beta(p, k, all - k + 1)
			                       : stats_beta(p, k + 1, all - k);

			if (more < (end == 0 ? tail : 1 - tail))
				low = p;
			else
				high = p;
		}
		*(end == 0 ? &r.low : &r.high) = (low + high) / 2;
	}
	return r;
}

struct stats_range
stats_count(uint64_t events, double confidence)
{
	const double tail = (1 - confidence) / 2, k = (double)events;
	struct stats_range r = { 0, -log(1 - confidence) };

	for (int end = 0; end < 2 && events != 0; end++) {
		double low = 0, high = 10 + k * 4;

		for (int i = 0; i < STEPS && high - low > 1e-15 * high; i++) {
			double mean = (low + high) / 2;
			double more = stats_gamma_lower(end == 0 ? k : k + 1, mean);

			if (more < (end == 0 ? tail : 1 - tail))
				low = mean;
			else
				high = mean;
		}
		*(end == 0 ? &r.low : &r.high) = (low + high) / 2;
	}
	return r;
}
