/* Addresses of interfaces, over rtnetlink. */
#pragma once
#include "mover.h"

/* Messages sent at a time: each may be answered by an error, and all answers must fit into the receive queue. */
#define BATCH 128

/* Binds or unbinds addresses of one place, BATCH at most; says in each entry what became of it. */
void bind_addresses(struct place *place, struct entry **entries, size_t count, bool bind);

/*
 * Looks what is bound in a place: entries (of the place, sorted) that are there become `bound`. What carries the mark
 * and is no entry's is removed; returns how many.
 */
size_t bind_adopt(struct place *place, struct entry *entries, size_t count);
