/* What the replication of flows is made of. One thread, beside the one that writes a file (writer.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "../daemon/clock.h"
#include "../daemon/memory.h"
#include "../net/address.h"
#include "../net/ctnetlink.h"

#define KEY_BYTES 32
#define ERROR_TEXT 160
#define US_PER_S 1000000ull

/* A flow as peers tell each other of it. */
struct flow_record {
	uint8_t family; /* AF_INET or AF_INET6 */
	uint8_t protocol;
	uint8_t tcp_state; /* enum tcp_conntrack; 0 for UDP */
	uint32_t domain;
	uint32_t mark;
	struct tuple original, reply;
};

struct flows;
struct domain;
struct peer;

struct flow {
	struct flow *next; /* in its bucket */
	struct flow_record record;
	/* This node carries it: it holds the address that the flow is translated to. */
	bool local;
	/* The kernel's entry has the short life of one that a peer renews. */
	bool replica;
	uint32_t ct_id; /* network order; 0: not known */
	uint32_t scan;	/* the look that saw it last */
};

/* What of a domain may have something to read, and who reads it: an epoll event points at one. */
struct source {
	struct domain *domain;
	void (*read)(struct flows *flows, struct domain *domain);
};

/* What another node says that it carries of a domain, and what of that is here. */
struct counts {
	uint32_t advertised;	 /* the newest word */
	struct peer *advertiser; /* whose word it is; NULL: nobody's */
	unsigned ticks_short; /* ticks in a row that fewer were held ready */
	unsigned requests;	   /* times in a row that this was asked about */
	uint64_t request_us; /* not before this */
	/* An address came here: how many flows should have come with it, how many did, and when that is judged; 0: not. */
	uint32_t expected, arrived;
	uint64_t takeover_due_us;
	/* The newest time that most did not come (ms since the epoch; 0: never), and how many in all. */
	int64_t missed_ms;
	uint32_t missed_of, missed_arrived;
	uint64_t missed;
};

struct domain {
	struct domain *next;
	uint32_t number;
	char *path;
	struct address *shared;
	size_t shared_count;
	bool kept; /* by the configuration being read */
	char error[ERROR_TEXT];
	/* Its namespace; descriptors are -1 while it is not open. */
	dev_t fs;
	ino_t inode;
	int event_fd;
	int request_fd;
	int address_fd;
	struct source events, addresses;
	uint32_t request_port;
	uint32_t seq;
	uint64_t scan_us; /* when to look at the whole table next */
	uint32_t scan;
	uint64_t established_s; /* the kernel's timeout for established TCP flows */
	bool *bound;		/* which shared addresses are bound here */
	bool bound_changed;		/* one came or went since the last look */
	bool bound_gained;		/* one came since then */
	bool bound_uncertain;		/* `held` may not be all: the next look asks */
	/* Its flows. */
	struct flow **buckets;
	size_t bucket_count;
	size_t local, remote;
	/* Flows of others that could not be held ready, and words of others about flows that this node carries. */
	uint64_t refused, insisted;
	struct counts counts;
	/* How many it carried is told while there are any, and for a while after. */
	uint64_t counted_us;
};

struct peer {
	struct peer *next;
	struct address address;
	uint16_t port;
	bool kept;
	/* What it knows us by; never 0. A peer that is forgotten and named again gets another. */
	uint64_t own_epoch;
	/* What is known of it; 0 until a handshake. */
	uint64_t epoch;
	uint64_t heard_seq;
	/* Handshake: what it has to echo to prove that it is there now, and what we have to echo. */
	uint64_t challenge, echo;
	/* Of what goes to it and what comes from it (datagram.h, version 2). */
	uint8_t send_key[KEY_BYTES], receive_key[KEY_BYTES];
	/* When it last showed that it understands version 2; 0: never, or too long ago. */
	uint64_t understood_us;
	/* It speaks version 2 since then: version 1 is not believed. */
	bool speaks_two;
	uint64_t sent_seq;
	uint64_t sent, received, lost, refused;
	int64_t heard_ms;  /* since the epoch; 0: never */
	uint64_t heard_us; /* or when it was first named */
	/* Datagrams were missed: it shall tell everything again. */
	bool wants_all;
	uint64_t requested_us;
	/* The whole table is on its way to it, and then once more: it asked again meanwhile. */
	bool sending, send_again;
	/* Not the whole, but this domain. */
	bool sending_one;
	const struct domain *sending_domain;
	size_t sending_bucket;
};

struct file_mark {
	dev_t fs;
	ino_t inode;
	struct timespec changed;
};

struct config {
	struct address address;
	uint16_t port;
	uint8_t key[KEY_BYTES];
	uint64_t refresh_us;
	uint32_t tcp_timeout_s, udp_timeout_s;
};

struct flows {
	const char *directory;
	bool configured;
	/* The file that was read last: a notice of a newer one may be lost. */
	struct file_mark config_mark;
	struct config config;
	char config_error[ERROR_TEXT];
	char listen_error[ERROR_TEXT];
	int epoll_fd;
	int socket_fd; /* -1: could not be bound */
	struct domain *domains;
	struct peer *peers;
	uint64_t strangers; /* datagrams from nobody we know */
	/* Records that go to every peer. */
	struct buf pending;
	uint64_t flush_us; /* when they have to leave; 0: there are none */
	uint64_t send_us;  /* when to go on sending whole tables; 0: nobody waits */
	uint64_t tick_us;
	uint64_t written_us; /* state.json */
	bool errors_changed;
};
