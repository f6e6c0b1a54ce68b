/*
 * Unit tests of the datagrams of flow replication: only the node that a datagram was made for accepts it. Three nodes
 * on three addresses of the loopback.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../flows/datagram.h"

#define expect(condition)                                                                                                        \
	do {                                                                                                                     \
		if (!(condition)) {                                                                                              \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                          \
			exit(1);                                                                                                 \
		}                                                                                                                \
	} while (0)

#define NODES 3

struct node {
	struct flows flows;
	struct peer peers[NODES];
};

static struct node nodes[NODES];

static void make_node(int number)
{
	struct node *node = &nodes[number];
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);
	char text[ADDRESS_TEXT];

	snprintf(text, sizeof(text), "127.0.0.%d", 101 + number);
	expect(address_parse(&node->flows.config.address, text));
	memset(node->flows.config.key, 0xa5, KEY_BYTES);
	node->flows.socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	expect(bind(node->flows.socket_fd, (struct sockaddr *)&name, address_to_sockaddr(&node->flows.config.address, 0, &name)) == 0);
	expect(getsockname(node->flows.socket_fd, (struct sockaddr *)&name, &len) == 0);
	node->flows.config.port = ntohs(((struct sockaddr_in *)&name)->sin_port);
}

static void meet(int version)
{
	for (int i = 0; i < NODES; i++)
		for (int j = 0; j < NODES; j++) {
			struct peer *peer = &nodes[i].peers[j];
			*peer = (struct peer){.address = nodes[j].flows.config.address, .port = nodes[j].flows.config.port};
			peer->own_epoch = (uint64_t)(10 * i + j + 1);
			peer->understood_us = version == 2 ? 1 : 0;
			datagram_keys(&nodes[i].flows, peer);
		}
}

/* What node `from` sends to node `to`, as it arrives there, in memory of just its size. */
static uint8_t *sent(int from, int to, enum datagram_kind kind, const void *body, size_t body_len, size_t *len)
{
	uint8_t data[2048], *copy;
	ssize_t got;

	datagram_send(&nodes[from].flows, &nodes[from].peers[to], kind, 0, 3, body, body_len);
	got = recv(nodes[to].flows.socket_fd, data, sizeof(data), MSG_DONTWAIT);
	expect(got > 0);
	*len = (size_t)got;
	copy = malloc(*len);
	expect(copy != NULL);
	memcpy(copy, data, *len);
	return copy;
}

static bool reads(int at, int as_from, const uint8_t *data, size_t len, struct datagram *out)
{
	return datagram_read(&nodes[at].flows, &nodes[at].peers[as_from], data, len, out);
}

static void is_good_at_its_receiver_alone(void)
{
	struct datagram out;
	size_t len;
	uint8_t *data;

	meet(2);
	data = sent(0, 1, DATAGRAM_FLOWS, "body", 4, &len);
	expect(reads(1, 0, data, len, &out));
	expect(out.version == 2 && out.kind == DATAGRAM_FLOWS && out.count == 3 && out.len == 4 && memcmp(out.body, "body", 4) == 0);
	/*
	 * Reflected to its sender, also after the sender has other epochs; forwarded to a third node; sent by a third
	 * node.
	 */
	expect(!reads(0, 1, data, len, &out));
	nodes[0].peers[1].own_epoch = 77;
	expect(!reads(0, 1, data, len, &out));
	expect(!reads(2, 0, data, len, &out));
	expect(!reads(1, 2, data, len, &out));
	for (size_t i = 0; i < len; i++) {
		data[i] ^= 0x20;
		expect(!reads(1, 0, data, len, &out));
		data[i] ^= 0x20;
	}
	for (size_t cut = 0; cut < len; cut++)
		expect(!reads(1, 0, data, cut, &out));
	free(data);
}

static void does_not_believe_its_own_words_in_version_1(void)
{
	struct datagram out;
	size_t len;
	uint8_t *data;

	meet(1);
	data = sent(0, 1, DATAGRAM_HELLO, "0123456789abcdef", 16, &len);
	expect(memcmp(data, "SFR1", 4) == 0);
	expect(reads(1, 0, data, len, &out));
	/* The peer signals that it understands version 2. */
	expect(out.version == 1 && out.count == 2);
	expect(!reads(0, 1, data, len, &out));
	free(data);
}

static void takes_no_version_for_another(void)
{
	struct datagram out;
	size_t len;
	uint8_t *data;

	meet(1);
	data = sent(0, 1, DATAGRAM_FLOWS, "", 0, &len);
	data[3] = '2';
	expect(!reads(1, 0, data, len, &out));
	data[3] = '3';
	expect(!reads(1, 0, data, len, &out));
	free(data);
}

int main(void)
{
	for (int i = 0; i < NODES; i++)
		make_node(i);
	is_good_at_its_receiver_alone();
	does_not_believe_its_own_words_in_version_1();
	takes_no_version_for_another();
	for (int i = 0; i < NODES; i++)
		close(nodes[i].flows.socket_fd);
	return 0;
}
