#include "datagram.h"

#include <arpa/inet.h>
#include <endian.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MAGIC "SFR1"
#define HEAD 32
#define MAC_BYTES 16

void put64(uint8_t *at, uint64_t number)
{
	number = htobe64(number);
	memcpy(at, &number, sizeof(number));
}

uint64_t get64(const uint8_t *at)
{
	uint64_t number;

	memcpy(&number, at, sizeof(number));
	return be64toh(number);
}

static void mac_of(const struct flows *flows, const uint8_t *data, size_t len, uint8_t out[EVP_MAX_MD_SIZE])
{
	unsigned int size;

	if (HMAC(EVP_sha256(), flows->config.key, KEY_BYTES, data, len, out, &size) == NULL)
		abort();
}

void datagram_send(struct flows *flows, struct peer *peer, enum datagram_kind kind, uint8_t flags, uint16_t count,
		   const void *body, size_t len)
{
	uint8_t datagram[DATAGRAM_MOST], mac[EVP_MAX_MD_SIZE];
	struct sockaddr_storage to;
	socklen_t to_len = address_to_sockaddr(&peer->address, peer->port, &to);

	if (flows->socket_fd < 0)
		return;
	memcpy(datagram, MAGIC, 4);
	datagram[4] = (uint8_t)kind;
	datagram[5] = flags;
	count = htons(count);
	memcpy(datagram + 6, &count, 2);
	put64(datagram + 8, peer->own_epoch);
	put64(datagram + 16, peer->epoch);
	put64(datagram + 24, ++peer->sent_seq);
	memcpy(datagram + HEAD, body, len);
	mac_of(flows, datagram, HEAD + len, mac);
	memcpy(datagram + HEAD + len, mac, MAC_BYTES);
	if (sendto(flows->socket_fd, datagram, HEAD + len + MAC_BYTES, 0, (struct sockaddr *)&to, to_len) >= 0)
		peer->sent++;
}

bool datagram_read(const struct flows *flows, const uint8_t *data, size_t len, struct datagram *out)
{
	uint8_t mac[EVP_MAX_MD_SIZE];

	if (len < HEAD + MAC_BYTES || len > DATAGRAM_MOST || memcmp(data, MAGIC, 4) != 0)
		return false;
	len -= MAC_BYTES;
	mac_of(flows, data, len, mac);
	if (CRYPTO_memcmp(mac, data + len, MAC_BYTES) != 0)
		return false;
	*out = (struct datagram){
		.kind = data[4],
		.flags = data[5],
		.epoch = get64(data + 8),
		.to = get64(data + 16),
		.seq = get64(data + 24),
		.body = data + HEAD,
		.len = len - HEAD,
	};
	return true;
}
