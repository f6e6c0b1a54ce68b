/*
 * nft-batch: set elements changed in one atomic transaction, by raw netlink; and, ahead of them, tables by nft commands.
 *
 * The kernel takes one sendmsg as one batch. A bulk load gathers its messages over many request lines (`more`) and
 * sends them at the end. `part` numbers the lines, so that a transaction that lacks a refused line is never committed.
 */
#include "nft_batch.h"

#include <errno.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "../../net/netlink.h"
#include "nft_commands.h"
#include "nft_element.h"
#include "nft_message.h"
#include "../requests/operations.h"
#include "../requests/request_target.h"

/* NFTA_SET_ELEM_LIST_ELEMENTS has a length of 16 bits. */
#define MAX_ELEMENTS_BYTES 65000
/* sendmsg takes an int; this is some 14 million elements. */
#define MAX_TRANSACTION_BYTES (512u << 20)

/* The change that a message belongs to, for the error of a refusal. */
struct origin {
	uint32_t change;
	uint32_t first_record;
	uint32_t elements_at; /* in the message */
	uint32_t element_size;
};

/* The change that the messages of commands belong to. */
#define NO_CHANGE UINT32_MAX

struct transaction {
	struct buf messages;
	struct buf origins; /* of struct origin; message n has sequence number FIRST_SEQ + n */
	uint32_t changes;
	uint32_t parts;
};

#define BATCH_SEQ 1
#define FIRST_SEQ 2

void transaction_drop(struct netns *netns)
{
	struct transaction *transaction = netns->transaction;

	netns->transaction = NULL;
	if (transaction == NULL)
		return;
	free(transaction->messages.data);
	free(transaction->origins.data);
	free(transaction);
}

static void put_batch_mark(struct buf *messages, uint16_t type)
{
	nft_message_end(messages, nft_message_begin(messages, type, 0, BATCH_SEQ, AF_UNSPEC, NFNL_SUBSYS_NFTABLES));
}

static uint32_t message_count(const struct transaction *transaction)
{
	return (uint32_t)(transaction->origins.len / sizeof(struct origin));
}

static size_t message_begin(struct transaction *transaction, const struct nft_table *table, const char *set, bool adding)
{
	uint16_t type = NFNL_SUBSYS_NFTABLES << 8 | (adding ? NFT_MSG_NEWSETELEM : NFT_MSG_DELSETELEM);
	size_t message = nft_message_begin(&transaction->messages, type, adding ? NLM_F_CREATE : 0,
					   FIRST_SEQ + message_count(transaction), table->family, 0);

	nft_put_text(&transaction->messages, NFTA_SET_ELEM_LIST_TABLE, table->name);
	nft_put_text(&transaction->messages, NFTA_SET_ELEM_LIST_SET, set);
	return message;
}

static void message_end(struct transaction *transaction, size_t message, struct origin origin)
{
	nft_message_end(&transaction->messages, message);
	buf_put(&transaction->origins, &origin, sizeof(origin));
}

/* Deleting no element in particular empties the set. */
static void put_flush(struct transaction *transaction, const struct nft_table *table, const char *set)
{
	size_t message = message_begin(transaction, table, set, false);
	message_end(transaction, message, (struct origin){.change = transaction->changes});
}

static void put_elements(struct transaction *transaction, const struct nft_table *table, const char *set, bool adding,
			 const struct record_shape *shape, const uint8_t *records, size_t count)
{
	struct buf *messages = &transaction->messages;
	struct element_form form;
	size_t per_message;

	element_form_make(&form, shape, !adding);
	per_message = MAX_ELEMENTS_BYTES / form.len;
	for (size_t first = 0; first < count; first += per_message) {
		size_t here = count - first < per_message ? count - first : per_message;
		size_t message = message_begin(transaction, table, set, adding);
		size_t nest = nft_nest_begin(messages, NFTA_SET_ELEM_LIST_ELEMENTS);
		struct origin origin = {.change = transaction->changes,
					.first_record = (uint32_t)first,
					.elements_at = (uint32_t)(messages->len - message),
					.element_size = (uint32_t)form.len};
		uint8_t *to = buf_extend(messages, here * form.len);

		for (size_t i = 0; i < here; i++, to += form.len)
			element_write(to, &form, shape, records + (first + i) * record_size(shape));
		nft_nest_end(messages, nest);
		message_end(transaction, message, origin);
	}
}

static bool read_shape(struct request *request, const struct json *change, struct record_shape *out)
{
	const struct json *expr = json_member(change, "expr");
	int64_t key, data = 0;
	bool interval;

	if (!field_number(request, change, "key", 1, NFT_DATA_VALUE_MAXLEN, &key) ||
	    !field_flag(request, change, "interval", &interval))
		return false;
	if (json_member(change, "data") != NULL && !field_number(request, change, "data", 0, NFT_DATA_VALUE_MAXLEN, &data))
		return false;
	if (expr != NULL && (expr->type != JSON_STRING || strcmp(expr->text, "count-over") != 0))
		return fail(request, "expr is not count-over");
	*out = (struct record_shape){
		.key = (size_t)key, .key_end = interval ? (size_t)key : 0, .data = (size_t)data, .count_over = expr != NULL};
	return true;
}

