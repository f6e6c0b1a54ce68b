/* IPv4 and IPv6 addresses. */
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct address {
	int family; /* AF_INET or AF_INET6 */
	uint8_t bytes[16];
};

#define ADDRESS_TEXT INET6_ADDRSTRLEN

bool address_parse(struct address *out, const char *text);
/* `192.0.2.0/24`. */
bool prefix_parse(struct address *out, uint8_t *prefix, const char *text);
/* Writes ADDRESS_TEXT bytes at most and returns `text`. */
const char *address_print(char *text, int family, const void *bytes);
uint8_t address_len(int family);
bool address_equal(const struct address *one, const struct address *other);
socklen_t address_to_sockaddr(const struct address *address, uint16_t port, struct sockaddr_storage *out);
