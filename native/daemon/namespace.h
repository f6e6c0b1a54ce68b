/* Enters another network namespace and comes back. A socket belongs to the namespace that it was opened in. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/* Remembers the namespace to come back to. */
bool namespace_remember(void);
/* False with errno when the path cannot be opened, or is no namespace (EINVAL). `fs` and `inode` identify the namespace. */
bool namespace_enter(const char *path, dev_t *fs, ino_t *inode);
void namespace_leave(void);
