#include "defended_list.h"

#include <stdlib.h>
#include <string.h>

#include "../../daemon/memory.h"

static int compare(const void *one, const void *other)
{
	const struct address *a = one, *b = other;
	int family = a->family - b->family;

	return family != 0 ? family : memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

struct defended *defended_find(const struct defended_list *list, const struct address *address)
{
	return list->count == 0 ? NULL : bsearch(address, list->items, list->count, sizeof(*list->items), compare);
}

static void grow(struct defended_list *list)
{
	struct defended *grown;

	list->cap = list->cap == 0 ? 16 : list->cap * 2;
	grown = memory_new(list->cap * sizeof(*grown));
	if (list->count > 0)
		memcpy(grown, list->items, list->count * sizeof(*grown));
	free(list->items);
	list->items = grown;
}

void defended_add(struct defended_list *list, const struct address *address)
{
	size_t at = 0;

	if (list->count == list->cap)
		grow(list);
	for (size_t end = list->count; at < end;) {
		size_t middle = at + (end - at) / 2;
		if (compare(&list->items[middle], address) < 0)
			at = middle + 1;
		else
			end = middle;
	}
	memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof(*list->items));
	list->items[at] = (struct defended){.address = *address};
	list->count++;
}

void defended_remove(struct defended_list *list, struct defended *item)
{
	size_t at = (size_t)(item - list->items);

	memmove(item, item + 1, (--list->count - at) * sizeof(*item));
}
