/* What every measuring program shares: the clock, and priority on a busy machine. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H
#include <sched.h>
#include <stdbool.h>
#include <time.h>

#define MS 1000000LL
#define SECOND 1000000000LL

static inline long long clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static inline long long now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* SCHED_FIFO for this thread, so that a busy machine does not fake gaps; false if not allowed. */
static inline bool become_realtime(int priority)
{
	struct sched_param param = { .sched_priority = priority };
	return sched_setscheduler(0, SCHED_FIFO, &param) == 0;
}
#endif
