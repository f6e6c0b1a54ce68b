#include "question.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
#define MOST_BASE64 1100

/* Copies a text. False if it does not fit. */
static bool copy(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size || memchr(from, '\0', len) != NULL)
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

/* RFC 7617: the name ends at the first colon. An invalid header counts as no credentials. */
static void read_credentials(struct question *question, const char *value)
{
	unsigned char text[MOST_BASE64];
	size_t len, letters, padding;
	const char *colon;
	int decoded;

	if (strncasecmp(value, "basic ", 6) != 0)
		return;
	value += 6 + strspn(value + 6, " ");
	len = strlen(value);
	letters = strspn(value, LETTERS);
	padding = len - letters;
	if (len == 0 || len % 4 != 0 || len > MOST_BASE64 || padding > 2 || strspn(value + letters, "=") != padding)
		return;
	decoded = EVP_DecodeBlock(text, (const unsigned char *)value, (int)len);
	if (decoded < 0)
		return;
	len = (size_t)decoded - padding;
	colon = memchr(text, ':', len);
	if (colon != NULL) {
		size_t name_len = (size_t)(colon - (const char *)text);

		if (!copy(question->name, sizeof question->name, (const char *)text, name_len) ||
		    !copy(question->password, sizeof question->password, colon + 1, len - name_len - 1))
			question->name[0] = '\0';
	}
	OPENSSL_cleanse(text, sizeof text);
}

/* The value of a line with this name; NULL for another line. */
static const char *value_of(const char *line, const char *name)
{
	size_t len = strlen(name);

	if (strncasecmp(line, name, len) != 0 || line[len] != ':')
		return NULL;
	return line + len + 1 + strspn(line + len + 1, " ");
}

bool question_read(struct question *question, char *text, size_t len)
{
	char *save = NULL;
	bool has_list = false, has_realm = false;
	unsigned credentials = 0;

	memset(question, 0, sizeof *question);
	if (memchr(text, '\0', len) != NULL)
		return false;
	text[len - 1] = '\0';
	/* The request line is ignored: the proxy has only one question. */
	strtok_r(text, "\r\n", &save);
	for (char *line; (line = strtok_r(NULL, "\r\n", &save)) != NULL;) {
		const char *value;

		if ((value = value_of(line, "x-spout-users")) != NULL) {
			if (has_list || !lists_is_id(value))
				return false;
			has_list = true;
			memcpy(question->list, value, ID_LEN);
		} else if ((value = value_of(line, "x-spout-realm")) != NULL) {
			if (has_realm || !copy(question->realm, sizeof question->realm, value, strlen(value)))
				return false;
			has_realm = true;
		} else if ((value = value_of(line, "authorization")) != NULL) {
			if (credentials++ == 0)
				read_credentials(question, value);
		}
	}
	/* With several headers, members might use another one than the one that was checked here. So none counts. */
	if (credentials > 1)
		question->name[0] = '\0';
	return has_list;
}

void question_forget(struct question *question)
{
	OPENSSL_cleanse(question, sizeof *question);
}

static const char *reason_of(int code)
{
	switch (code) {
	case 200:
		return "OK";
	case 401:
		return "Unauthorized";
	case 503:
		return "Service Unavailable";
	default:
		return "Internal Server Error";
	}
}

void answer_write(struct buf *out, int code, const char *realm)
{
	static const char end[] = "content-length: 0\r\nconnection: close\r\n\r\n";
	char line[64];

	snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\n", code, reason_of(code));
	buf_put(out, line, strlen(line));
	if (code == 401) {
		static const char before[] = "www-authenticate: Basic realm=\"";
		static const char after[] = "\", charset=\"UTF-8\"\r\n";

		buf_put(out, before, strlen(before));
		for (; *realm != '\0'; realm++) {
			/* A quoted string of RFC 9110, 5.6.4. */
			if (*realm == '"' || *realm == '\\')
				buf_put(out, "\\", 1);
			if (*realm >= ' ' && *realm != 0x7f)
				buf_put(out, realm, 1);
		}
		buf_put(out, after, strlen(after));
	}
	buf_put(out, end, strlen(end));
}
