/* The operations by name. */
#pragma once
#include <stddef.h>

#include "loop/helper.h"

/* Parses a line and does what it asks for. The line is changed. */
void request_handle(struct helper *helper, char *line, size_t len);
