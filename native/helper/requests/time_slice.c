/*
 * time-slice: sets how long a thread may run while others wait. Kernels from 6.12 on use it (`sched_runtime` of
 * SCHED_OTHER); older ones accept it but give all threads the same.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "operations.h"

/* The first version of the kernel's `struct sched_attr` (man 2 sched_setattr). The C library has none before 2.41. */
struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

/* The limits of the values that the kernel accepts. */
#define LEAST_US 100
#define MOST_US 100000

bool op_time_slice(struct request *request)
{
	struct attributes attributes = {.size = sizeof(attributes)};
	int64_t pid, us;

	if (!field_number(request, request->fields, "pid", 1, INT32_MAX, &pid) ||
	    !field_number(request, request->fields, "us", LEAST_US, MOST_US, &us))
		return false;
	if (syscall(SYS_sched_getattr, (pid_t)pid, &attributes, sizeof(attributes), 0) < 0)
		return fail_errno(request, errno, "pid %lld", (long long)pid);
	attributes.runtime = (uint64_t)us * 1000;
	if (syscall(SYS_sched_setattr, (pid_t)pid, &attributes, 0) < 0)
		return fail_errno(request, errno, "pid %lld", (long long)pid);
	return reply_done(request);
}
