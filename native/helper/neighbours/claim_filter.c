#include "claim_filter.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip6.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/memory.h"

uint32_t claim_key(const struct address *address)
{
	uint32_t key;

	memcpy(&key, address->bytes + address_len(address->family) - sizeof(key), sizeof(key));
	return ntohl(key);
}

static int widest_first(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	return a < b ? 1 : a > b ? -1 : 0;
}

/* The smallest gap that separates two ranges. `ties`: how many gaps of exactly that width separate ranges. */
static uint32_t parting_gap(const uint32_t *keys, size_t count, size_t *ties)
{
	uint32_t *gaps = memory_new(count * sizeof(*gaps));
	size_t parts = count - 1 < CLAIM_RANGES - 1 ? count - 1 : CLAIM_RANGES - 1;
	uint32_t gap;

	for (size_t i = 1; i < count; i++)
		gaps[i - 1] = keys[i] - keys[i - 1];
	qsort(gaps, count - 1, sizeof(*gaps), widest_first);
	gap = gaps[parts - 1];
	*ties = 0;
	for (size_t i = 0; i < parts; i++)
		*ties += gaps[i] == gap;
	free(gaps);
	return gap;
}

void claim_ranges_make(struct claim_ranges *ranges, const uint32_t *keys, size_t count)
{
	size_t ties = 0;
	uint32_t gap = count > 1 ? parting_gap(keys, count, &ties) : 0;

	ranges->count = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t width = i == 0 ? 0 : keys[i] - keys[i - 1];
		/* Consecutive keys stay in one range, however many ranges are left. */
		bool parted = i == 0 || (width > 1 && (width > gap || (width == gap && ties > 0)));
		if (i > 0 && parted && width == gap)
			ties--;
		if (parted)
			ranges->of[ranges->count++].first = keys[i];
		ranges->of[ranges->count - 1].last = keys[i];
	}
}

bool claim_ranges_hold(const struct claim_ranges *ranges, uint32_t key)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (key >= ranges->of[i].first && key <= ranges->of[i].last)
			return true;
	return false;
}

#define TARGET_OF_ADVERTISEMENT (sizeof(struct ip6_hdr) + offsetof(struct nd_neighbor_advert, nd_na_target) + 12)
#define SOURCE_OF_SOLICITATION (offsetof(struct ip6_hdr, ip6_src) + 12)

/* Loads the last word of the address. Packets that are no neighbour discovery are dropped. */
static size_t load_key(struct sock_filter *at, int family)
{
	const struct sock_filter arp[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct ether_arp, arp_spa))};
	const struct sock_filter ndp[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, offsetof(struct ip6_hdr, ip6_nxt)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 5),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, sizeof(struct ip6_hdr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ND_NEIGHBOR_ADVERT, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, TARGET_OF_ADVERTISEMENT),
		BPF_JUMP(BPF_JMP | BPF_JA, 3, 0, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ND_NEIGHBOR_SOLICIT, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SOURCE_OF_SOLICITATION),
	};

	if (family == AF_INET)
		memcpy(at, arp, sizeof(arp));
	else
		memcpy(at, ndp, sizeof(ndp));
	return family == AF_INET ? sizeof(arp) / sizeof(*arp) : sizeof(ndp) / sizeof(*ndp);
}

bool claim_filter_attach(int fd, int family, const struct claim_ranges *ranges)
{
	struct sock_filter code[2 * CLAIM_RANGES + 16];
	size_t len = load_key(code, family), accept = len + 2 * ranges->count + 1;
	struct sock_fprog program = {.filter = code};

	for (size_t i = 0; i < ranges->count; i++) {
		/* A key below this range and above the one before is in no range. Jumps count from the next instruction. */
		code[len] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, ranges->of[i].first, 0, (uint8_t)(accept - len - 2));
		len++;
		code[len] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, ranges->of[i].last, 0, (uint8_t)(accept - len - 1));
		len++;
	}
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
	program.len = (unsigned short)len;
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
}
