/* One request line: its fields, and how it fails. */
#pragma once
#include <stdbool.h>

#include "../net/address.h"
#include "helper.h"
#include "reply.h"

struct request {
	struct helper *helper;
	int64_t id;
	const struct json *fields;
	struct failure failure;
};

/*
 * An operation. True: it has replied, or will. False: `failure` says why not.
 * What outlives the call must not point into the line.
 */
typedef bool operation(struct request *request);

/* Parses a line and does what it asks for. The line is changed. */
void request_handle(struct helper *helper, char *line, size_t len);

/* Both return false. The second adds the text of the errno. */
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

/* The namespace of the request's `netns`. */
bool request_netns(struct request *request, struct netns **out);
/* The index of its `dev`, which must exist there. */
bool request_dev(struct request *request, struct netns *netns, const struct json *object, int *ifindex);

/* The reply, for those that say no more than `ok`. Always true. */
bool reply_done(struct request *request);

operation op_nft_text, op_nft_batch, op_nft_get, op_nft_counters, op_nft_generation;
operation op_addr, op_addr_list, op_link, op_route, op_route_list, op_rtnl_mark, op_traffic;
operation op_announce, op_arp_probe, op_defend, op_connect, op_ping, op_udp, op_sctp;
operation op_conntrack_delete, op_conntrack_count, op_time_slice;
