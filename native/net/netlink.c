#include "netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#define RECEIVE_SIZE (256 * 1024)
#define RECEIVE_QUEUE (8 * 1024 * 1024)

void netlink_set_up(int fd)
{
	int on = 1, queue = RECEIVE_QUEUE;

	/* Errors name the faulty attribute and do not carry the request back. */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	/* The kernel filters dumps. */
	setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue, sizeof(queue));
}

/* The send buffer must hold a whole batch, since sendto takes it as one. */
static void widen(int fd, size_t len)
{
	int size = (int)len;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
}

int netlink_send(int fd, const void *messages, size_t len)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	for (int attempt = 0;; attempt++) {
		if (sendto(fd, messages, len, 0, (struct sockaddr *)&kernel, sizeof(kernel)) >= 0)
			return 0;
		if (errno == EMSGSIZE && attempt == 0)
			widen(fd, len);
		else if (errno != EINTR)
			return errno;
	}
}

int netlink_receive(int fd, void (*message)(const struct nlmsghdr *message, void *arg), void *arg)
{
	static _Alignas(struct nlmsghdr) char data[RECEIVE_SIZE];

	for (;;) {
		ssize_t len = recv(fd, data, sizeof(data), MSG_TRUNC);
		int left = (int)len;

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return errno == EAGAIN ? 0 : errno;
		if ((size_t)len > sizeof(data))
			return EMSGSIZE;
		for (const struct nlmsghdr *at = (const void *)data; mnl_nlmsg_ok(at, left); at = mnl_nlmsg_next(at, &left))
			message(at, arg);
	}
}

int netlink_ask(int fd, const void *messages, size_t len, void (*message)(const struct nlmsghdr *message, void *arg), void *arg)
{
	int err = netlink_send(fd, messages, len);

	return err == 0 ? netlink_receive(fd, message, arg) : err;
}

bool netlink_refused(const struct nlmsghdr *message, struct netlink_refusal *out)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr;

	*out = (struct netlink_refusal){.seq = message->nlmsg_seq, .offset = -1};
	if (message->nlmsg_type == NLMSG_DONE && message->nlmsg_len >= NLMSG_LENGTH(sizeof(int))) {
		out->err = -*(const int *)mnl_nlmsg_get_payload(message);
		return out->err > 0;
	}
	if (message->nlmsg_type != NLMSG_ERROR || message->nlmsg_len < NLMSG_LENGTH(sizeof(*error)) || error->error == 0)
		return false;
	out->err = -error->error;
	if ((message->nlmsg_flags & (NLM_F_CAPPED | NLM_F_ACK_TLVS)) == (NLM_F_CAPPED | NLM_F_ACK_TLVS))
		mnl_attr_for_each(attr, message, sizeof(*error))
			if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_OFFS)
				out->offset = mnl_attr_get_u32(attr);
	return true;
}

const struct nlattr *netlink_attr_in(const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *attr;

	if (nest != NULL)
		mnl_attr_for_each_nested(attr, nest)
			if (mnl_attr_get_type(attr) == type)
				return attr;
	return NULL;
}

bool netlink_attr_copy(const struct nlattr *attr, void *out, size_t len)
{
	if (attr == NULL || mnl_attr_get_payload_len(attr) < len)
		return false;
	memcpy(out, mnl_attr_get_payload(attr), len);
	return true;
}
