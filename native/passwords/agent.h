/*
 * The agent's commands. Each is a line, and so is its answer:
 *
 *   list                    answers with the names of all lists of users
 *   put NAME LENGTH         followed by a list of LENGTH bytes; answers `ok`, or what is wrong with the list
 *   drop NAME               answers `ok`
 */
#pragma once
#include <stdbool.h>

#include "../daemon/memory.h"

/* Executes the complete commands in `in`, and leaves the rest. False after an invalid command. */
bool agent_read(struct buf *in, struct buf *out);
