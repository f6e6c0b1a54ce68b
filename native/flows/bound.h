/*
 * Which of the shared addresses this node holds, as the kernel tells of a domain's addresses and local routes. Whoever
 * holds one carries the flows that are translated to it: replies come to nobody else.
 */
#pragma once
#include "flows.h"

/* Opens what the kernel tells by; from within the domain's namespace. Says in errno why it cannot. */
bool bound_open(struct domain *domain);
/*
 * Asks for all there is, again where a loss was told meanwhile. 0 or errno; after an error, or where it is `unsure`
 * still, a look asks again.
 */
int bound_query(struct domain *domain);
/* Takes what the kernel has to tell: `moved` when something differs, `unsure` when something may. */
void bound_read(struct domain *domain);
bool bound_has(const struct domain *domain, uint8_t family, const void *address);
