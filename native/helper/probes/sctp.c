/*
 * sctp: sends an INIT to an endpoint (RFC 9260) and reads the answer: INIT ACK, ABORT, an ICMP error, or nothing. It
 * answers an INIT ACK with ABORT, so no association is established. It repeats an INIT without answer, as a client
 * would, since one lost packet says nothing about the endpoint.
 *
 * Each probe has a raw socket, since the kernel may have no SCTP. While the socket is open, the kernel sends no ICMP
 * error (protocol unreachable) for the answer.
 */
#include <time.h>

#include <errno.h>
#include <linux/errqueue.h> /* wants <time.h> before it */
#include <linux/filter.h>
#include <linux/icmp.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../requests/operations.h"
#include "../requests/request_target.h"
#include "sctp_packet.h"

/* The source ports of the node's own packets to members. Other ports belong to connections that it translates. */
#define FIRST_OWN_PORT 32768
/* An INIT ACK is not fragmented, so it is not longer than a jumbo frame. */
#define MAX_PACKET 9216
/* The probe ends after this many wrong answers. */
#define MAX_SPOILT 16
/* RFC 9260 section 16: RTO.Initial. It doubles (section 6.3.3). */
#define FIRST_WAIT_US 1000000

struct attempt {
	struct helper *helper;
	struct watch watch;
	struct timer timer;
	int64_t id;
	uint64_t started_us;
	uint64_t deadline_us;
	uint64_t wait_us; /* for an answer, until the INIT goes again */
	int family;
	struct sctp_init init;
	unsigned spoilt;
};

static void end(struct attempt *attempt)
{
	struct loop *loop = &attempt->helper->loop;

	loop_untimer(loop, &attempt->timer);
	loop_close(&attempt->watch);
	attempt->helper->probes--;
	loop_free(loop, attempt);
}

static struct buf *reply_begun(const struct attempt *attempt, bool accepted)
{
	struct buf *out = &attempt->helper->out;

	reply_begin(out, attempt->id);
	reply_flag(out, "accepted", accepted);
	return out;
}

static void reply_ended(struct attempt *attempt)
{
	struct buf *out = &attempt->helper->out;

	reply_number(out, "us", (int64_t)(loop_now_us() - attempt->started_us));
	reply_end(out);
	end(attempt);
}

static void reply_unreached(struct attempt *attempt, int err)
{
	reply_reason(reply_begun(attempt, false), err);
	reply_ended(attempt);
}

static void reply_refused(struct attempt *attempt, const char *reason, int cause)
{
	struct buf *out = reply_begun(attempt, false);

	reply_text(out, "reason", reason);
	if (cause >= 0)
		reply_number(out, "cause", cause);
	reply_ended(attempt);
}

static void wait_for_answer(struct attempt *attempt)
{
	uint64_t again_us = loop_now_us() + attempt->wait_us;
	uint64_t at_us = again_us < attempt->deadline_us ? again_us : attempt->deadline_us;

	loop_timer(&attempt->helper->loop, &attempt->timer, at_us);
}

/* An error here is about an earlier packet, or is in the error queue too. */
static void send_again(struct attempt *attempt)
{
	uint8_t packet[SCTP_INIT_LEN];

	sctp_put_init(packet, &attempt->init);
	(void)!send(attempt->watch.fd, packet, sizeof(packet), MSG_NOSIGNAL);
	attempt->wait_us *= 2;
	wait_for_answer(attempt);
}

static void waited(struct timer *timer)
{
	struct attempt *attempt = container_of(timer, struct attempt, timer);

	if (loop_now_us() < attempt->deadline_us && !timer->given_up)
		send_again(attempt);
	else if (attempt->spoilt > 0)
		reply_refused(attempt, "wrong checksum", -1);
	else
		reply_unreached(attempt, ETIMEDOUT);
}

/* A server keeps no state for an INIT, but a middlebox may. The ABORT clears it. */
static void reply_accepted(struct attempt *attempt, uint32_t peer_tag)
{
	uint8_t abort_packet[SCTP_ABORT_LEN];

	sctp_put_abort(abort_packet, &attempt->init, peer_tag);
	(void)!send(attempt->watch.fd, abort_packet, sizeof(abort_packet), MSG_NOSIGNAL);
	reply_begun(attempt, true);
	reply_ended(attempt);
}

static void take(struct attempt *attempt, const uint8_t *packet, size_t len)
{
	/* A raw IPv4 socket gives the IP header too. */
	size_t header = attempt->family == AF_INET ? (packet[0] & 15u) * 4u : 0;
	struct sctp_answer answer = {.result = SCTP_SPOILT};

	if (len <= MAX_PACKET && header <= len)
		answer = sctp_read_answer(packet + header, len - header, &attempt->init);
	switch (answer.result) {
	case SCTP_ACCEPTED:
		reply_accepted(attempt, answer.peer_tag);
		break;
	case SCTP_ABORTED:
		reply_refused(attempt, "aborted", answer.cause);
		break;
	case SCTP_MALFORMED:
		reply_refused(attempt, "malformed answer", -1);
		break;
	case SCTP_SPOILT:
		if (++attempt->spoilt == MAX_SPOILT)
			loop_close(&attempt->watch);
		break;
	case SCTP_OTHER:
		break;
	}
}

