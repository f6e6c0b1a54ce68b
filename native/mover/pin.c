#include "pin.h"

void pin_here(struct pin *pin)
{
	int cpu = sched_getcpu();
	cpu_set_t here;

	CPU_ZERO(&here);
	if (sched_getaffinity(0, sizeof(pin->before), &pin->before) < 0)
		CPU_ZERO(&pin->before);
	if (cpu < 0 || CPU_COUNT(&pin->before) < 2)
		return;
	CPU_SET((size_t)cpu, &here);
	sched_setaffinity(0, sizeof(here), &here);
}

void pin_release(const struct pin *pin)
{
	if (CPU_COUNT(&pin->before) >= 2)
		sched_setaffinity(0, sizeof(pin->before), &pin->before);
}
