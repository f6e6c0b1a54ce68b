/* What an earlier mover left in the kernel, known by its mark. */
#pragma once
#include "mover.h"

/*
 * Looks what is bound in a place: entries (of the place, sorted) that are there become `bound`. What carries the mark
 * and is no entry's is removed; returns how many.
 */
size_t adopt_place(struct place *place, struct entry *entries, size_t count);
