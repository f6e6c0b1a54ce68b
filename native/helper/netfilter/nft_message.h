/* The start of an nftables message, and names the kernel uses. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../daemon/memory.h"
#include "../requests/request.h"

/* Appends header, nfgenmsg and returns the message's offset in `buf`. `nft_message_end` sets its length. */
size_t nft_message_begin(struct buf *buf, uint16_t type, uint16_t flags, uint32_t seq, uint8_t family, uint16_t res_id);
void nft_message_end(struct buf *buf, size_t message);
void nft_put_text(struct buf *buf, uint16_t type, const char *text);
/* An open attribute; returns its offset for `nft_nest_end`. */
size_t nft_nest_begin(struct buf *buf, uint16_t type);
void nft_nest_end(struct buf *buf, size_t nest);

struct nft_table {
	uint8_t family;
	const char *name;
};

/* The request's `family` and `table`. */
bool request_table(struct request *request, struct nft_table *out);
/* A name no longer than the kernel takes. */
bool field_name(struct request *request, const struct json *object, const char *name, const char **out);
