#include "nft_message.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <string.h>

size_t nft_message_begin(struct buf *buf, uint16_t type, uint16_t flags, uint32_t seq, uint8_t family, uint16_t res_id)
{
	size_t start = buf->len;
	struct nlmsghdr header = {.nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | flags, .nlmsg_seq = seq};
	struct nfgenmsg netfilter = {.nfgen_family = family, .version = NFNETLINK_V0, .res_id = htons(res_id)};

	buf_put(buf, &header, sizeof(header));
	buf_put(buf, &netfilter, sizeof(netfilter));
	return start;
}

void nft_message_end(struct buf *buf, size_t message)
{
	uint32_t len = (uint32_t)(buf->len - message);
	memcpy(buf->data + message, &len, sizeof(len));
}

static void pad(struct buf *buf, size_t len)
{
	static const uint8_t ZERO[NLA_ALIGNTO];
	buf_put(buf, ZERO, NLA_ALIGN(len) - len);
}

void nft_put_text(struct buf *buf, uint16_t type, const char *text)
{
	size_t len = strlen(text) + 1;
	struct nlattr attr = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type};

	buf_put(buf, &attr, sizeof(attr));
	buf_put(buf, text, len);
	pad(buf, len);
}

size_t nft_nest_begin(struct buf *buf, uint16_t type)
{
	size_t start = buf->len;
	struct nlattr attr = {.nla_type = type | NLA_F_NESTED};

	buf_put(buf, &attr, sizeof(attr));
	return start;
}

void nft_nest_end(struct buf *buf, size_t nest)
{
	uint16_t len = (uint16_t)(buf->len - nest);
	memcpy(buf->data + nest, &len, sizeof(len));
}

bool field_name(struct request *request, const struct json *object, const char *name, const char **out)
{
	return field_text(request, object, name, out) &&
	       ((**out != '\0' && strlen(*out) < NFT_NAME_MAXLEN) || fail(request, "%s is empty or too long", name));
}

bool request_table(struct request *request, struct nft_table *out)
{
	static const struct {
		const char *name;
		uint8_t number;
	} FAMILIES[] = {{"inet", NFPROTO_INET}, {"ip", NFPROTO_IPV4}, {"ip6", NFPROTO_IPV6}, {"netdev", NFPROTO_NETDEV}};
	const char *family;

	if (!field_text(request, request->fields, "family", &family))
		return false;
	for (size_t i = 0; i < sizeof(FAMILIES) / sizeof(*FAMILIES); i++)
		if (strcmp(FAMILIES[i].name, family) == 0) {
			out->family = FAMILIES[i].number;
			return field_name(request, request->fields, "table", &out->name);
		}
	return fail(request, "family is not inet, ip, ip6 or netdev");
}
