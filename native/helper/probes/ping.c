/* ping: one ICMP or ICMPv6 echo. One raw socket of each kind for a namespace serves all its pings. */
#include "ping.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/icmp.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "../requests/operations.h"
#include "../requests/request_target.h"

struct ping {
	struct netns *netns;
	int64_t id;
	struct address address;
	uint64_t started_us;
	struct timer timer;
	uint16_t sequence;
};

/* Pings in flight by sequence number, and the cookie that distinguishes our echoes from others. */
struct ping_table {
	struct ping *by_sequence[65536];
	uint16_t last;
	uint16_t identifier;
	uint64_t cookie;
};

/* Both families have the same layout: type, code, checksum, identifier, sequence. */
struct echo {
	uint8_t type;
	uint8_t code;
	uint16_t checksum;
	uint16_t identifier;
	uint16_t sequence;
	uint64_t cookie;
};

void ping_open(struct helper *helper)
{
	helper->pings = memory_new(sizeof(*helper->pings));
	if (getrandom(&helper->pings->cookie, sizeof(helper->pings->cookie), 0) < 0)
		helper->pings->cookie = loop_now_us();
	helper->pings->identifier = (uint16_t)helper->pings->cookie;
}

static void end(struct ping *ping)
{
	struct helper *helper = ping->netns->helper;

	helper->pings->by_sequence[ping->sequence] = NULL;
	helper->probes--;
	loop_untimer(&helper->loop, &ping->timer);
	netns_release(ping->netns);
	free(ping);
}

/* `err` is 0 when the target answered. */
static void reply(struct ping *ping, int err)
{
	struct buf *out = &ping->netns->helper->out;

	reply_begin(out, ping->id);
	reply_flag(out, "answered", err == 0);
	if (err != 0)
		reply_reason(out, err);
	reply_number(out, "us", (int64_t)(loop_now_us() - ping->started_us));
	reply_end(out);
	end(ping);
}

static void deadline(struct timer *timer)
{
	reply(container_of(timer, struct ping, timer), ETIMEDOUT);
}

static void heard(struct netns *netns, const struct address *from, const struct echo *echo)
{
	struct ping_table *table = netns->helper->pings;
	struct ping *ping = table->by_sequence[ntohs(echo->sequence)];

	if (ping != NULL && echo->identifier == table->identifier && echo->cookie == table->cookie && ping->netns == netns &&
	    address_equal(&ping->address, from))
		reply(ping, 0);
}

static void receive(struct netns *netns, struct watch *watch, int family)
{
	uint8_t packet[128];
	struct sockaddr_storage source;

	for (;;) {
		socklen_t source_len = sizeof(source);
		ssize_t len = watch->fd < 0 ? -1
					    : recvfrom(watch->fd, packet, sizeof(packet), 0, (struct sockaddr *)&source, &source_len);
		/* A raw IPv4 socket gives the IP header too. */
		size_t header = family == AF_INET ? (packet[0] & 15u) * 4u : 0;
		uint8_t echo_reply = family == AF_INET ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY;
		struct address from = {.family = family};
		struct echo echo;

		if (len < 0)
			return;
		if ((size_t)len < header + sizeof(echo))
			continue;
		memcpy(&echo, packet + header, sizeof(echo));
		if (family == AF_INET)
			memcpy(from.bytes, &((struct sockaddr_in *)&source)->sin_addr, 4);
		else
			memcpy(from.bytes, &((struct sockaddr_in6 *)&source)->sin6_addr, 16);
		if (echo.type == echo_reply)
			heard(netns, &from, &echo);
	}
}

static void icmp_ready(struct watch *watch, uint32_t events)
{
	(void)events;
	receive(container_of(watch, struct netns, icmp), watch, AF_INET);
}

static void icmp6_ready(struct watch *watch, uint32_t events)
{
	(void)events;
	receive(container_of(watch, struct netns, icmp6), watch, AF_INET6);
}

static void admit_echo_replies(int fd, int family)
{
	if (family == AF_INET) {
		struct icmp_filter filter = {.data = ~(1u << ICMP_ECHOREPLY)};
		setsockopt(fd, SOL_RAW, ICMP_FILTER, &filter, sizeof(filter));
	} else {
		struct icmp6_filter filter;
		ICMP6_FILTER_SETBLOCKALL(&filter);
		ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &filter);
		setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof(filter));
	}
}

static int open_socket(struct netns *netns, int family)
{
	struct watch *watch = family == AF_INET ? &netns->icmp : &netns->icmp6;
	int fd;

	if (watch->fd >= 0)
		return watch->fd;
	fd = netns_socket(netns, family, SOCK_RAW, family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);
	if (fd < 0)
		return -1;
	admit_echo_replies(fd, family);
	watch->ready = family == AF_INET ? icmp_ready : icmp6_ready;
	if (!loop_watch(&netns->helper->loop, watch, fd, EPOLLIN)) {
		close(fd);
		return -1;
	}
	return fd;
}

static uint16_t checksum(const struct echo *echo)
{
	uint16_t words[sizeof(*echo) / 2];
	uint32_t sum = 0;

	memcpy(words, echo, sizeof(*echo));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~(sum + (sum >> 16));
}

static int send_echo(const struct ping_table *table, const struct ping *ping, int fd)
{
	struct echo echo = {.type = ping->address.family == AF_INET ? ICMP_ECHO : ICMP6_ECHO_REQUEST,
			    .identifier = table->identifier,
			    .sequence = htons(ping->sequence),
			    .cookie = table->cookie};
	struct sockaddr_storage to;
	socklen_t len = address_to_sockaddr(&ping->address, 0, &to);

	/* The kernel computes the checksum of ICMPv6. */
	if (ping->address.family == AF_INET)
		echo.checksum = checksum(&echo);
	return sendto(fd, &echo, sizeof(echo), 0, (struct sockaddr *)&to, len) < 0 ? errno : 0;
}

static bool next_sequence(struct ping_table *table, uint16_t *out)
{
	for (unsigned tries = 0; tries < 65536; tries++)
		if (table->by_sequence[++table->last] == NULL) {
			*out = table->last;
			return true;
		}
	return false;
}

bool op_ping(struct request *request)
{
	struct helper *helper = request->helper;
	struct address address;
	int64_t timeout_ms;
	struct netns *netns;
	struct ping *ping;
	uint16_t sequence;
	int fd, err;

	if (!request_netns(request, &netns) || !field_address(request, request->fields, "address", &address) ||
	    !field_number(request, request->fields, "timeoutMs", 1, 86400000, &timeout_ms))
		return false;
	fd = open_socket(netns, address.family);
	if (fd < 0)
		return fail_errno(request, errno, "raw socket");
	if (!next_sequence(helper->pings, &sequence))
		return fail(request, "too many pings in flight");

	ping = memory_new(sizeof(*ping));
	*ping = (struct ping){.netns = netns,
			      .id = request->id,
			      .address = address,
			      .started_us = loop_now_us(),
			      .timer = {.fire = deadline, .request = request->id},
			      .sequence = sequence};
	helper->pings->by_sequence[sequence] = ping;
	helper->probes++;
	netns_hold(netns);
	err = send_echo(helper->pings, ping, fd);
	if (err != 0)
		reply(ping, err);
	else
		loop_timer(&helper->loop, &ping->timer, ping->started_us + (uint64_t)timeout_ms * 1000);
	return true;
}