static bool put_change(struct request *request, struct transaction *transaction, const struct nft_table *table,
		       const struct json *change)
{
	const char *verb, *set;
	struct record_shape shape;
	uint8_t *records;
	size_t len;
	bool adding;

	if (!field_text(request, change, "do", &verb) || !field_name(request, change, "set", &set))
		return false;
	if (strcmp(verb, "flush") == 0) {
		put_flush(transaction, table, set);
		return true;
	}
	adding = strcmp(verb, "add") == 0;
	if (!adding && strcmp(verb, "delete") != 0)
		return fail(request, "do is not add, delete or flush");
	if (!read_shape(request, change, &shape) || !field_bytes(request, change, "elements", &records, &len))
		return false;
	if (len % record_size(&shape) != 0)
		return fail(request, "elements are not a whole number of %zu-byte records", record_size(&shape));
	put_elements(transaction, table, set, adding, &shape, records, len / record_size(&shape));
	return true;
}

static bool put_changes(struct request *request, struct transaction *transaction)
{
	const struct json *change;
	struct nft_table table;

	if (!request_table(request, &table) || !field_list(request, request->fields, "changes", &change))
		return false;
	for (; change != NULL; change = change->next, transaction->changes++) {
		if (!put_change(request, transaction, &table, change)) {
			request->failure.index = transaction->changes;
			return false;
		}
		if (transaction->messages.len > MAX_TRANSACTION_BYTES)
			return fail(request, "the transaction is too large");
	}
	return true;
}

/* Commands, as messages of this transaction. */
static bool put_commands(struct request *request, struct netns *netns, struct transaction *transaction)
{
	struct buf *messages = &transaction->messages;
	size_t at = messages->len;
	const char *text;

	if (json_member(request->fields, "text") == NULL)
		return true;
	if (!field_text(request, request->fields, "text", &text) || !nft_commands_compile(request, netns, text, messages))
		return false;
	while (at < messages->len) {
		struct nlmsghdr header;
		struct origin origin = {.change = NO_CHANGE};

		memcpy(&header, messages->data + at, sizeof(header));
		/* Only refusals are answered. */
		header.nlmsg_flags &= (uint16_t)~(NLM_F_ACK | NLM_F_ECHO);
		header.nlmsg_seq = FIRST_SEQ + message_count(transaction);
		memcpy(messages->data + at, &header, sizeof(header));
		buf_put(&transaction->origins, &origin, sizeof(origin));
		at += NLMSG_ALIGN(header.nlmsg_len);
	}
	return true;
}

static void first_refusal(const struct nlmsghdr *message, void *arg)
{
	struct netlink_refusal *first = arg, refusal;

	if (!netlink_refused(message, &refusal))
		return;
	/* A refusal of the batch as a whole (out of memory, say) gives way to one that names a change. */
	if (first->err == 0 || (first->seq < FIRST_SEQ && refusal.seq >= FIRST_SEQ))
		*first = refusal;
}

static void locate(struct failure *failure, const struct transaction *transaction, const struct netlink_refusal *refusal)
{
	const struct origin *origin;

	if (refusal->seq < FIRST_SEQ || refusal->seq - FIRST_SEQ >= message_count(transaction))
		return;
	origin = (const struct origin *)transaction->origins.data + (refusal->seq - FIRST_SEQ);
	if (origin->change == NO_CHANGE)
		return;
	failure->index = origin->change;
	if (origin->element_size > 0 && refusal->offset >= origin->elements_at)
		failure->element = origin->first_record + (refusal->offset - origin->elements_at) / origin->element_size;
}

static bool commit(struct request *request, struct netns *netns, struct transaction *transaction)
{
	struct netlink_refusal refusal = {0};
	int fd = netns_netfilter(netns), err;

	if (fd < 0)
		return fail_errno(request, errno, "netlink socket");
	if (message_count(transaction) == 0)
		return true;
	put_batch_mark(&transaction->messages, NFNL_MSG_BATCH_END);
	request->helper->netlink_messages += message_count(transaction);
	err = netlink_send(fd, transaction->messages.data, transaction->messages.len);
	if (err != 0)
		return fail_errno(request, err, "sending %zu bytes to the kernel", transaction->messages.len);
	/* Only refusals are answered, so an overflow (ENOBUFS) means that there are some. */
	err = netlink_receive(fd, first_refusal, &refusal);
	if (refusal.err != 0) {
		locate(&request->failure, transaction, &refusal);
		return fail_errno(request, refusal.err, "nftables refused the transaction");
	}
	if (err != 0)
		return fail_errno(request, err, "reading the kernel's answer");
	request->helper->transactions++;
	return true;
}

/* Starts a transaction, or continues the one that is open. */
static bool join(struct request *request, struct netns *netns)
{
	int64_t part = 0;

	if (json_member(request->fields, "part") != NULL &&
	    !field_number(request, request->fields, "part", 0, INT32_MAX, &part))
		return false;
	if (part == 0) {
		transaction_drop(netns);
		netns->transaction = memory_new(sizeof(*netns->transaction));
		put_batch_mark(&netns->transaction->messages, NFNL_MSG_BATCH_BEGIN);
	} else if (netns->transaction == NULL) {
		return fail(request, "part %lld of a transaction that is not open", (long long)part);
	} else if (netns->transaction->parts != part) {
		return fail(request, "part %lld came where part %u was due", (long long)part, netns->transaction->parts);
	}
	netns->transaction->parts++;
	return true;
}

bool op_nft_batch(struct request *request)
{
	struct netns *netns;
	bool more;

	if (!request_netns(request, &netns))
		return false;
	if (!field_flag(request, request->fields, "more", &more) || !join(request, netns) ||
	    !put_commands(request, netns, netns->transaction) || !put_changes(request, netns->transaction) ||
	    (!more && !commit(request, netns, netns->transaction))) {
		transaction_drop(netns);
		return false;
	}
	if (!more)
		transaction_drop(netns);
	return reply_done(request);
}
