/* Lists of users, each named by its content. A list never changes: another content has another name. */
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

/* Whether the text is a name of a list. */
bool lists_is_id(const char *text);
/*
 * Takes a list: a line that is not looked at, then `<name in hex>:<hash>` lines. NULL on success, or what is wrong with
 * it. One that is there already stays.
 */
const char *lists_put(const char *id, const char *text, size_t len);
/* Forgets a list. What waits for one of its users is answered. */
void lists_drop(const char *id);
/* NULL when there is none. */
const struct list *lists_find(const char *id);
/* The user's hash, or that of another user with `*known` false: refusing takes as long for names that are not there. */
const char *list_hash(const struct list *list, const char *name, bool *known);
/* The ids of all lists, each with a space behind it. */
void lists_names(struct buf *out);
