/* A domain's namespace: the sockets by which its connection tracking and its addresses are known. */
#pragma once
#include "flows.h"

/* A new one that is not open yet. */
struct domain *domain_add(struct flows *flows, uint32_t number);
/* Opens what is not open, or is another namespace by now, and looks at its flows. Says in `error` why it cannot. */
void domain_attach(struct flows *flows, struct domain *domain);
/* Forgets its flows; their entries stay in the kernel until they expire. */
void domain_detach(struct domain *domain);
void domain_free(struct domain *domain);
