/*
 * Keeps the mover on one processor during a move. Every IPv6 address that is bound leaves the kernel a piece of work that
 * takes the same lock as the next address (RTNL), on the processor it was bound on. There it waits for a process of
 * higher priority; on another one, both would hand the lock to and fro for each address, which takes ten times as long.
 */
#pragma once
#include <sched.h>

struct pin {
	cpu_set_t before;
};

void pin_here(struct pin *pin);
void pin_release(const struct pin *pin);
