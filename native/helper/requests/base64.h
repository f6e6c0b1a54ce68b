/* RFC 4648 section 4, strict: padded, no white space, no bits left over. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `out` may be `text` itself. False when the text is no base64. */
bool base64_decode(uint8_t *out, size_t *out_len, const char *text, size_t len);
/* Writes 4 characters for each 3 bytes begun, without a terminator; returns how many. */
size_t base64_encode(char *out, const uint8_t *data, size_t len);
