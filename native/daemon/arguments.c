#include "arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

long argument_number(const char *text, long least, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	errno = EINVAL;
	if (end == text || *end != '\0' || value < least || value > most)
		fail(text);
	return value;
}
