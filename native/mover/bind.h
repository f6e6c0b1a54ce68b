/* Addresses of interfaces, over rtnetlink. */
#pragma once
#include "mover.h"

/* Addresses at a time: each may be answered by errors, and all answers must fit into the receive queue. */
#define BATCH 128

/* As in the kernel since 5.18; headers may be older. */
#define ATTRIBUTE_PROTO 11

/* Binds or unbinds addresses of one place, BATCH at most; says in each entry what became of it. */
void bind_addresses(struct place *place, struct entry **entries, size_t count, bool bind);
