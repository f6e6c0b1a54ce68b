/* A domain's namespace: the sockets by which its connection tracking and its addresses are known. */
#pragma once
#include "flows.h"

/* A new domain whose namespace is not open yet. */
struct domain *domain_add(struct flows *flows, uint32_t number);
/* Opens the namespace unless it is open and still the same, and scans its flows. A failure is written to the domain's `error`. */
void domain_attach(struct flows *flows, struct domain *domain);
/* Closes the sockets and forgets the flows. Their entries stay in the kernel until they expire. */
void domain_detach(struct domain *domain);
void domain_free(struct domain *domain);
