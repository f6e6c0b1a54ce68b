/*
 * Writes a file in a thread of its own, since a disk may stall and flows must not wait for it. When texts come faster than
 * they can be written, only the newest is.
 */
#pragma once
#include "flows.h"

/* Takes ownership of the text. A failed write leaves the old file. */
void writer_put(const char *directory, const char *name, struct buf *text);
/* Waits until the newest text is written, at most one second. */
void writer_finish(void);
