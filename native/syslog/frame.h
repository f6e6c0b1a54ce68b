/* Messages with their length before each (octet counting, RFC 6587 section 3.4.1). */
#pragma once
#include <stddef.h>

/* Most bytes of one message. */
#define MESSAGE_MOST 32768

struct frame {
	const char *message;
	size_t length;
	size_t whole; /* with what is before the message */
};

/* Returns 1 with the first frame, 0 when it is not whole yet, -1 when there is none. */
int frame_read(struct frame *out, const char *data, size_t have);
