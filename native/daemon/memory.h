/* Allocation that does not fail: out of memory, the program aborts and is restarted. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Zeroed. */
void *memory_new(size_t size);
char *memory_text(const char *text);

/* A growable run of bytes. Zero-initialised is empty. */
struct buf {
	uint8_t *data;
	size_t len;
	size_t cap;
};

/* Room for `size` more bytes; the caller adds what it wrote to `len`. */
uint8_t *buf_reserve(struct buf *buf, size_t size);
/* `size` new bytes at the end, uninitialised. */
uint8_t *buf_extend(struct buf *buf, size_t size);
void buf_put(struct buf *buf, const void *data, size_t size);
/* Drops bytes from the front. */
void buf_consume(struct buf *buf, size_t size);
/* Empties; gives the memory back when it is more than `keep`. */
void buf_reset(struct buf *buf, size_t keep);

#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
