/* Why something does not work, for state.json. */
#pragma once
#include "flows.h"

/* Replaces a text of ERROR_TEXT bytes ("" for none); notes when it differs. */
__attribute__((format(printf, 3, 4))) void set_error(struct flows *flows, char *error, const char *format, ...);
