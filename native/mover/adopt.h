/* Finds addresses that an earlier mover left in the kernel, by their protocol number. */
#pragma once
#include "mover.h"

/*
 * Lists the addresses of a place. Entries (of the place, sorted) that are there become `bound`. Addresses that carry the
 * mark but belong to no entry are removed. Returns how many.
 */
size_t adopt_place(struct place *place, struct entry *entries, size_t count);
