/*
 * A bounded cache of valid credentials: keyed digests of list, name and password. New ones replace old ones. The key is random
 * and never leaves the process, so the digests are useless to anybody else.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define DIGEST_BYTES 32

struct digest {
	uint8_t bytes[DIGEST_BYTES];
};

/* False if no random key could be drawn. */
bool cache_open(void);
/* False on failure. */
bool cache_digest(struct digest *digest, const char *list, const char *name, const char *password);
bool cache_has(const struct digest *digest);
void cache_add(const struct digest *digest);
