/* DIR/lock: one daemon at a time. Holds `<pid of the daemon> <pid of its guard>`. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/*
 * Takes the lock. Waits for an earlier daemon to end and kills it if it does not, since a stopped process would keep the
 * addresses for ever. With `patient` false, waits only for the daemon that `guard` watched, and fails if another holds it.
 */
bool lock_take(const char *directory, pid_t guard, bool patient);
/* Whether the lock is free. */
bool lock_free(const char *directory);
