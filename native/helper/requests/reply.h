/* Replies as JSON text at the end of a buffer. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "../../daemon/memory.h"

/* `{"id":N,"ok":true`. */
void reply_begin(struct buf *out, int64_t id);
/* `{"event":"NAME"`: a line that answers nothing. */
void reply_event(struct buf *out, const char *name);
void reply_end(struct buf *out);

void reply_text(struct buf *out, const char *name, const char *text);
void reply_number(struct buf *out, const char *name, int64_t number);
void reply_flag(struct buf *out, const char *name, bool flag);
/* `reason`: why a target could not be reached, in lower case. */
void reply_reason(struct buf *out, int err);
void reply_base64(struct buf *out, const char *name, const uint8_t *data, size_t len);

/* A list of objects: `reply_list`, then for each `reply_item` and its fields, then `reply_list_end`. */
void reply_list(struct buf *out, const char *name);
void reply_item(struct buf *out);
void reply_item_end(struct buf *out);
void reply_list_end(struct buf *out);

/* Why a request failed. */
struct failure {
	char text[1024];
	int err;	 /* errno; 0 when the request itself is wrong */
	int64_t index;	 /* of the change; -1 */
	int64_t element; /* record of that change; -1 */
};

#define NO_REQUEST_ID -1

/* The failure's reply, left open for more fields. */
void reply_failure(struct buf *out, int64_t id, const struct failure *failure);
/* `EEXIST` for EEXIST. */
const char *errno_name(int err);
