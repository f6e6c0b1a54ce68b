#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void set_error(struct flows *flows, char *error, const char *format, ...)
{
	char text[ERROR_TEXT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (strcmp(text, error) == 0)
		return;
	memcpy(error, text, ERROR_TEXT);
	flows->errors_changed = true;
}
