/* Attackers stand for other machines: they use what processor time the machine under test leaves. */
#ifndef BENCH_IDLE_PRIORITY_H
#define BENCH_IDLE_PRIORITY_H
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

static inline void become_idle(void)
{
	struct sched_param param = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sched_setscheduler(0, SCHED_IDLE, &param);
}
#endif
