/* connect: opens a TCP connection, starts TLS on it if requested, and does one exchange if there is data to send. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../requests/operations.h"
#include "../requests/request_target.h"
#include "tls.h"

#define DEFAULT_MAX_BYTES 4096
#define LIMIT_MAX_BYTES 65536
#define LIMIT_SEND_BYTES 65536
#define LIMIT_SERVER_NAME 255

struct connection {
	struct helper *helper;
	struct watch watch;
	struct timer timer;
	int64_t id;
	uint64_t started_us;
	uint64_t connected_us; /* 0 until connected */
	struct exchange exchange;
	bool secure;
	char *server_name; /* NULL: none is named */
	struct tls *tls;   /* NULL before the connection is there, and when it is not `secure` */
};

/* Releases everything except the connection's memory and socket. */
static void forget(struct connection *connection)
{
	tls_free(connection->tls);
	free(connection->server_name);
	buf_reset(&connection->exchange.send, 0);
	buf_reset(&connection->exchange.received, 0);
}

static void end(struct connection *connection)
{
	struct loop *loop = &connection->helper->loop;

	loop_untimer(loop, &connection->timer);
	loop_close(&connection->watch);
	forget(connection);
	connection->helper->probes--;
	loop_free(loop, connection);
}

static void reply_connected(struct connection *connection, const char *how)
{
	struct buf *out = &connection->helper->out, *received = &connection->exchange.received;

	reply_begin(out, connection->id);
	reply_flag(out, "connected", true);
	reply_base64(out, "received", received->data, received->len);
	reply_text(out, "end", how);
	if (strcmp(how, "tls") == 0) {
		reply_text(out, "reason", tls_reason(connection->tls));
		if (tls_alert(connection->tls) >= 0)
			reply_number(out, "alert", tls_alert(connection->tls));
	}
	reply_number(out, "us", (int64_t)(loop_now_us() - connection->started_us));
	reply_end(out);
	end(connection);
}

static void reply_unconnected(struct connection *connection, int err)
{
	struct buf *out = &connection->helper->out;

	reply_begin(out, connection->id);
	reply_flag(out, "connected", false);
	reply_reason(out, err);
	reply_number(out, "us", (int64_t)(loop_now_us() - connection->started_us));
	reply_end(out);
	end(connection);
}

static void deadline(struct timer *timer)
{
	struct connection *connection = container_of(timer, struct connection, timer);

	if (connection->connected_us == 0)
		reply_unconnected(connection, ETIMEDOUT);
	else
		reply_connected(connection, "timeout");
}

/* Writes as much as possible. False when the peer closed the connection. */
static bool write_some(struct connection *connection)
{
	struct exchange *exchange = &connection->exchange;

	while (exchange->sent < exchange->send.len) {
		ssize_t wrote = send(connection->watch.fd, exchange->send.data + exchange->sent,
				     exchange->send.len - exchange->sent, MSG_NOSIGNAL);
		if (wrote < 0)
			return errno == EAGAIN;
		exchange->sent += (size_t)wrote;
	}
	loop_rewatch(&connection->helper->loop, &connection->watch, EPOLLIN);
	return true;
}

/* Reads what has arrived. Returns how reading ended; NULL when more may come. */
static const char *read_some(struct connection *connection)
{
	struct buf *received = &connection->exchange.received;

	while (received->len < connection->exchange.max_bytes) {
		size_t left = connection->exchange.max_bytes - received->len;
		size_t space = left < 4096 ? left : 4096;
		ssize_t got = recv(connection->watch.fd, buf_reserve(received, space), space, 0);

		if (got < 0)
			return errno == EAGAIN ? NULL : "reset";
		if (got == 0)
			return "closed";
		received->len += (size_t)got;
	}
	return "full";
}

static void go_on_securely(struct connection *connection)
{
	uint32_t events;
	const char *how = tls_go_on(connection->tls, &connection->exchange, &events);

	if (how != NULL)
		reply_connected(connection, how);
	else
		loop_rewatch(&connection->helper->loop, &connection->watch, events);
}

static void ready(struct watch *watch, uint32_t events)
{
	struct connection *connection = container_of(watch, struct connection, watch);
	const char *how;

	if (connection->connected_us == 0) {
		int err = 0;
		socklen_t len = sizeof(err);
		getsockopt(watch->fd, SOL_SOCKET, SO_ERROR, &err, &len);
		if (err != 0) {
			reply_unconnected(connection, err);
			return;
		}
		connection->connected_us = loop_now_us();
		if (connection->secure)
			connection->tls = tls_new(connection->helper, watch->fd, connection->server_name);
		else if (connection->exchange.send.len == 0) {
			reply_connected(connection, "none");
			return;
		}
		events |= EPOLLOUT;
	}
	if (connection->secure) {
		go_on_securely(connection);
		return;
	}
	/* A peer that resets while we write may still have sent an answer before. */
	if ((events & EPOLLOUT) && !write_some(connection))
		events |= EPOLLIN;
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
		how = read_some(connection);
		if (how != NULL)
			reply_connected(connection, how);
	}
}

