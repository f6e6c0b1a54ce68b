/* The state of the helper. Every operation gets it. */
#pragma once
#include "../../daemon/json.h"
#include "../../daemon/memory.h"
#include "loop.h"
#include "netns.h"

struct helper {
	struct loop loop;
	struct netns_cache namespaces;
	struct json_arena json;
	struct buf out;
	struct ping_table *pings;
	struct announcement *announcements;
	struct tls_client *tls; /* NULL until a probe asks for TLS */
	/* Counters. */
	uint64_t requests;
	uint64_t netlink_messages;
	uint64_t transactions;
	uint64_t probes;
	uint64_t changes; /* made by others, in all namespaces that rtnl-mark asked about */
};
