#include "lists.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LISTS 4096
#define MOST_USERS 1000

static struct list *lists;
static size_t lists_count;

bool lists_is_id(const char *text)
{
	return strlen(text) == ID_LEN && strspn(text, "0123456789abcdef") == ID_LEN;
}

static void list_free(struct list *list)
{
	for (size_t at = 0; at < list->count; at++) {
		if (list->users[at].hash != NULL)
			OPENSSL_cleanse(list->users[at].hash, strlen(list->users[at].hash));
		free(list->users[at].hash);
		free(list->users[at].name);
	}
	free(list->users);
	free(list);
}

static int digit(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Decodes hex digits. NULL if the text is not valid. */
static char *from_hex(const char *text, size_t len)
{
	char *out;

	if (len == 0 || len % 2 != 0)
		return NULL;
	out = memory_new(len / 2 + 1);
	for (size_t at = 0; at < len; at += 2) {
		int high = digit(text[at]), low = digit(text[at + 1]);

		if (high < 0 || low < 0 || (high == 0 && low == 0)) {
			free(out);
			return NULL;
		}
		out[at / 2] = (char)(high << 4 | low);
	}
	return out;
}

/* False if the line is not `<name in hex>:<hash>`. */
static bool add_user(struct list *list, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	struct user *user = &list->users[list->count];
	size_t name_len, hash_len;

	if (colon == NULL || list->count == MOST_USERS)
		return false;
	name_len = (size_t)(colon - line);
	hash_len = len - name_len - 1;
	if (memchr(colon + 1, '\0', hash_len) != NULL || (user->name = from_hex(line, name_len)) == NULL)
		return false;
	user->hash = memory_new(hash_len + 1);
	memcpy(user->hash, colon + 1, hash_len);
	list->count++;
	return true;
}

const char *lists_put(const char *id, const char *text, size_t len)
{
	const char *end = text + len, *line = memchr(text, '\n', len);
	struct list *list;

	if (lists_find(id) != NULL)
		return NULL;
	if (lists_count >= MOST_LISTS)
		return "too many lists";
	if (line == NULL)
		return "the list has no lines";
	list = memory_new(sizeof *list);
	list->users = memory_new(MOST_USERS * sizeof *list->users);
	memcpy(list->id, id, ID_LEN);
	for (line++; line < end;) {
		const char *next = memchr(line, '\n', (size_t)(end - line));

		if (next == NULL || !add_user(list, line, (size_t)(next - line))) {
			list_free(list);
			return "a line of the list is not NAME:HASH";
		}
		line = next + 1;
	}
	if (list->count == 0) {
		list_free(list);
		return "the list has no user";
	}
	list->next = lists;
	lists = list;
	lists_count++;
	return NULL;
}

void lists_drop(const char *id)
{
	for (struct list **at = &lists; *at != NULL; at = &(*at)->next)
		if (strcmp((*at)->id, id) == 0) {
			struct list *gone = *at;

			*at = gone->next;
			lists_count--;
			list_free(gone);
			return;
		}
}

const struct list *lists_find(const char *id)
{
	for (struct list *list = lists; list != NULL; list = list->next)
		if (strcmp(list->id, id) == 0)
			return list;
	return NULL;
}

const char *list_hash(const struct list *list, const char *name, bool *known)
{
	for (size_t at = 0; at < list->count; at++)
		if (strcmp(list->users[at].name, name) == 0) {
			*known = true;
			return list->users[at].hash;
		}
	*known = false;
	return list->users[0].hash;
}

void lists_names(struct buf *out)
{
	for (struct list *list = lists; list != NULL; list = list->next) {
		buf_put(out, list->id, ID_LEN);
		buf_put(out, " ", 1);
	}
}
