/*
 * Sends packets with forged sources, as fast as allowed, until stdin ends or the time is over; then prints how many it
 * sent. `syn`: TCP SYNs that are never followed up. `udp`: packets of 16 bytes, each a flow of its own.
 *
 * flood syn|udp ADDRESS PORT PER_SECOND SECONDS
 * Sources are 203.0.113.128 to .254 with all ports: unused addresses of the lab's client segment.
 */
#include <arpa/inet.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "clock.h"

#define BURST 64
#define FIRST_SOURCE 0xcb007180u /* 203.0.113.128 */
#define SOURCES 127u

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static uint32_t sum_of(const void *data, size_t size)
{
	const uint16_t *words = data;
	uint32_t sum = 0;

	for (size_t n = 0; n < size / 2; n++)
		sum += words[n];
	return sum;
}

struct pseudo {
	uint32_t source, destination;
	uint8_t zero, protocol;
	uint16_t length;
};

int main(int argc, char **argv)
{
	bool syn = argc > 1 && strcmp(argv[1], "syn") == 0;
	size_t payload = syn ? sizeof(struct tcphdr) : sizeof(struct udphdr) + 16;
	struct {
		struct iphdr ip;
		union {
			struct tcphdr tcp;
			struct udphdr udp;
			uint8_t bytes[24];
		};
	} packet = { 0 };
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct pollfd input = { .fd = 0, .events = POLLIN };
	long long started, until, sent = 0, per_second;
	uint32_t turn = 0;
	int one = 1, fd;

	if (argc != 6 || inet_pton(AF_INET, argv[2], &to.sin_addr) != 1)
		return 2;
	per_second = atoll(argv[4]);
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_HDRINCL, &one, sizeof(one)) < 0)
		return 1;
	packet.ip = (struct iphdr){ .version = 4, .ihl = 5, .ttl = 64, .protocol = syn ? IPPROTO_TCP : IPPROTO_UDP,
				    .tot_len = htons(sizeof(packet.ip) + payload), .daddr = to.sin_addr.s_addr };
	started = now_ns();
	until = started + atoll(argv[5]) * SECOND;
	for (;;) {
		long long now = now_ns(), due = (now - started) * per_second / SECOND;

		if (now >= until || (poll(&input, 1, 0) == 1 && (input.revents & (POLLHUP | POLLIN))))
			break;
		if (sent >= due) {
			usleep(200);
			continue;
		}
		for (int n = 0; n < BURST && sent < due; n++, sent++, turn++) {
			uint16_t port = htons(1024 + turn % 64000);
			struct pseudo pseudo;

			packet.ip.saddr = htonl(FIRST_SOURCE + turn / 64000 % SOURCES);
			memset(packet.bytes, 0, sizeof(packet.bytes));
			if (syn) {
				packet.tcp = (struct tcphdr){ .source = port, .dest = htons(atoi(argv[3])), .seq = turn,
							      .doff = 5, .syn = 1, .window = htons(65535) };
			} else {
				packet.udp = (struct udphdr){ .source = port, .dest = htons(atoi(argv[3])),
							      .len = htons(payload) };
			}
			pseudo = (struct pseudo){ packet.ip.saddr, packet.ip.daddr, 0, packet.ip.protocol, htons(payload) };
			if (syn)
				packet.tcp.check = folded(sum_of(&pseudo, sizeof(pseudo)) + sum_of(packet.bytes, payload));
			sendto(fd, &packet, sizeof(packet.ip) + payload, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to));
		}
	}
	printf("%lld\n", sent);
	return 0;
}
