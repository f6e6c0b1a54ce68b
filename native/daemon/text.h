/* Parses lines of the agent, and formats text for the agent. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"

/* A decimal number and nothing else, within bounds. */
bool text_number(const char *text, uint64_t least, uint64_t most, uint64_t *out);
/* Splits a line at single spaces, in place; 0 when there are more than `most` fields. */
size_t text_split(char *line, char **fields, size_t most);
/* Appends as printf does. */
__attribute__((format(printf, 2, 3))) void text_put(struct buf *out, const char *format, ...);
