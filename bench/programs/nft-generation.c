/* The ruleset generation of this network namespace: the kernel counts every nftables transaction in it. */
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int main(void)
{
	struct {
		struct nlmsghdr head;
		struct nfgenmsg family;
	} request = {
		.head = { .nlmsg_len = sizeof(request), .nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN,
			  .nlmsg_flags = NLM_F_REQUEST },
	};
	char reply[512];
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
	ssize_t size;

	if (send(fd, &request, sizeof(request), 0) < 0 || (size = recv(fd, reply, sizeof(reply), 0)) < 0)
		return 1;
	for (size_t at = sizeof(request); at + sizeof(struct nlattr) <= (size_t)size;) {
		struct nlattr *attribute = (struct nlattr *)(reply + at);
		if (attribute->nla_type == NFTA_GEN_ID) {
			unsigned id;
			memcpy(&id, attribute + 1, sizeof(id));
			printf("%u\n", ntohl(id));
			return 0;
		}
		at += NLA_ALIGN(attribute->nla_len);
	}
	return 1;
}
