/* Into another network namespace and back: a socket belongs to the one it was opened in. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/* Remembers the namespace to come back to. */
bool namespace_remember(void);
/* False with errno when the path names none (EINVAL) or cannot be opened. `fs` and `inode` tell it from another one at that path. */
bool namespace_enter(const char *path, dev_t *fs, ino_t *inode);
void namespace_leave(void);
