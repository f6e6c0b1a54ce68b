/* A domain's namespace: what its connection tracking says, and what peers say of its flows. */
#pragma once
#include "flows.h"

struct domain *domain_find(struct flows *flows, uint32_t number);
/* A new one that is not open yet. */
struct domain *domain_add(struct flows *flows, uint32_t number);
/* Opens what is not open, or is another namespace by now, and looks at its flows. Says in `error` why it cannot. */
void domain_ready(struct flows *flows, struct domain *domain);
/* Forgets its flows; their entries stay in the kernel until they expire. */
void domain_close(struct domain *domain);
void domain_free(struct domain *domain);
bool domain_shares(const struct domain *domain, uint8_t family, const void *address);
