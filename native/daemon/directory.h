/* The directory that the agent and a daemon share. Each file has one writer, which replaces the file by rename. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "memory.h"

/* A descriptor that is readable when a file was replaced; -1 with errno. */
int directory_watch(const char *path);
/* Reads the events. Whether one was about the file of this name. */
bool directory_changed(int fd, const char *name);
/* A file's text, to be freed; NULL when there is none, or it is longer than `most`. A NUL in it becomes `?`. */
char *directory_read(const char *directory, const char *name, size_t most);
/* Replaces the file. False with the old file in place. */
bool directory_write(const char *directory, const char *name, const struct buf *text);
