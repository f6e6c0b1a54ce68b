/*
 * Commands of the agent, and their answers, a line each:
 *
 *   list                    the names of the lists of users that are here, then a newline
 *   put NAME LENGTH         and then so many bytes of a list: `ok`, or what is wrong
 *   drop NAME               `ok`
 */
#pragma once
#include <stdbool.h>

#include "../daemon/memory.h"

/* Does what is complete, and leaves the rest. False for what is no command. */
bool agent_read(struct buf *in, struct buf *out);
