/*
 * Tracks which shared addresses are bound on this node, by the kernel's addresses and local routes. The node that has an
 * address carries the flows that are translated to it, since it alone receives their replies.
 */
#pragma once
#include "flows.h"

/* Opens the rtnetlink socket. Called inside the domain's namespace. False with errno. */
bool bound_open(struct domain *domain);
/*
 * Dumps addresses and routes, and again when the dump was interrupted. 0 or errno. After an error, or while
 * `bound_uncertain` is set, the next scan dumps again.
 */
int bound_query(struct domain *domain);
/* Reads events. Sets `bound_changed` when an address came or went, `bound_uncertain` when one may have. */
void bound_read(struct domain *domain);
bool bound_has(const struct domain *domain, uint8_t family, const void *address);
