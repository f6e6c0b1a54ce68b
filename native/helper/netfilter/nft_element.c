#include "nft_element.h"

#include <arpa/inet.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netlink.h>
#include <string.h>

size_t record_size(const struct record_shape *shape)
{
	return shape->key + shape->key_end + shape->data + (shape->count_over ? sizeof(uint32_t) : 0);
}

/* Returns where the attribute starts; `attr_end` sets its length. */
static size_t attr_begin(struct element_form *form, uint16_t type)
{
	size_t start = form->len;
	struct nlattr attr = {.nla_type = type};

	memcpy(form->bytes + start, &attr, sizeof(attr));
	form->len += NLA_HDRLEN;
	return start;
}

static void attr_end(struct element_form *form, size_t start)
{
	uint16_t len = (uint16_t)(form->len - start);

	memcpy(form->bytes + start, &len, sizeof(len));
	form->len = NLA_ALIGN(form->len);
}

static size_t attr_value(struct element_form *form, uint16_t type, const void *value, size_t len)
{
	size_t start = attr_begin(form, type), at = form->len;

	if (value != NULL)
		memcpy(form->bytes + at, value, len);
	form->len += len;
	attr_end(form, start);
	return at;
}

/* A key or a value: NFTA_DATA_VALUE within `type`. */
static size_t attr_data(struct element_form *form, uint16_t type, size_t len)
{
	size_t start = attr_begin(form, type | NLA_F_NESTED);
	size_t at = attr_value(form, NFTA_DATA_VALUE, NULL, len);

	attr_end(form, start);
	return at;
}

/* `ct count over <limit>`. */
static size_t attr_count_over(struct element_form *form)
{
	uint32_t over = htonl(NFT_CONNLIMIT_F_INV);
	size_t expression = attr_begin(form, NFTA_SET_ELEM_EXPR | NLA_F_NESTED), data, at;

	attr_value(form, NFTA_EXPR_NAME, "connlimit", sizeof("connlimit"));
	data = attr_begin(form, NFTA_EXPR_DATA | NLA_F_NESTED);
	at = attr_value(form, NFTA_CONNLIMIT_COUNT, NULL, sizeof(uint32_t));
	attr_value(form, NFTA_CONNLIMIT_FLAGS, &over, sizeof(over));
	attr_end(form, data);
	attr_end(form, expression);
	return at;
}

void element_form_make(struct element_form *form, const struct record_shape *shape, bool deleting)
{
	size_t element;

	memset(form, 0, sizeof(*form));
	element = attr_begin(form, NFTA_LIST_ELEM | NLA_F_NESTED);
	form->key_at = attr_data(form, NFTA_SET_ELEM_KEY, shape->key);
	if (shape->key_end > 0)
		form->key_end_at = attr_data(form, NFTA_SET_ELEM_KEY_END, shape->key_end);
	if (shape->data > 0 && !deleting)
		form->data_at = attr_data(form, NFTA_SET_ELEM_DATA, shape->data);
	if (shape->count_over && !deleting)
		form->limit_at = attr_count_over(form);
	attr_end(form, element);
}

void element_write(uint8_t *to, const struct element_form *form, const struct record_shape *shape, const uint8_t *record)
{
	const uint8_t *at = record;

	memcpy(to, form->bytes, form->len);
	memcpy(to + form->key_at, at, shape->key);
	at += shape->key;
	if (form->key_end_at > 0)
		memcpy(to + form->key_end_at, at, shape->key_end);
	at += shape->key_end;
	if (form->data_at > 0)
		memcpy(to + form->data_at, at, shape->data);
	at += shape->data;
	if (form->limit_at > 0) {
		uint32_t limit;
		memcpy(&limit, at, sizeof(limit));
		limit = htonl(limit);
		memcpy(to + form->limit_at, &limit, sizeof(limit));
	}
}
