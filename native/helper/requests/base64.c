#include "base64.h"

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#define BAD 0x80
/* Value plus one of each character, so that what is not named here is 0. */
static const uint8_t VALUE[256] = {
	['A'] = 1,  ['B'] = 2,	['C'] = 3,  ['D'] = 4,	['E'] = 5,  ['F'] = 6,	['G'] = 7,  ['H'] = 8,	['I'] = 9,  ['J'] = 10,
	['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20,
	['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30,
	['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
	['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49, ['x'] = 50,
	['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56, ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60,
	['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

static uint32_t value_of(char character)
{
	uint8_t value = VALUE[(uint8_t)character];
	return value == 0 ? BAD : value - 1u;
}

bool base64_decode(uint8_t *out, size_t *out_len, const char *text, size_t len)
{
	uint8_t *at = out;
	size_t padding = 0;

	*out_len = 0;
	if (len % 4 != 0)
		return false;
	if (len > 0 && text[len - 1] == '=')
		padding = text[len - 2] == '=' ? 2 : 1;

	for (size_t i = 0; i < len; i += 4) {
		size_t missing = i + 4 == len ? padding : 0;
		uint32_t a = value_of(text[i]), b = value_of(text[i + 1]);
		uint32_t c = missing > 1 ? 0 : value_of(text[i + 2]);
		uint32_t d = missing > 0 ? 0 : value_of(text[i + 3]);
		uint32_t bits = a << 18 | b << 12 | c << 6 | d;

		if ((a | b | c | d) & BAD)
			return false;
		if ((missing == 1 && (bits & 0xff)) || (missing == 2 && (bits & 0xffff)))
			return false;
		*at++ = (uint8_t)(bits >> 16);
		if (missing < 2)
			*at++ = (uint8_t)(bits >> 8);
		if (missing < 1)
			*at++ = (uint8_t)bits;
	}
	*out_len = (size_t)(at - out);
	return true;
}

size_t base64_encode(char *out, const uint8_t *data, size_t len)
{
	char *at = out;

	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		uint32_t bits = (uint32_t)data[i] << 16;
		if (left > 1)
			bits |= (uint32_t)data[i + 1] << 8;
		if (left > 2)
			bits |= data[i + 2];
		*at++ = ALPHABET[bits >> 18];
		*at++ = ALPHABET[bits >> 12 & 63];
		*at++ = left > 1 ? ALPHABET[bits >> 6 & 63] : '=';
		*at++ = left > 2 ? ALPHABET[bits & 63] : '=';
	}
	return (size_t)(at - out);
}
