/* Entries of the kernel's connection tracking, over ctnetlink. */
#pragma once
#include <libmnl/libmnl.h>

#include "flows.h"

enum entry_kind { ENTRY_NONE, ENTRY_LIVE, ENTRY_DESTROYED };

/* An entry as the kernel tells of it. */
struct entry {
	struct flow_record record;
	bool replied;	    /* packets went both ways */
	uint32_t ct_id;	    /* network order */
	uint64_t expires_us; /* of one that lives */
};

/* Reads an event or an item of a dump. NONE for what is no TCP or UDP flow with both of its ends translated. */
enum entry_kind conntrack_read(const struct nlmsghdr *message, struct entry *out);

/* Group memberships of the event socket. */
extern const int CONNTRACK_GROUPS[];
extern const size_t CONNTRACK_GROUP_COUNT;

/* Each does one thing in the kernel and returns 0 or errno. */
int conntrack_create(struct domain *domain, const struct flow_record *record, uint32_t timeout_s);
int conntrack_update(struct domain *domain, const struct flow_record *record, uint32_t timeout_s);
int conntrack_set_timeout(struct domain *domain, const struct flow_record *record, uint32_t timeout_s);
int conntrack_delete(struct domain *domain, const struct flow *flow);
/* Asks for all translated entries; the answers are to be read. */
int conntrack_dump(struct domain *domain);
