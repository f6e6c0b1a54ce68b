/*
 * Finds the TCP ports of an address that answer: `port-scan ADDRESS LAST PORT...` sends a SYN to each port from 1 to LAST
 * and to those named, and prints the ports that answered with SYN and ACK, one a line, then `closed N silent N`. A port without an answer is probed twice,
 * unless no port answered at all. The kernel resets opened connections, because no socket here expects them. Needs
 * CAP_NET_RAW.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORTS = 65536, ROUNDS = 2, BURST = 256, QUIET_MS = 300, BUFFER_BYTES = 16 << 20 };
enum state { SILENT, CLOSED, OPEN };

struct target {
	int fd;
	int family;
	uint16_t own_port;
	/* The pseudo header of the checksum of IPv4 (RFC 9293, section 3.1), without the segment. */
	uint32_t pseudo_sum;
};

static unsigned char wanted[PORTS], states[PORTS];
static int answers;

static uint32_t sum_words(const void *data, size_t bytes)
{
	const unsigned char *at = data;
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < bytes; i += 2)
		sum += (uint32_t)at[i] << 8 | at[i + 1];
	return sum;
}

static int open_target(const char *text, struct target *target)
{
	struct sockaddr_storage to = {0}, own = {0};
	socklen_t length = sizeof(struct sockaddr_in), own_length = sizeof(own);
	struct sockaddr_in *v4 = (struct sockaddr_in *)&to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&to;
	int buffer = BUFFER_BYTES, offset = 16;

	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		to.ss_family = AF_INET;
	} else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		to.ss_family = AF_INET6;
		length = sizeof(struct sockaddr_in6);
	} else {
		errno = EINVAL;
		return -1;
	}
	target->family = to.ss_family;
	target->fd = socket(to.ss_family, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	if (target->fd < 0)
		return -1;
	setsockopt(target->fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer));
	if (target->family == AF_INET6 && setsockopt(target->fd, IPPROTO_IPV6, IPV6_CHECKSUM, &offset, sizeof(offset)) != 0)
		return -1;
	if (connect(target->fd, (struct sockaddr *)&to, length) != 0)
		return -1;
	if (getsockname(target->fd, (struct sockaddr *)&own, &own_length) != 0)
		return -1;
	if (target->family == AF_INET)
		target->pseudo_sum = sum_words(&((struct sockaddr_in *)&own)->sin_addr, 4) + sum_words(&v4->sin_addr, 4) +
				     IPPROTO_TCP + sizeof(struct tcphdr);
	target->own_port = (uint16_t)(40000 + getpid() % 20000);
	return 0;
}

/* An error may be of an earlier packet: a call reports the ICMP message that came before it. */
static void ask(const struct target *target, int port)
{
	struct tcphdr header = {0};
	uint32_t sum;

	header.th_sport = htons(target->own_port);
	header.th_dport = htons((uint16_t)port);
	header.th_seq = htonl(0x53500000u + (uint32_t)port);
	header.th_off = sizeof(header) / 4;
	header.th_flags = TH_SYN;
	header.th_win = htons(1024);
	if (target->family == AF_INET) {
		sum = target->pseudo_sum + sum_words(&header, sizeof(header));
		while (sum >> 16)
			sum = (sum & 0xffff) + (sum >> 16);
		header.th_sum = htons((uint16_t)~sum);
	}
	if (send(target->fd, &header, sizeof(header), 0) < 0)
		send(target->fd, &header, sizeof(header), 0);
}

/* Reads packets until none comes for this long. */
static void listen_for(const struct target *target, int quiet_ms)
{
	struct pollfd wait = {.fd = target->fd, .events = POLLIN};
	unsigned char packet[2048];

	while (poll(&wait, 1, quiet_ms) > 0) {
		ssize_t bytes = recv(target->fd, packet, sizeof(packet), 0);
		size_t skip = target->family == AF_INET && bytes > 0 ? (size_t)(packet[0] & 15) * 4 : 0;
		struct tcphdr header;

		if (bytes < 0 || (size_t)bytes < skip + sizeof(header))
			continue;
		memcpy(&header, packet + skip, sizeof(header));
		if (ntohs(header.th_dport) != target->own_port)
			continue;
		answers++;
		if ((header.th_flags & (TH_SYN | TH_ACK)) == (TH_SYN | TH_ACK))
			states[ntohs(header.th_sport)] = OPEN;
		else if (header.th_flags & TH_RST && states[ntohs(header.th_sport)] == SILENT)
			states[ntohs(header.th_sport)] = CLOSED;
	}
}

int main(int count, char **words)
{
	struct target target = {0};
	int closed = 0, silent = 0;

	if (count < 3) {
		fprintf(stderr, "usage: port-scan ADDRESS LAST PORT...\n");
		return 2;
	}
	for (int at = 2; at < count; at++) {
		char *end;
		long port = strtol(words[at], &end, 10);

		if (*end != '\0' || port < 1 || port >= PORTS) {
			fprintf(stderr, "port-scan: not a port: %s\n", words[at]);
			return 2;
		}
		if (at == 2)
			memset(wanted + 1, 1, (size_t)port);
		else
			wanted[port] = 1;
	}
	if (open_target(words[1], &target) != 0) {
		fprintf(stderr, "port-scan: %s: %s\n", words[1], strerror(errno));
		return 1;
	}
	for (int round = 0; round < ROUNDS && (round == 0 || answers > 0); round++) {
		int sent = 0;

		for (int port = 1; port < PORTS; port++)
			if (wanted[port] && states[port] == SILENT) {
				ask(&target, port);
				/* No more at once than a queue on the path holds. */
				if (++sent % BURST == 0)
					listen_for(&target, 1);
			}
		if (sent > 0)
			listen_for(&target, QUIET_MS);
	}
	for (int port = 1; port < PORTS; port++) {
		if (states[port] == OPEN)
			printf("%d\n", port);
		closed += states[port] == CLOSED;
		silent += wanted[port] && states[port] == SILENT;
	}
	printf("closed %d silent %d\n", closed, silent);
	return 0;
}
