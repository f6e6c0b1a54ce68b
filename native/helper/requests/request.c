#include "request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base64.h"

bool fail(struct request *request, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(request->failure.text, sizeof(request->failure.text), format, args);
	va_end(args);
	return false;
}

bool fail_errno(struct request *request, int err, const char *format, ...)
{
	char *text = request->failure.text;
	size_t size = sizeof(request->failure.text), len;
	va_list args;

	va_start(args, format);
	vsnprintf(text, size, format, args);
	va_end(args);
	len = strlen(text);
	snprintf(text + len, size - len, ": %s", strerror(err));
	request->failure.err = err;
	return false;
}

static const struct json *member_of(struct request *request, const struct json *object, const char *name, enum json_type type,
				    const char *article)
{
	const struct json *member = object->type == JSON_OBJECT ? json_member(object, name) : NULL;

	if (member == NULL)
		fail(request, "%s is missing", name);
	else if (member->type != type)
		fail(request, "%s is not %s", name, article);
	else
		return member;
	return NULL;
}

bool field_text(struct request *request, const struct json *object, const char *name, const char **out)
{
	const struct json *member = member_of(request, object, name, JSON_STRING, "text");

	if (member != NULL)
		*out = member->text;
	return member != NULL;
}

bool field_number(struct request *request, const struct json *object, const char *name, int64_t min, int64_t max, int64_t *out)
{
	const struct json *member = member_of(request, object, name, JSON_NUMBER, "a number");

	if (member == NULL)
		return false;
	if (member->number < min || member->number > max)
		return fail(request, "%s is not from %lld to %lld", name, (long long)min, (long long)max);
	*out = member->number;
	return true;
}

bool field_flag(struct request *request, const struct json *object, const char *name, bool *out)
{
	const struct json *member = json_member(object, name);

	if (member != NULL && member->type != JSON_TRUE && member->type != JSON_FALSE)
		return fail(request, "%s is not true or false", name);
	*out = member != NULL && member->type == JSON_TRUE;
	return true;
}

bool field_list(struct request *request, const struct json *object, const char *name, const struct json **first)
{
	const struct json *member = member_of(request, object, name, JSON_ARRAY, "a list");

	if (member != NULL)
		*first = member->child;
	return member != NULL;
}

bool field_bytes(struct request *request, const struct json *object, const char *name, uint8_t **data, size_t *len)
{
	const struct json *member = member_of(request, object, name, JSON_STRING, "text");

	if (member == NULL)
		return false;
	*data = (uint8_t *)member->text;
	return base64_decode(*data, len, member->text, member->len) || fail(request, "%s is not base64", name);
}

bool field_address(struct request *request, const struct json *object, const char *name, struct address *out)
{
	const char *text;

	return field_text(request, object, name, &text) &&
	       (address_parse(out, text) || fail(request, "%s: %.64s is not an address", name, text));
}

bool field_prefix(struct request *request, const struct json *object, const char *name, struct address *out, uint8_t *prefix)
{
	const char *text;

	return field_text(request, object, name, &text) &&
	       (prefix_parse(out, prefix, text) || fail(request, "%s: %.64s is not a prefix", name, text));
}

bool reply_done(struct request *request)
{
	reply_begin(&request->helper->out, request->id);
	reply_end(&request->helper->out);
	return true;
}
