/* The wanted addresses: DIR/addresses, which the agent replaces as a whole. */
#pragma once
#include "mover.h"

/* Reads the file. False when it is missing or its first line is not the generation. */
bool table_read(struct mover *mover, struct table *out);
void table_free(struct table *table);
/* By place, then address. */
int entry_compare(const void *one, const void *other);
