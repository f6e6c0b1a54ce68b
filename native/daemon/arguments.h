/* Parses arguments of programs that the agent starts, and ends them if they are called wrongly or cannot start. */
#pragma once

/* Ends the program with code 2. Writes `what`, and the reason of errno, to stderr. */
void fail(const char *what) __attribute__((noreturn));

/* A decimal number from `least` to `most`. For anything else it calls `fail`. */
long argument_number(const char *text, long least, long most);