/* The errno of the ICMP error if it quotes our INIT; otherwise 0. */
static int judged(const struct attempt *attempt, const struct sock_extended_err *error, const uint8_t *quoted, size_t len)
{
	bool unknown_protocol = error->ee_origin == SO_EE_ORIGIN_ICMP6 && error->ee_type == ICMP6_PARAM_PROB &&
				error->ee_code == ICMP6_PARAMPROB_NEXTHEADER;

	if (error->ee_origin != SO_EE_ORIGIN_ICMP && error->ee_origin != SO_EE_ORIGIN_ICMP6)
		return 0;
	/* A packet that was too long says nothing about the target. */
	if (error->ee_errno == EMSGSIZE || !sctp_quotes_init(quoted, len, &attempt->init))
		return 0;
	return unknown_protocol ? ENOPROTOOPT : (int)error->ee_errno;
}

/* Reads one error. True if it ended the attempt. */
static bool ended_by_error(struct attempt *attempt)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in6))];
	uint8_t quoted[SCTP_INIT_LEN];
	struct iovec part = {.iov_base = quoted, .iov_len = sizeof(quoted)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	ssize_t len = recvmsg(attempt->watch.fd, &message, MSG_ERRQUEUE);
	int err = 0;

	if (len < 0)
		return false;
	for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at != NULL; at = CMSG_NXTHDR(&message, at)) {
		bool is_error = (at->cmsg_level == SOL_IP && at->cmsg_type == IP_RECVERR) ||
				(at->cmsg_level == SOL_IPV6 && at->cmsg_type == IPV6_RECVERR);
		if (is_error)
			err = judged(attempt, (const struct sock_extended_err *)CMSG_DATA(at), quoted, (size_t)len);
	}
	if (err != 0)
		reply_unreached(attempt, err);
	return err != 0;
}

/* One packet or error in each turn, so that a flood does not delay other probes. */
static void ready(struct watch *watch, uint32_t events)
{
	struct attempt *attempt = container_of(watch, struct attempt, watch);
	uint8_t packet[MAX_PACKET];
	ssize_t len;

	if ((events & EPOLLERR) && ended_by_error(attempt))
		return;
	/* recv returns an error once; it was in the error queue, or still is. */
	len = recv(watch->fd, packet, sizeof(packet), MSG_TRUNC);
	if (len > 0)
		take(attempt, packet, (size_t)len);
}

/*
 * A raw socket receives everything that the target sends. The filter drops what does not answer our INIT, so that nothing
 * else wakes us. The data of an IPv4 packet begins with the IP header.
 */
static bool admit_answers(int fd, int family, const struct sctp_init *init)
{
	uint32_t ports = (uint32_t)init->port << 16 | init->own_port;
	struct sock_filter code[] = {
		family == AF_INET ? (struct sock_filter)BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0)
				  : (struct sock_filter)BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ports, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_IND, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, init->tag, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {.filter = code, .len = sizeof(code) / sizeof(*code)};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
}

/* Connected, so the kernel drops packets of other addresses and reports ICMP errors, including transient ones. */
static int send_init(int fd, const struct address *target, const struct sctp_init *init)
{
	bool is_v4 = target->family == AF_INET;
	uint8_t packet[SCTP_INIT_LEN];
	struct sockaddr_storage to;
	socklen_t to_len = address_to_sockaddr(target, 0, &to);
	int on = 1;

	sctp_put_init(packet, init);
	if (setsockopt(fd, is_v4 ? SOL_IP : SOL_IPV6, is_v4 ? IP_RECVERR : IPV6_RECVERR, &on, sizeof(on)) < 0 ||
	    connect(fd, (struct sockaddr *)&to, to_len) < 0 || send(fd, packet, sizeof(packet), MSG_NOSIGNAL) < 0)
		return errno;
	return 0;
}

/* Random ports and tag: only a host that has seen the INIT can answer. */
static bool draw(struct sctp_init *init)
{
	if (getrandom(&init->tag, sizeof(init->tag), 0) != sizeof(init->tag) ||
	    getrandom(&init->own_port, sizeof(init->own_port), 0) != sizeof(init->own_port))
		return false;
	init->own_port |= FIRST_OWN_PORT;
	init->tag += init->tag == 0;
	return true;
}

static bool start(struct request *request, struct netns *netns, struct attempt *attempt, int *fd)
{
	struct helper *helper = request->helper;
	struct address target;
	int64_t port, timeout_ms;
	int err;

	if (!field_address(request, request->fields, "address", &target) ||
	    !field_number(request, request->fields, "port", 1, 65535, &port) ||
	    !field_number(request, request->fields, "timeoutMs", 1, 86400000, &timeout_ms))
		return false;
	attempt->family = target.family;
	attempt->init.port = (uint16_t)port;
	*fd = draw(&attempt->init) ? netns_socket(netns, target.family, SOCK_RAW, IPPROTO_SCTP) : -1;
	if (*fd < 0 || !admit_answers(*fd, target.family, &attempt->init) ||
	    !loop_watch(&helper->loop, &attempt->watch, *fd, EPOLLIN))
		return fail_errno(request, errno, "raw socket");
	attempt->started_us = loop_now_us();
	attempt->deadline_us = attempt->started_us + (uint64_t)timeout_ms * 1000;
	attempt->wait_us = FIRST_WAIT_US;
	helper->probes++;
	err = send_init(*fd, &target, &attempt->init);
	if (err != 0)
		reply_unreached(attempt, err);
	else
		wait_for_answer(attempt);
	return true;
}

bool op_sctp(struct request *request)
{
	struct attempt *attempt;
	struct netns *netns;
	int fd = -1;

	if (!request_netns(request, &netns))
		return false;
	attempt = memory_new(sizeof(*attempt));
	*attempt = (struct attempt){.helper = request->helper,
				    .id = request->id,
				    .watch = {.fd = -1, .ready = ready},
				    .timer = {.fire = waited, .request = request->id}};
	if (start(request, netns, attempt, &fd))
		return true;
	if (fd >= 0)
		close(fd);
	free(attempt);
	return false;
}
