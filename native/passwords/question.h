/* The proxy's question, an HTTP request without a body, and its answer. */
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
	/* Empty without valid credentials. */
	char name[MOST_NAME + 1];
	char password[MOST_PASSWORD + 1];
};

/* Parses a request header, including its empty line. False if the proxy would not send it. The text is changed. */
bool question_read(struct question *question, char *text, size_t len);
void question_forget(struct question *question);

/* Writes the answer with this status: 200, 401, 500 or 503. */
void answer_write(struct buf *out, int code, const char *realm);