/* `tls`: an object, with the server's name if it is to be named. */
static bool read_tls(struct request *request, struct connection *connection)
{
	const struct json *tls = json_member(request->fields, "tls");
	const char *name;

	if (tls == NULL)
		return true;
	if (tls->type != JSON_OBJECT)
		return fail(request, "tls is not an object");
	connection->secure = true;
	if (json_member(tls, "serverName") == NULL)
		return true;
	if (!field_text(request, tls, "serverName", &name))
		return false;
	if (*name == '\0' || strlen(name) > LIMIT_SERVER_NAME)
		return fail(request, "serverName is not from 1 to %d bytes long", LIMIT_SERVER_NAME);
	connection->server_name = memory_text(name);
	return true;
}

static bool read_exchange(struct request *request, struct connection *connection)
{
	struct exchange *exchange = &connection->exchange;
	int64_t max_bytes = DEFAULT_MAX_BYTES;
	uint8_t *data;
	size_t len;

	if (json_member(request->fields, "maxBytes") != NULL &&
	    !field_number(request, request->fields, "maxBytes", 1, LIMIT_MAX_BYTES, &max_bytes))
		return false;
	exchange->max_bytes = (size_t)max_bytes;
	if (json_member(request->fields, "send") == NULL)
		return true;
	if (!field_bytes(request, request->fields, "send", &data, &len))
		return false;
	if (len > LIMIT_SEND_BYTES)
		return fail(request, "send is longer than %d bytes", LIMIT_SEND_BYTES);
	buf_put(&exchange->send, data, len);
	return true;
}

/* Opens a socket and starts to connect. `err`: 0, or why the target is unreachable. False with the failure written. */
static bool dial(struct request *request, struct netns *netns, int *fd, int *err)
{
	struct linger reset = {.l_onoff = 1, .l_linger = 0};
	struct address target, source;
	struct sockaddr_storage to, from;
	socklen_t len;
	int64_t port;
	int on = 1;

	if (!field_address(request, request->fields, "address", &target) ||
	    !field_number(request, request->fields, "port", 1, 65535, &port))
		return false;
	len = address_to_sockaddr(&target, (uint16_t)port, &to);
	*fd = netns_socket(netns, target.family, SOCK_STREAM, 0);
	if (*fd < 0)
		return fail_errno(request, errno, "socket");
	/* Closes by reset, so that no port stays in TIME_WAIT for a minute. */
	setsockopt(*fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (json_member(request->fields, "source") != NULL) {
		if (!field_address(request, request->fields, "source", &source))
			return false;
		setsockopt(*fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
		if (bind(*fd, (struct sockaddr *)&from, address_to_sockaddr(&source, 0, &from)) < 0)
			return fail_errno(request, errno, "source");
	}
	*err = connect(*fd, (struct sockaddr *)&to, len) == 0 || errno == EINPROGRESS ? 0 : errno;
	return true;
}

static bool start(struct request *request, struct netns *netns, struct connection *connection, int *fd)
{
	int64_t timeout_ms;
	int err;

	if (!field_number(request, request->fields, "timeoutMs", 1, 86400000, &timeout_ms) ||
	    !read_tls(request, connection) || !read_exchange(request, connection))
		return false;
	connection->started_us = loop_now_us();
	if (!dial(request, netns, fd, &err))
		return false;
	if (err == 0 && !loop_watch(&request->helper->loop, &connection->watch, *fd, EPOLLIN | EPOLLOUT))
		return fail_errno(request, errno, "epoll");
	request->helper->probes++;
	if (err != 0) {
		connection->watch.fd = *fd;
		reply_unconnected(connection, err);
		return true;
	}
	loop_timer(&request->helper->loop, &connection->timer, connection->started_us + (uint64_t)timeout_ms * 1000);
	return true;
}

bool op_connect(struct request *request)
{
	struct connection *connection;
	struct netns *netns;
	int fd = -1;

	if (!request_netns(request, &netns))
		return false;
	connection = memory_new(sizeof(*connection));
	connection->helper = request->helper;
	connection->id = request->id;
	connection->watch = (struct watch){.fd = -1, .ready = ready};
	connection->timer = (struct timer){.fire = deadline, .request = request->id};
	if (start(request, netns, connection, &fd))
		return true;
	if (fd >= 0)
		close(fd);
	forget(connection);
	free(connection);
	return false;
}
