#include "cache.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <sys/random.h>

#include "../daemon/memory.h"

#define BUCKETS 256
#define WAYS 8

static uint8_t key[DIGEST_BYTES];
static struct bucket {
	struct digest ways[WAYS];
	unsigned used, next;
} buckets[BUCKETS];

bool cache_open(void)
{
	return getrandom(key, sizeof key, 0) == sizeof key;
}

bool cache_digest(struct digest *digest, const char *list, const char *name, const char *password)
{
	struct buf text = {0};
	bool done;

	/* The terminating zero bytes are part of the digest, so that two different credentials never give the same text. */
	buf_put(&text, list, strlen(list) + 1);
	buf_put(&text, name, strlen(name) + 1);
	buf_put(&text, password, strlen(password) + 1);
	done = HMAC(EVP_sha256(), key, sizeof key, text.data, text.len, digest->bytes, NULL) != NULL;
	OPENSSL_cleanse(text.data, text.len);
	buf_reset(&text, 0);
	return done;
}

bool cache_has(const struct digest *digest)
{
	const struct bucket *bucket = &buckets[digest->bytes[0]];

	for (unsigned at = 0; at < bucket->used; at++)
		if (CRYPTO_memcmp(bucket->ways[at].bytes, digest->bytes, DIGEST_BYTES) == 0)
			return true;
	return false;
}

void cache_add(const struct digest *digest)
{
	struct bucket *bucket = &buckets[digest->bytes[0]];

	if (cache_has(digest))
		return;
	bucket->ways[bucket->next] = *digest;
	bucket->next = (bucket->next + 1) % WAYS;
	if (bucket->used < WAYS)
		bucket->used++;
}
