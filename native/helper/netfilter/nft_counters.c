/* nft-counters: the counters of set elements, by key. Never dumps. */
#include <endian.h>
#include <errno.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

#include "../../net/netlink.h"
#include "nft_element.h"
#include "nft_message.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"

/* The answers to one send must fit into the receive queue. */
#define KEYS_PER_SEND 1024
#define NFT_TYPE(message) (NFNL_SUBSYS_NFTABLES << 8 | (message))

struct count {
	uint64_t packets;
	uint64_t bytes;
};

struct counting {
	struct count *counts; /* by sequence number */
	uint32_t keys;
	struct netlink_refusal refusal;
};

static uint64_t number_in(const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *attr = netlink_attr_in(nest, type);

	return attr == NULL || mnl_attr_get_payload_len(attr) != sizeof(uint64_t) ? 0 : be64toh(mnl_attr_get_u64(attr));
}

static void count(const struct nlmsghdr *message, void *arg)
{
	struct counting *counting = arg;
	struct netlink_refusal refusal;
	const struct nlattr *attr, *element = NULL, *counter;

	if (netlink_refused(message, &refusal)) {
		/* A missing element counts as zero. */
		if (refusal.err != ENOENT)
			counting->refusal = refusal;
		return;
	}
	if (message->nlmsg_type != NFT_TYPE(NFT_MSG_NEWSETELEM) || message->nlmsg_seq >= counting->keys)
		return;
	mnl_attr_for_each(attr, message, sizeof(struct nfgenmsg))
		if (mnl_attr_get_type(attr) == NFTA_SET_ELEM_LIST_ELEMENTS)
			element = netlink_attr_in(attr, NFTA_LIST_ELEM);
	counter = netlink_attr_in(netlink_attr_in(element, NFTA_SET_ELEM_EXPR), NFTA_EXPR_DATA);
	counting->counts[message->nlmsg_seq].packets = number_in(counter, NFTA_COUNTER_PACKETS);
	counting->counts[message->nlmsg_seq].bytes = number_in(counter, NFTA_COUNTER_BYTES);
}

struct asked {
	struct nft_table table;
	const char *set;
	const uint8_t *keys;
	struct record_shape shape;
};

static void put_key(struct buf *messages, const struct asked *asked, const struct element_form *form, uint32_t index)
{
	size_t start = nft_message_begin(messages, NFT_TYPE(NFT_MSG_GETSETELEM), 0, index, asked->table.family, 0), nest;

	nft_put_text(messages, NFTA_SET_ELEM_LIST_TABLE, asked->table.name);
	nft_put_text(messages, NFTA_SET_ELEM_LIST_SET, asked->set);
	nest = nft_nest_begin(messages, NFTA_SET_ELEM_LIST_ELEMENTS);
	element_write(buf_extend(messages, form->len), form, &asked->shape, asked->keys + index * asked->shape.key);
	nft_nest_end(messages, nest);
	nft_message_end(messages, start);
}

static int ask(int fd, const struct asked *asked, struct counting *counting)
{
	struct buf messages = {0};
	struct element_form form;
	int err = 0;

	element_form_make(&form, &asked->shape, true);
	for (uint32_t first = 0; err == 0 && first < counting->keys; first += KEYS_PER_SEND) {
		messages.len = 0;
		for (uint32_t i = first; i < first + KEYS_PER_SEND && i < counting->keys; i++)
			put_key(&messages, asked, &form, i);
		err = netlink_ask(fd, messages.data, messages.len, count, counting);
	}
	buf_reset(&messages, 0);
	return err != 0 ? err : counting->refusal.err;
}

bool op_nft_counters(struct request *request)
{
	struct counting counting = {0};
	struct buf counts = {0};
	struct asked asked = {0};
	struct netns *netns;
	int64_t key_len;
	uint8_t *keys;
	size_t len;
	int fd, err;

	if (!request_netns(request, &netns) || !request_table(request, &asked.table) ||
	    !field_name(request, request->fields, "set", &asked.set) ||
	    !field_number(request, request->fields, "key", 1, NFT_DATA_VALUE_MAXLEN, &key_len) ||
	    !field_bytes(request, request->fields, "elements", &keys, &len))
		return false;
	asked.shape.key = (size_t)key_len;
	asked.keys = keys;
	if (len % asked.shape.key != 0)
		return fail(request, "elements is not a whole number of keys");
	fd = netns_netfilter(netns);
	if (fd < 0)
		return fail_errno(request, errno, "netlink socket");
	counting.keys = (uint32_t)(len / asked.shape.key);
	if (counting.keys > 0) {
		counting.counts = (void *)buf_extend(&counts, counting.keys * sizeof(struct count));
		memset(counting.counts, 0, counting.keys * sizeof(struct count));
	}
	request->helper->netlink_messages += counting.keys;
	err = ask(fd, &asked, &counting);
	if (err == 0) {
		reply_begin(&request->helper->out, request->id);
		reply_base64(&request->helper->out, "counters", counts.data, counts.len);
		reply_end(&request->helper->out);
	}
	buf_reset(&counts, 0);
	return err == 0 || fail_errno(request, err, "reading counters");
}
