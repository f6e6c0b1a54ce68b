/* Lists of users. The id of a list is a hash of its content, so a list never changes. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "../daemon/memory.h"

#define ID_LEN 32

struct user {
	char *name;
	char *hash;
};

struct list {
	char id[ID_LEN + 1];
	struct user *users;
	size_t count;
	struct list *next;
};

/* Whether the text has the form of a list's id. */
bool lists_is_id(const char *text);
/*
 * Adds a list, unless it exists. Its text is a line that is ignored, then a line `<name in hex>:<hash>` per user. Returns what
 * is wrong with the text; NULL on success.
 */
const char *lists_put(const char *id, const char *text, size_t len);
/* Removes a list. Questions that wait for one of its users are still answered. */
void lists_drop(const char *id);
/* NULL if there is no list with this id. */
const struct list *lists_find(const char *id);
/*
 * The user's hash. For an unknown name it is the hash of another user, with `*known` false, so that a refusal takes as long
 * as for a known name.
 */
const char *list_hash(const struct list *list, const char *name, bool *known);
/* The ids of all lists, each followed by a space. */
void lists_names(struct buf *out);
