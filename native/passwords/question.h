/* What the proxy asks, as an HTTP request without a body, and how it is answered. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "../daemon/memory.h"
#include "lists.h"

#define MOST_NAME 255
#define MOST_PASSWORD 512
#define MOST_REALM 128

struct question {
	char list[ID_LEN + 1];
	char realm[MOST_REALM + 1];
	/* Without credentials, or with what are none, the name is empty. */
	char name[MOST_NAME + 1];
	char password[MOST_PASSWORD + 1];
};

/*
 * Reads a request header, its empty line included. False for what the proxy does not send. The text is changed.
 */
bool question_read(struct question *question, char *text, size_t len);
void question_forget(struct question *question);

/* Writes the answer of this code: 200, 401, 500 or 503. */
void answer_write(struct buf *out, int code, const char *realm);
