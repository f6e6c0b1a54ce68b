/* Set elements as netlink attributes, from packed records. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../daemon/memory.h"

/* What a record holds, in this order. */
struct record_shape {
	size_t key;
	size_t key_end; /* 0 or as long as key */
	size_t data;	/* 0 for sets */
	bool count_over;
};

size_t record_size(const struct record_shape *shape);

/*
 * A template of an element's attributes, without the bytes of a record. All elements of a change have the same form, so it
 * is built once and copied.
 */
struct element_form {
	uint8_t bytes[512];
	size_t len;
	size_t key_at;
	size_t key_end_at;
	size_t data_at;
	size_t limit_at; /* each 0 when absent */
};

/* `deleting` leaves out data and limit, which do not identify an element. */
void element_form_make(struct element_form *form, const struct record_shape *shape, bool deleting);
void element_write(uint8_t *to, const struct element_form *form, const struct record_shape *shape, const uint8_t *record);
