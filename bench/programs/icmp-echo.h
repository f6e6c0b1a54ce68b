/* What the echo probers share: checksums, and the kernel's arrival timestamps. */
#ifndef BENCH_ICMP_ECHO_H
#define BENCH_ICMP_ECHO_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include "clock.h"

/* How long to wait for answers after the last probe of a window. */
#define STRAGGLERS_NS (300 * MS)

/* RFC 1071, of whole words. */
static inline uint16_t checksum(const void *data, size_t size)
{
	const uint16_t *word = data;
	uint32_t sum = 0;

	for (; size > 1; size -= 2)
		sum += *word++;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* Makes the kernel timestamp arrivals, with a large receive buffer. */
static inline void stamp_arrivals(int fd)
{
	int one = 1, space = 8 << 20;

	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &space, sizeof(space));
}

/*
 * When a message arrived, by CLOCK_MONOTONIC: its timestamp, or `now` without one. The kernel uses the wall clock,
 * which is `ahead` of ours at present.
 */
static inline long long arrival_ns(struct msghdr *message, long long now, long long ahead)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec t;
			memcpy(&t, CMSG_DATA(c), sizeof(t));
			return t.tv_sec * SECOND + t.tv_nsec - ahead;
		}
	return now;
}
#endif
