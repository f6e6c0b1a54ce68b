#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool text_number(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return *end == '\0' && errno == 0 && *out >= least && *out <= most;
}

size_t text_split(char *line, char **fields, size_t most)
{
	size_t count = 0;

	for (char *at = line; at != NULL;) {
		if (count == most)
			return 0;
		fields[count++] = at;
		at = strchr(at, ' ');
		if (at != NULL)
			*at++ = '\0';
	}
	return count;
}

void text_put(struct buf *out, const char *format, ...)
{
	va_list arguments;
	char *text;
	int len;

	va_start(arguments, format);
	len = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (len < 0)
		abort();
	buf_put(out, text, (size_t)len);
	free(text);
}
