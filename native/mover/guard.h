/*
 * A watchdog process that waits for the mover to end, since keepalived does not restart its script. It restarts a mover
 * that dies without a farewell. Addresses that no mover takes over are unbound.
 */
#pragma once
#include "keepalived.h"

struct guard {
	pid_t pid;
	int fd; /* its pipe; -1: none */
};

/* Starts the watchdog. `paths` are the arguments for a restart; `resumed` is how many restarts there were in a row. */
void guard_start(struct guard *guard, const struct keepalived *keepalived, unsigned resumed, char *const *paths);

enum farewell {
	FAREWELL_END = 'e',	 /* nothing is left */
	FAREWELL_HAND_OVER = 'h' /* addresses are left to the next mover */
};
void guard_farewell(struct guard *guard, enum farewell how);
