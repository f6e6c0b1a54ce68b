#include "frame.h"

int frame_read(struct frame *out, const char *data, size_t have)
{
	size_t at = 0, length = 0;

	for (; at < have && data[at] >= '0' && data[at] <= '9' && length <= MESSAGE_MOST; at++)
		length = length * 10 + (size_t)(data[at] - '0');
	if (length > MESSAGE_MOST)
		return -1;
	if (at == have)
		return 0;
	if (data[at] != ' ' || length == 0)
		return -1;
	if (have - at - 1 < length)
		return 0;
	*out = (struct frame){.message = data + at + 1, .length = length, .whole = at + 1 + length};
	return 1;
}
