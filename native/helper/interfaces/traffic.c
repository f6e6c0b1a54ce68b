/* traffic: the kernel's counters of an interface. */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "../../net/netlink.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"

struct answer {
	struct rtnl_link_stats64 stats;
	struct netlink_refusal refusal;
};

static void read_stats(const struct nlmsghdr *message, void *arg)
{
	struct answer *answer = arg;
	const struct nlattr *attr;

	if (netlink_refused(message, &answer->refusal) || message->nlmsg_type != RTM_NEWSTATS)
		return;
	/* An older kernel returns fewer fields. */
	mnl_attr_for_each(attr, message, sizeof(struct if_stats_msg)) {
		size_t len = mnl_attr_get_payload_len(attr);
		if (mnl_attr_get_type(attr) == IFLA_STATS_LINK_64)
			memcpy(&answer->stats, mnl_attr_get_payload(attr),
			       len < sizeof(answer->stats) ? len : sizeof(answer->stats));
	}
}

bool op_traffic(struct request *request)
{
	_Alignas(struct nlmsghdr) char space[128];
	struct nlmsghdr *message = mnl_nlmsg_put_header(space);
	struct buf *out = &request->helper->out;
	struct answer answer = {0};
	struct if_stats_msg *body;
	struct netns *netns;
	int ifindex, fd, err;

	if (!request_netns(request, &netns) || !request_dev(request, netns, request->fields, &ifindex))
		return false;
	fd = netns_route(netns);
	if (fd < 0)
		return fail_errno(request, errno, "netlink socket");
	message->nlmsg_type = RTM_GETSTATS;
	message->nlmsg_flags = NLM_F_REQUEST;
	body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
	body->ifindex = (uint32_t)ifindex;
	body->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
	err = netlink_ask(fd, message, message->nlmsg_len, read_stats, &answer);
	if (err == 0)
		err = answer.refusal.err;
	if (err != 0)
		return fail_errno(request, err, "reading the counters of an interface");
	reply_begin(out, request->id);
	reply_number(out, "packetsIn", (int64_t)answer.stats.rx_packets);
	reply_number(out, "bytesIn", (int64_t)answer.stats.rx_bytes);
	reply_number(out, "packetsOut", (int64_t)answer.stats.tx_packets);
	reply_number(out, "bytesOut", (int64_t)answer.stats.tx_bytes);
	reply_end(out);
	return true;
}
