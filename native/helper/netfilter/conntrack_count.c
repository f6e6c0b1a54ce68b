/* conntrack-count: the number of flows in a namespace. */
#include "conntrack_count.h"

#include <arpa/inet.h>
#include <errno.h>

#include "../../net/ctnetlink.h"
#include "../../net/netlink.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"

struct table_use {
	uint32_t flows; /* of the namespace */
	uint32_t most;	/* that a namespace may have */
	struct netlink_refusal refusal;
};

static void read_use(const struct nlmsghdr *message, void *arg)
{
	struct table_use *use = arg;
	const struct nlattr *attr;

	if (netlink_refused(message, &use->refusal) || message->nlmsg_type != CT_TYPE(IPCTNL_MSG_CT_GET_STATS))
		return;
	mnl_attr_for_each(attr, message, sizeof(struct nfgenmsg)) {
		uint16_t type = mnl_attr_get_type(attr);
		if (type == CTA_STATS_GLOBAL_ENTRIES)
			use->flows = ntohl(mnl_attr_get_u32(attr));
		else if (type == CTA_STATS_GLOBAL_MAX_ENTRIES)
			use->most = ntohl(mnl_attr_get_u32(attr));
	}
}

/* 0 or errno. */
static int read_table_use(int fd, struct table_use *use)
{
	_Alignas(struct nlmsghdr) char space[512];
	struct nlmsghdr *message = ct_begin(space, IPCTNL_MSG_CT_GET_STATS, 0, AF_UNSPEC);
	int err = netlink_ask(fd, message, message->nlmsg_len, read_use, use);

	return err != 0 ? err : use->refusal.err;
}

uint32_t conntrack_flows(int fd)
{
	struct table_use use = {.flows = UINT32_MAX};

	read_table_use(fd, &use);
	return use.flows;
}

bool op_conntrack_count(struct request *request)
{
	struct buf *out = &request->helper->out;
	struct table_use use = {0};
	struct netns *netns;
	int fd, err;

	if (!request_netns(request, &netns))
		return false;
	fd = netns_netfilter(netns);
	if (fd < 0)
		return fail_errno(request, errno, "netlink socket");
	err = read_table_use(fd, &use);
	if (err != 0)
		return fail_errno(request, err, "counting flows");
	reply_begin(out, request->id);
	reply_number(out, "flows", use.flows);
	reply_number(out, "most", use.most);
	reply_end(out);
	return true;
}
