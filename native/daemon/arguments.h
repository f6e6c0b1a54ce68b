/* What a program that others start needs when it is called wrongly, or cannot begin. */
#pragma once

/* Ends the program with code 2. Writes `what`, and the reason of errno, to stderr. */
void fail(const char *what) __attribute__((noreturn));

/* A whole number in decimal of at least `least` and at most `most`; else it fails with the text. */
long argument_number(const char *text, long least, long most);
