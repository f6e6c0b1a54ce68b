/* Messages with octet counting: each follows its length (RFC 6587 section 3.4.1). */
#pragma once
#include <stddef.h>

/* Limit of one message in bytes. */
#define MESSAGE_MOST 32768

struct frame {
	const char *message;
	size_t length;
	size_t whole; /* including the length before the message */
};

/* Reads the first frame. Returns 1; 0 if it is incomplete, -1 if it is invalid. */
int frame_read(struct frame *out, const char *data, size_t have);
