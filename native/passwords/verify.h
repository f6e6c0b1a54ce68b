/* Compares a password with a hash as htpasswd and crypt(3) write them. */
#pragma once
#include <stdbool.h>

/*
 * Whether the password has this hash: bcrypt ($2a$, $2b$, $2y$), $apr1$, {SHA}, $5$ or $6$. False for any other kind. How long
 * it takes depends on the kind and cost of the hash. Digests are compared in constant time.
 */
bool verify_password(const char *password, const char *hash);
