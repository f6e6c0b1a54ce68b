/* Why something does not work, for state.json. */
#pragma once
#include "flows.h"

/* Sets a text of ERROR_TEXT bytes ("" for none). A change sets `errors_changed`. */
__attribute__((format(printf, 3, 4))) void set_error(struct flows *flows, char *error, const char *format, ...);
