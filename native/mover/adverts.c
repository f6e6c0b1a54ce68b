#include "adverts.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>
#include <sys/socket.h>

#include "announce_vips.h"

#define VRRP 112
#define ADVERTISEMENT 1
/* Time for keepalived to process the same advert, and to notify us if the other node won. */
#define JUDGED_US 20000
#define REANNOUNCE_EVERY_US 500000
#define CONTEST_US 2000000

void adverts_open(int fds[2])
{
	int on = 1;

	fds[0] = socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, VRRP);
	fds[1] = socket(AF_INET6, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, VRRP);
	if (fds[1] >= 0)
		setsockopt(fds[1], IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &on, sizeof(on));
}

static void heard(struct mover *mover, uint8_t vrid)
{
	uint64_t now = now_us();

	for (size_t i = 0; i < SHARDS; i++) {
		struct shard *shard = &mover->shards[i];
		uint64_t earliest = shard->reannounced_us + REANNOUNCE_EVERY_US;
		if (shard->vrid != vrid)
			continue;
		shard->heard_us = now;
		if (shard->state != STATE_MASTER)
			continue;
		shard->contested_us = now;
		if (shard->reannounce_us != 0)
			continue;
		shard->reannounce_us = now + JUDGED_US;
		if (shard->reannounced_us != 0 && shard->reannounce_us < earliest)
			shard->reannounce_us = earliest;
		mover->conflicts++;
		mover->changed = true;
	}
}

/* IPv6 raw sockets give the payload, with the hop limit as ancillary data. IPv4 ones give the whole packet. */
static int hop_limit(struct msghdr *message)
{
	for (struct cmsghdr *control = CMSG_FIRSTHDR(message); control != NULL; control = CMSG_NXTHDR(message, control))
		if (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_HOPLIMIT) {
			int limit;
			memcpy(&limit, CMSG_DATA(control), sizeof(limit));
			return limit;
		}
	return -1;
}

void adverts_read(struct mover *mover, int fd)
{
	uint8_t packet[256];
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct sockaddr_storage from;
	struct iovec data = {.iov_base = packet, .iov_len = sizeof(packet)};

	for (;;) {
		struct msghdr message = {.msg_name = &from,
					 .msg_namelen = sizeof(from),
					 .msg_iov = &data,
					 .msg_iovlen = 1,
					 .msg_control = control,
					 .msg_controllen = sizeof(control)};
		ssize_t len = recvmsg(fd, &message, 0);
		const uint8_t *advert = packet;
		int hops;

		if (len < 0)
			return;
		if (from.ss_family == AF_INET) {
			size_t header = (size_t)(packet[0] & 0xf) * 4;
			if (len < (ssize_t)sizeof(struct iphdr) || len < (ssize_t)header)
				continue;
			hops = packet[offsetof(struct iphdr, ttl)];
			advert += header;
			len -= (ssize_t)header;
		} else {
			hops = hop_limit(&message);
		}
		/* Any other hop limit comes from behind a router (RFC 5798 5.1.1.3). */
		if (len >= 8 && hops == 255 && (advert[0] & 0xf) == ADVERTISEMENT && (advert[0] >> 4 == 2 || advert[0] >> 4 == 3))
			heard(mover, advert[1]);
	}
}

uint64_t adverts_reannounce(struct mover *mover)
{
	uint64_t now = now_us(), next = 0;

	for (size_t i = 0; i < SHARDS; i++) {
		struct shard *shard = &mover->shards[i];
		if (shard->reannounce_us == 0)
			continue;
		if (shard->reannounce_us <= now) {
			shard->reannounce_us = 0;
			shard->reannounced_us = now;
			announce_again(mover, (uint8_t)i);
		} else if (next == 0 || shard->reannounce_us < next) {
			next = shard->reannounce_us;
		}
	}
	return next;
}

bool adverts_contested(const struct shard *shard)
{
	return shard->contested_us != 0 && now_us() - shard->contested_us < CONTEST_US;
}
