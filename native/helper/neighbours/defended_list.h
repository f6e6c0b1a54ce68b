/* The addresses that one interface defends, in order. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "../../net/address.h"

struct defended {
	struct address address;
	uint64_t defended_us; /* 0: never */
	int64_t claims;	      /* since then */
};

/* Zero-initialised is empty. */
struct defended_list {
	struct defended *items; /* by family, then by address */
	size_t count, cap;
};

/* NULL when it is not there. */
struct defended *defended_find(const struct defended_list *list, const struct address *address);
/* Adds an address that is not in the list. */
void defended_add(struct defended_list *list, const struct address *address);
void defended_remove(struct defended_list *list, struct defended *item);
