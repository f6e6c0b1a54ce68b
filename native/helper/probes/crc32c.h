/* CRC32c, the checksum of SCTP (RFC 9260 appendix A). */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Over more bytes: begin with CRC32C_BEGIN, and invert the last result. */
uint32_t crc32c_more(uint32_t crc, const void *data, size_t len);

#define CRC32C_BEGIN UINT32_MAX
