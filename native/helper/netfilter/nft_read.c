/* nft-get and nft-generation: read one element or one table. Nothing here dumps: listing a loaded table takes 20 s. */
#include <errno.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

#include "../../net/netlink.h"
#include "nft_element.h"
#include "nft_message.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"

#define SEQ 1
#define NFT_TYPE(message) (NFNL_SUBSYS_NFTABLES << 8 | (message))

/* libnftnl keeps a table's comment as a type-length-value triple of its user data. */
#define USERDATA_COMMENT 0

struct answer {
	struct netlink_refusal refusal;
	bool found;
	uint8_t data[256];
	size_t len;
};

static void keep(struct answer *answer, const void *data, size_t len)
{
	answer->len = len < sizeof(answer->data) ? len : sizeof(answer->data);
	memcpy(answer->data, data, answer->len);
}

static const struct nlattr *attr_of(const struct nlmsghdr *message, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct nfgenmsg))
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static void read_element(const struct nlmsghdr *message, void *arg)
{
	struct answer *answer = arg;
	const struct nlattr *value;

	if (netlink_refused(message, &answer->refusal) || message->nlmsg_type != NFT_TYPE(NFT_MSG_NEWSETELEM))
		return;
	answer->found = true;
	value = netlink_attr_in(netlink_attr_in(attr_of(message, NFTA_SET_ELEM_LIST_ELEMENTS), NFTA_LIST_ELEM), NFTA_SET_ELEM_DATA);
	value = netlink_attr_in(value, NFTA_DATA_VALUE);
	if (value != NULL)
		keep(answer, mnl_attr_get_payload(value), mnl_attr_get_payload_len(value));
}

static void read_table(const struct nlmsghdr *message, void *arg)
{
	struct answer *answer = arg;
	const struct nlattr *attr;
	const uint8_t *at, *end;

	if (netlink_refused(message, &answer->refusal) || message->nlmsg_type != NFT_TYPE(NFT_MSG_NEWTABLE))
		return;
	answer->found = true;
	attr = attr_of(message, NFTA_TABLE_USERDATA);
	if (attr == NULL)
		return;
	at = mnl_attr_get_payload(attr);
	end = at + mnl_attr_get_payload_len(attr);
	for (; end - at >= 2 && end - at - 2 >= at[1]; at += 2 + at[1])
		if (at[0] == USERDATA_COMMENT)
			keep(answer, at + 2, at[1]);
}

static bool ask(struct request *request, struct netns *netns, struct buf *message,
		void (*read)(const struct nlmsghdr *message, void *arg), struct answer *answer)
{
	int fd = netns_netfilter(netns), err;

	if (fd < 0)
		return fail_errno(request, errno, "netlink socket");
	request->helper->netlink_messages++;
	err = netlink_ask(fd, message->data, message->len, read, answer);
	return err == 0 || fail_errno(request, err, "netlink");
}

static bool get_element(struct request *request, struct buf *message, size_t *elements_at, struct answer *answer)
{
	struct record_shape shape = {0};
	struct element_form form;
	struct nft_table table;
	struct netns *netns;
	const char *set;
	uint8_t *key;
	size_t start, nest;

	if (!request_netns(request, &netns) || !request_table(request, &table) ||
	    !field_name(request, request->fields, "set", &set) || !field_bytes(request, request->fields, "key", &key, &shape.key))
		return false;
	if (shape.key == 0 || shape.key > NFT_DATA_VALUE_MAXLEN)
		return fail(request, "key is empty or too long");

	start = nft_message_begin(message, NFT_TYPE(NFT_MSG_GETSETELEM), 0, SEQ, table.family, 0);
	nft_put_text(message, NFTA_SET_ELEM_LIST_TABLE, table.name);
	nft_put_text(message, NFTA_SET_ELEM_LIST_SET, set);
	nest = nft_nest_begin(message, NFTA_SET_ELEM_LIST_ELEMENTS);
	*elements_at = message->len - start;
	element_form_make(&form, &shape, true);
	element_write(buf_extend(message, form.len), &form, &shape, key);
	nft_nest_end(message, nest);
	nft_message_end(message, start);
	return ask(request, netns, message, read_element, answer);
}

bool op_nft_get(struct request *request)
{
	struct buf *out = &request->helper->out, message = {0};
	struct answer answer = {0};
	size_t elements_at = 0;
	bool asked = get_element(request, &message, &elements_at, &answer);

	buf_reset(&message, 0);
	if (!asked)
		return false;
	/* ENOENT may mean the table, the set or the element. The offset of the faulty attribute tells which. */
	if (answer.refusal.err != 0 &&
	    (answer.refusal.err != ENOENT || answer.refusal.offset < 0 || answer.refusal.offset < (int64_t)elements_at))
		return fail_errno(request, answer.refusal.err, "reading the element");
	reply_begin(out, request->id);
	reply_flag(out, "found", answer.found);
	if (answer.found)
		reply_base64(out, "data", answer.data, answer.len);
	reply_end(out);
	return true;
}

bool op_nft_generation(struct request *request)
{
	struct buf *out = &request->helper->out, message = {0};
	struct answer answer = {0};
	struct nft_table table;
	struct netns *netns;
	size_t start;
	bool asked;

	if (!request_netns(request, &netns) || !request_table(request, &table))
		return false;
	start = nft_message_begin(&message, NFT_TYPE(NFT_MSG_GETTABLE), 0, SEQ, table.family, 0);
	nft_put_text(&message, NFTA_TABLE_NAME, table.name);
	nft_message_end(&message, start);
	asked = ask(request, netns, &message, read_table, &answer);
	buf_reset(&message, 0);
	if (!asked)
		return false;
	if (answer.refusal.err != 0 && answer.refusal.err != ENOENT)
		return fail_errno(request, answer.refusal.err, "reading the table");
	reply_begin(out, request->id);
	reply_flag(out, "exists", answer.found);
	if (answer.len > 0) {
		answer.data[answer.len < sizeof(answer.data) ? answer.len : sizeof(answer.data) - 1] = '\0';
		reply_text(out, "comment", (const char *)answer.data);
	}
	reply_end(out);
	return true;
}
