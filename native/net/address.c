#include "address.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

bool address_parse(struct address *out, const char *text)
{
	*out = (struct address){.family = strchr(text, ':') == NULL ? AF_INET : AF_INET6};
	return inet_pton(out->family, text, out->bytes) == 1;
}

bool prefix_parse(struct address *out, uint8_t *prefix, const char *text)
{
	char address[ADDRESS_TEXT];
	const char *slash = strchr(text, '/');
	char *end;
	unsigned long bits;

	if (slash == NULL || (size_t)(slash - text) >= sizeof(address) || slash[1] < '0' || slash[1] > '9')
		return false;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	bits = strtoul(slash + 1, &end, 10);
	if (*end != '\0' || !address_parse(out, address) || bits > address_len(out->family) * 8u)
		return false;
	*prefix = (uint8_t)bits;
	return true;
}

const char *address_print(char *text, int family, const void *bytes)
{
	inet_ntop(family, bytes, text, ADDRESS_TEXT);
	return text;
}

uint8_t address_len(int family)
{
	return family == AF_INET ? 4 : 16;
}

bool address_equal(const struct address *one, const struct address *other)
{
	return one->family == other->family && memcmp(one->bytes, other->bytes, address_len(one->family)) == 0;
}

socklen_t address_to_sockaddr(const struct address *address, uint16_t port, struct sockaddr_storage *out)
{
	memset(out, 0, sizeof(*out));
	if (address->family == AF_INET) {
		struct sockaddr_in *in = (struct sockaddr_in *)out;
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, address->bytes, 4);
		return sizeof(*in);
	}
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	memcpy(&in6->sin6_addr, address->bytes, 16);
	return sizeof(*in6);
}
