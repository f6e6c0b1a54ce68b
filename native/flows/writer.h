/*
 * Writes a file aside from everything else: a disk may stand still for a while, and flows must not wait for it. Of texts
 * that come faster than they can be written, the newest counts.
 */
#pragma once
#include "flows.h"

/* Takes the text. One that cannot be written leaves the old file. */
void writer_put(const char *directory, const char *name, struct buf *text);
/* Waits until the newest is written, for a moment at most. */
void writer_finish(void);
