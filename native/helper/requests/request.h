/* One request: its fields, and how it fails. */
#pragma once
#include <stdbool.h>

#include "../../net/address.h"
#include "../loop/helper.h"
#include "reply.h"

struct request {
	struct helper *helper;
	int64_t id;
	const struct json *fields;
	struct failure failure;
};

/* Both return false. The second adds the text of errno. */
__attribute__((format(printf, 2, 3))) bool fail(struct request *request, const char *format, ...);
__attribute__((format(printf, 3, 4))) bool fail_errno(struct request *request, int err, const char *format, ...);

/* Fields of an object of the request. Each says what is wrong and returns false. */
bool field_text(struct request *request, const struct json *object, const char *name, const char **out);
bool field_number(struct request *request, const struct json *object, const char *name, int64_t min, int64_t max, int64_t *out);
bool field_flag(struct request *request, const struct json *object, const char *name, bool *out); /* absent: false */
bool field_list(struct request *request, const struct json *object, const char *name, const struct json **first);
/* Base64, decoded in place. */
bool field_bytes(struct request *request, const struct json *object, const char *name, uint8_t **data, size_t *len);
bool field_address(struct request *request, const struct json *object, const char *name, struct address *out);
bool field_prefix(struct request *request, const struct json *object, const char *name, struct address *out, uint8_t *prefix);

/* The reply, for those that say no more than `ok`. Always true. */
bool reply_done(struct request *request);
