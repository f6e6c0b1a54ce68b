/* The services of a conntrack-delete request, and which flows belong to them. */
#pragma once
#include "../../net/ctnetlink.h"
#include "../requests/request.h"

/* A service whose flows are deleted. */
struct ct_service {
	int family;
	uint8_t protocol;
	struct end destination;
	bool unestablished; /* only TCP connections that cannot carry data */
	bool only_members;
	struct buf members; /* struct end, sorted: only flows of these members */
};

/* Reads the request's `services` into a sorted list of struct ct_service. The caller frees it, also after a failure. */
bool services_read(struct request *request, struct buf *out);
void services_free(struct buf *services);

/*
 * Whether a flow belongs to one of the services. `sent` is the direction of its requests, `answered` that of its member's
 * packets, `info` its CTA_PROTOINFO. A service may be listed twice, each time with other members.
 */
bool services_match(const struct ct_service *services, size_t count, int family, uint8_t protocol, const struct tuple *sent,
		    const struct tuple *answered, const struct nlattr *info);
