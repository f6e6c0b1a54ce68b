/* udp: sends one empty datagram to an endpoint and waits for an answer, an ICMP error, or the time-out. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../requests/operations.h"
#include "../requests/request_target.h"

struct exchange {
	struct helper *helper;
	struct watch watch;
	struct timer timer;
	int64_t id;
	uint64_t started_us;
};

static void end(struct exchange *exchange)
{
	struct loop *loop = &exchange->helper->loop;

	loop_untimer(loop, &exchange->timer);
	loop_close(&exchange->watch);
	exchange->helper->probes--;
	loop_free(loop, exchange);
}

/* `err` is 0 if the target answered. */
static void reply(struct exchange *exchange, int err)
{
	struct buf *out = &exchange->helper->out;

	reply_begin(out, exchange->id);
	reply_flag(out, "answered", err == 0);
	if (err != 0)
		reply_reason(out, err);
	reply_number(out, "us", (int64_t)(loop_now_us() - exchange->started_us));
	reply_end(out);
	end(exchange);
}

static void deadline(struct timer *timer)
{
	reply(container_of(timer, struct exchange, timer), ETIMEDOUT);
}

/* A connected socket receives the ICMP errors for its datagrams. */
static void ready(struct watch *watch, uint32_t events)
{
	struct exchange *exchange = container_of(watch, struct exchange, watch);
	char byte;

	(void)events;
	if (recv(watch->fd, &byte, sizeof(byte), 0) >= 0)
		reply(exchange, 0);
	else if (errno != EAGAIN)
		reply(exchange, errno);
}

/* Opens a socket, connects and sends. `err`: 0, or why the target is unreachable. False with the failure written. */
static bool dial(struct request *request, struct netns *netns, int *fd, int *err)
{
	struct sockaddr_storage to;
	struct address target;
	socklen_t to_len;
	int64_t port;

	if (!field_address(request, request->fields, "address", &target) ||
	    !field_number(request, request->fields, "port", 1, 65535, &port))
		return false;
	*fd = netns_socket(netns, target.family, SOCK_DGRAM, 0);
	if (*fd < 0)
		return fail_errno(request, errno, "socket");
	to_len = address_to_sockaddr(&target, (uint16_t)port, &to);
	*err = connect(*fd, (struct sockaddr *)&to, to_len) == 0 && send(*fd, "", 0, MSG_NOSIGNAL) >= 0 ? 0 : errno;
	return true;
}

bool op_udp(struct request *request)
{
	struct exchange *exchange;
	struct netns *netns;
	int64_t timeout_ms;
	int fd = -1, err = 0;

	if (!request_netns(request, &netns) ||
	    !field_number(request, request->fields, "timeoutMs", 1, 86400000, &timeout_ms))
		return false;
	if (!dial(request, netns, &fd, &err)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	exchange = memory_new(sizeof(*exchange));
	exchange->helper = request->helper;
	exchange->id = request->id;
	exchange->started_us = loop_now_us();
	exchange->watch = (struct watch){.fd = -1, .ready = ready};
	exchange->timer = (struct timer){.fire = deadline, .request = request->id};
	if (err == 0 && !loop_watch(&request->helper->loop, &exchange->watch, fd, EPOLLIN)) {
		err = errno;
		close(fd);
		free(exchange);
		return fail_errno(request, err, "epoll");
	}
	request->helper->probes++;
	if (err != 0) {
		exchange->watch.fd = fd;
		reply(exchange, err);
		return true;
	}
	loop_timer(&request->helper->loop, &exchange->timer, exchange->started_us + (uint64_t)timeout_ms * 1000);
	return true;
}
