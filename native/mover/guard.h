/*
 * A second process that does nothing but wait for the end of the mover: keepalived does not start its script again. A
 * mover that dies without a farewell is started again, and addresses that nobody takes over are unbound.
 */
#pragma once
#include "keepalived.h"

struct guard {
	pid_t pid;
	int fd; /* its pipe; -1: none */
};

/* How the mover was called, to call it so again. `resumed`: how often that was done in a row. */
void guard_start(struct guard *guard, const struct keepalived *keepalived, unsigned resumed, char *const *paths);

enum farewell {
	FAREWELL_END = 'e',	 /* nothing is left */
	FAREWELL_HAND_OVER = 'h' /* addresses are left to the next mover */
};
void guard_farewell(struct guard *guard, enum farewell how);
