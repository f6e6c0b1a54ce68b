/* DIR/lock: one daemon at a time. Holds `<pid of the daemon> <pid of its guard>`. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/*
 * Waits for the daemon before us, which is about to end, and kills it when it does not: a stopped process would hold the
 * addresses for ever. `patient` false: gives up when there is another one than the one that this process was the guard of,
 * which is waited for.
 */
bool lock_take(const char *directory, pid_t guard, bool patient);
/* Whether nobody holds it. */
bool lock_free(const char *directory);
