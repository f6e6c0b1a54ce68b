#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *memory)
{
	if (memory == NULL) {
		fputs("out of memory\n", stderr);
		abort();
	}
	return memory;
}

void *memory_new(size_t size)
{
	return checked(calloc(1, size));
}

char *memory_text(const char *text)
{
	return checked(strdup(text));
}

uint8_t *buf_reserve(struct buf *buf, size_t size)
{
	if (buf->cap - buf->len < size) {
		size_t cap = buf->cap < 512 ? 512 : buf->cap;
		while (cap - buf->len < size)
			cap *= 2;
		buf->data = checked(realloc(buf->data, cap));
		buf->cap = cap;
	}
	return buf->data + buf->len;
}

uint8_t *buf_extend(struct buf *buf, size_t size)
{
	uint8_t *at = buf_reserve(buf, size);
	buf->len += size;
	return at;
}

void buf_put(struct buf *buf, const void *data, size_t size)
{
	if (size > 0)
		memcpy(buf_extend(buf, size), data, size);
}

void buf_consume(struct buf *buf, size_t size)
{
	buf->len -= size;
	if (buf->len > 0)
		memmove(buf->data, buf->data + size, buf->len);
}

void buf_reset(struct buf *buf, size_t keep)
{
	buf->len = 0;
	if (buf->cap > keep) {
		free(buf->data);
		*buf = (struct buf){0};
	}
}
