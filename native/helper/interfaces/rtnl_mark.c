/*
 * rtnl-mark: whether anybody else changed addresses, routes or interfaces of a namespace, without listing them. A socket
 * in the namespace receives the kernel's notifications. A filter drops those of this helper's own changes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../net/netlink.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"

#define GROUPS (RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE)

/* Absolute: the filter sees one message from its first byte, its loads are in network order. */
#define PID offsetof(struct nlmsghdr, nlmsg_pid)
#define TYPE offsetof(struct nlmsghdr, nlmsg_type)
#define PROTOCOL (NLMSG_HDRLEN + offsetof(struct rtmsg, rtm_protocol))

/*
 * Drops notifications of changes by the socket with this port, and of routes that the kernel maintains, which come and go
 * with addresses and router advertisements. Notifications of IPv6 addresses have no port, so our own count as others'.
 */
static int attach_filter(int fd, uint32_t port)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, PID),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(port), 6, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, TYPE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWROUTE), 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELROUTE), 0, 4),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, PROTOCOL),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RTPROT_KERNEL, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RTPROT_RA, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

/* Opens a socket that receives the notifications from now on; -1 with errno. */
static int listen_in(struct netns *netns)
{
	struct sockaddr_nl own = {0}, groups = {.nl_family = AF_NETLINK, .nl_groups = GROUPS};
	struct sockaddr_nl unbound = {.nl_family = AF_NETLINK};
	socklen_t len = sizeof(own);
	int route = netns_route(netns), fd;

	/* The kernel assigns the port on bind, which the filter needs. */
	if (route < 0 || getsockname(route, (struct sockaddr *)&own, &len) < 0 ||
	    (own.nl_pid == 0 && (bind(route, (struct sockaddr *)&unbound, sizeof(unbound)) < 0 ||
				 getsockname(route, (struct sockaddr *)&own, &len) < 0)))
		return -1;
	fd = netns_socket(netns, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (fd < 0)
		return -1;
	if (attach_filter(fd, own.nl_pid) < 0 || bind(fd, (struct sockaddr *)&groups, sizeof(groups)) < 0) {
		int err = errno;
		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

static void note(const struct nlmsghdr *message, void *arg)
{
	(void)message;
	*(bool *)arg = true;
}

/* Whether a notification arrived since the last call. An overflow counts as one. */
static bool heard(int fd)
{
	bool any = false;

	while (netlink_receive(fd, note, &any) == ENOBUFS)
		any = true;
	return any;
}

bool op_rtnl_mark(struct request *request)
{
	struct helper *helper = request->helper;
	struct netns *netns;
	char mark[64];

	if (!request_netns(request, &netns))
		return false;
	if (netns->changes_fd < 0) {
		netns->changes_fd = listen_in(netns);
		if (netns->changes_fd < 0)
			return fail_errno(request, errno, "netlink socket");
		netns->changes_mark = ++helper->changes;
	} else if (heard(netns->changes_fd)) {
		netns->changes_mark = ++helper->changes;
	}
	/* One counter for all namespaces, prefixed by this process, so that marks are never equal by chance. */
	snprintf(mark, sizeof(mark), "%d-%llu", getpid(), (unsigned long long)netns->changes_mark);
	reply_begin(&helper->out, request->id);
	reply_text(&helper->out, "mark", mark);
	reply_end(&helper->out);
	return true;
}
