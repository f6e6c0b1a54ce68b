/* Addresses of interfaces, over rtnetlink. */
#pragma once
#include "mover.h"

/* Addresses in one request. All answers must fit into the receive queue. */
#define BATCH 128

/* As in the kernel since 5.18; headers may be older. */
#define ATTRIBUTE_PROTO 11

/* Binds or unbinds at most BATCH addresses of one place. Writes the outcome to each entry. */
void bind_addresses(struct place *place, struct entry **entries, size_t count, bool bind);
