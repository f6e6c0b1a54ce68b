#include "datagram.h"

#include <arpa/inet.h>
#include <endian.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MAGIC "SFR"
#define VERSION_AT 3
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

static void mac_of(const uint8_t key[KEY_BYTES], const uint8_t *data, size_t len, uint8_t out[EVP_MAX_MD_SIZE])
{
	unsigned int size;

	if (HMAC(EVP_sha256(), key, KEY_BYTES, data, len, out, &size) == NULL)
		abort();
}

static void key_of(const struct flows *flows, const struct address *from, const struct address *to, uint8_t key[KEY_BYTES])
{
	static const uint8_t purpose[] = "spout flows 2";
	uint8_t text[sizeof(purpose) + 2 * 17] = {0}, mac[EVP_MAX_MD_SIZE];
	uint8_t *at = text + sizeof(purpose);

	memcpy(text, purpose, sizeof(purpose));
	at[0] = address_len(from->family);
	memcpy(at + 1, from->bytes, at[0]);
	at[17] = address_len(to->family);
	memcpy(at + 18, to->bytes, at[17]);
	mac_of(flows->config.key, text, sizeof(text), mac);
	memcpy(key, mac, KEY_BYTES);
}

void datagram_keys(const struct flows *flows, struct peer *peer)
{
	key_of(flows, &flows->config.address, &peer->address, peer->send_key);
	key_of(flows, &peer->address, &flows->config.address, peer->receive_key);
}

void datagram_send(struct flows *flows, struct peer *peer, enum datagram_kind kind, uint8_t flags, uint16_t count,
		   const void *body, size_t len)
{
	uint8_t datagram[DATAGRAM_MOST], mac[EVP_MAX_MD_SIZE];
	struct sockaddr_storage to;
	socklen_t to_len = address_to_sockaddr(&peer->address, peer->port, &to);

	if (flows->socket_fd < 0)
		return;
	bool two = peer->understood_us != 0;

	memcpy(datagram, MAGIC, VERSION_AT);
	datagram[VERSION_AT] = two ? '2' : '1';
	datagram[4] = (uint8_t)kind;
	datagram[5] = flags;
	if (kind == DATAGRAM_HELLO)
		count = 2;
	count = htons(count);
	memcpy(datagram + 6, &count, 2);
	put64(datagram + 8, peer->own_epoch);
	put64(datagram + 16, peer->epoch);
	put64(datagram + 24, ++peer->sent_seq);
	memcpy(datagram + HEAD, body, len);
	mac_of(two ? peer->send_key : flows->config.key, datagram, HEAD + len, mac);
	memcpy(datagram + HEAD + len, mac, MAC_BYTES);
	if (sendto(flows->socket_fd, datagram, HEAD + len + MAC_BYTES, 0, (struct sockaddr *)&to, to_len) >= 0)
		peer->sent++;
}

bool datagram_read(const struct flows *flows, const struct peer *peer, const uint8_t *data, size_t len, struct datagram *out)
{
	uint8_t mac[EVP_MAX_MD_SIZE];
	bool two;

	if (len < HEAD + MAC_BYTES || len > DATAGRAM_MOST || memcmp(data, MAGIC, VERSION_AT) != 0)
		return false;
	two = data[VERSION_AT] == '2';
	if (!two && data[VERSION_AT] != '1')
		return false;
	len -= MAC_BYTES;
	mac_of(two ? peer->receive_key : flows->config.key, data, len, mac);
	if (CRYPTO_memcmp(mac, data + len, MAC_BYTES) != 0)
		return false;
	*out = (struct datagram){
		.version = two ? 2 : 1,
		.kind = data[4],
		.flags = data[5],
		.count = (uint16_t)(data[6] << 8 | data[7]),
		.epoch = get64(data + 8),
		.to = get64(data + 16),
		.seq = get64(data + 24),
		.body = data + HEAD,
		.len = len - HEAD,
	};
	/* Our own datagram was sent back to us. */
	return out->epoch != peer->own_epoch;
}
