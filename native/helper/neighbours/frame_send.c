#include "frame_send.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <string.h>

int frame_send(struct netns *netns, int ifindex, const struct frame *frame)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(frame->protocol),
				 .sll_ifindex = ifindex,
				 .sll_halen = 6};

	/*
	 * Protocol 0: this socket receives nothing. It stays open, because closing a packet socket waits for an RCU
	 * grace period, tens of milliseconds.
	 */
	if (netns->packet_fd < 0)
		netns->packet_fd = netns_socket(netns, AF_PACKET, SOCK_DGRAM, 0);
	if (netns->packet_fd < 0)
		return errno;
	memcpy(to.sll_addr, frame->to, 6);
	return sendto(netns->packet_fd, frame->bytes, frame->len, 0, (struct sockaddr *)&to, sizeof(to)) < 0 ? errno : 0;
}
