#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../daemon/directory.h"
#include "../daemon/text.h"
#include "attach.h"
#include "counts.h"
#include "datagram.h"
#include "domain.h"
#include "error.h"
#include "peer.h"
#include "send.h"

#define MAX_BYTES (16 << 20)
#define MOST_FIELDS 128

/* A configuration while it is read. It is applied only when every line is valid. */
struct reading {
	struct config config;
	struct peer *peers;
	struct domain *domains;
	bool listens, keyed;
};

static int digit(char letter)
{
	return letter >= '0' && letter <= '9' ? letter - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static const char *read_key(struct reading *reading, const char *text)
{
	if (strlen(text) != 2 * KEY_BYTES)
		return "the key is not 64 hex digits";
	for (size_t i = 0; i < KEY_BYTES; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return "the key is not 64 hex digits";
		reading->config.key[i] = (uint8_t)(high << 4 | low);
	}
	reading->keyed = true;
	return NULL;
}

static const char *read_listen(struct reading *reading, char **fields)
{
	uint64_t port;

	if (!address_parse(&reading->config.address, fields[1]))
		return "not an address";
	if (!text_number(fields[2], 1, 65535, &port))
		return "not a port";
	reading->config.port = (uint16_t)port;
	reading->listens = true;
	return NULL;
}

static const char *read_peer(struct reading *reading, char **fields)
{
	struct address address;
	struct peer *peer;
	uint64_t port;

	if (!address_parse(&address, fields[1]))
		return "not an address";
	if (!text_number(fields[2], 1, 65535, &port))
		return "not a port";
	peer = memory_new(sizeof(*peer));
	peer->address = address;
	peer->port = (uint16_t)port;
	peer->next = reading->peers;
	reading->peers = peer;
	return NULL;
}

static const char *read_domain(struct reading *reading, char **fields, size_t count)
{
	struct domain *domain;
	uint64_t number;

	if (!text_number(fields[1], 1, UINT32_MAX, &number))
		return "the domain is not a number";
	if (fields[2][0] != '/')
		return "the namespace is not an absolute path";
	for (const struct domain *other = reading->domains; other != NULL; other = other->next)
		if (other->number == number)
			return "a domain is given twice";
	domain = memory_new(sizeof(*domain));
	domain->number = (uint32_t)number;
	domain->next = reading->domains;
	reading->domains = domain;
	domain->path = memory_text(fields[2]);
	domain->shared = memory_new((count - 3) * sizeof(*domain->shared));
	for (size_t i = 3; i < count; i++)
		if (!address_parse(&domain->shared[domain->shared_count++], fields[i]))
			return "not an address";
	return NULL;
}

static const char *read_times(struct reading *reading, char **fields)
{
	uint64_t tcp, udp;

	if (!text_number(fields[1], 1, 86400, &tcp) || !text_number(fields[2], 1, 86400, &udp))
		return "a timeout is not a number of seconds from 1 to 86400";
	reading->config.tcp_timeout_s = (uint32_t)tcp;
	reading->config.udp_timeout_s = (uint32_t)udp;
	return NULL;
}

static const char *read_refresh(struct reading *reading, const char *text)
{
	uint64_t seconds;

	if (!text_number(text, 1, 86400, &seconds))
		return "refresh is not a number of seconds from 1 to 86400";
	reading->config.refresh_us = seconds * US_PER_S;
	return NULL;
}

static const char *read_line(struct reading *reading, char *line)
{
	char *fields[MOST_FIELDS];
	size_t count = text_split(line, fields, MOST_FIELDS);

	if (count == 3 && strcmp(fields[0], "listen") == 0)
		return read_listen(reading, fields);
	if (count == 3 && strcmp(fields[0], "peer") == 0)
		return read_peer(reading, fields);
	if (count == 2 && strcmp(fields[0], "key") == 0)
		return read_key(reading, fields[1]);
	if (count == 3 && strcmp(fields[0], "timeouts") == 0)
		return read_times(reading, fields);
	if (count == 2 && strcmp(fields[0], "refresh") == 0)
		return read_refresh(reading, fields[1]);
	if (count >= 4 && strcmp(fields[0], "domain") == 0)
		return read_domain(reading, fields, count);
	return "not a line of a configuration";
}

static void drop(struct reading *reading)
{
	for (struct peer *peer = reading->peers, *next; peer != NULL; peer = next) {
		next = peer->next;
		free(peer);
	}
	for (struct domain *domain = reading->domains, *next; domain != NULL; domain = next) {
		next = domain->next;
		free(domain->path);
		free(domain->shared);
		free(domain);
	}
}

static void apply_peers(struct flows *flows, const struct reading *reading)
{
	for (struct peer *peer = flows->peers; peer != NULL; peer = peer->next)
		peer->kept = false;
	for (const struct peer *wanted = reading->peers; wanted != NULL; wanted = wanted->next) {
		struct peer *peer = peer_find(flows, &wanted->address);
		if (peer == NULL)
			peer = peer_add(flows, &wanted->address);
		peer->port = wanted->port;
		peer->kept = true;
		datagram_keys(flows, peer);
	}
	for (struct peer **link = &flows->peers; *link != NULL;) {
		struct peer *peer = *link;
		if (peer->kept) {
			link = &peer->next;
			continue;
		}
		*link = peer->next;
		counts_forget_peer(flows, peer);
		free(peer);
	}
}

static bool same_addresses(const struct domain *one, const struct domain *other)
{
	if (one->shared_count != other->shared_count)
		return false;
	for (size_t i = 0; i < one->shared_count; i++)
		if (!address_equal(&one->shared[i], &other->shared[i]))
			return false;
	return true;
}

static void apply_domain(struct flows *flows, const struct domain *wanted)
{
	struct domain *domain = domain_find(flows, wanted->number);

	if (domain != NULL && strcmp(domain->path, wanted->path) == 0 && same_addresses(domain, wanted)) {
		domain->kept = true;
		return;
	}
	if (domain == NULL)
		domain = domain_add(flows, wanted->number);
	else
		domain_detach(domain);
	domain->kept = true;
	free(domain->path);
	free(domain->shared);
	free(domain->bound);
	domain->path = memory_text(wanted->path);
	domain->shared_count = wanted->shared_count;
	domain->shared = memory_new(wanted->shared_count * sizeof(*domain->shared));
	domain->bound = memory_new(wanted->shared_count * sizeof(*domain->bound));
	memcpy(domain->shared, wanted->shared, wanted->shared_count * sizeof(*domain->shared));
}

static void apply_domains(struct flows *flows, const struct reading *reading)
{
	for (struct domain *domain = flows->domains; domain != NULL; domain = domain->next)
		domain->kept = false;
	for (const struct domain *wanted = reading->domains; wanted != NULL; wanted = wanted->next)
		apply_domain(flows, wanted);
	for (struct domain **link = &flows->domains; *link != NULL;) {
		struct domain *domain = *link;
		if (domain->kept) {
			link = &domain->next;
			continue;
		}
		*link = domain->next;
		send_restart(flows, domain);
		domain_free(domain);
	}
	for (struct domain *domain = flows->domains; domain != NULL; domain = domain->next)
		domain_attach(flows, domain);
}

static void apply(struct flows *flows, const struct reading *reading)
{
	const struct config *before = &flows->config, *after = &reading->config;
	bool moved = !flows->configured || before->port != after->port || !address_equal(&before->address, &after->address);

	send_flush(flows);
	if (moved && flows->socket_fd >= 0) {
		close(flows->socket_fd);
		flows->socket_fd = -1;
	}
	flows->config = reading->config;
	flows->configured = true;
	peers_listen(flows);
	apply_peers(flows, reading);
	apply_domains(flows, reading);
	peers_send_hello(flows);
}

static struct file_mark mark_of(const struct flows *flows)
{
	struct file_mark mark = {0};
	struct stat status;
	char path[4096];

	snprintf(path, sizeof(path), "%s/config", flows->directory);
	if (stat(path, &status) == 0)
		mark = (struct file_mark){.fs = status.st_dev, .inode = status.st_ino, .changed = status.st_mtim};
	return mark;
}

void config_check(struct flows *flows)
{
	const struct file_mark *last = &flows->config_mark;
	struct file_mark mark = mark_of(flows);

	if (mark.fs != last->fs || mark.inode != last->inode || mark.changed.tv_sec != last->changed.tv_sec ||
	    mark.changed.tv_nsec != last->changed.tv_nsec)
		config_load(flows);
}

void config_load(struct flows *flows)
{
	struct reading reading = {.config = {.refresh_us = 60 * US_PER_S, .tcp_timeout_s = 300, .udp_timeout_s = 120}};
	const char *error = NULL;
	char *text, *next;
	unsigned number = 0;

	/* Before the file is read: if it is replaced meanwhile, the marks differ. */
	flows->config_mark = mark_of(flows);
	next = text = directory_read(flows->directory, "config", MAX_BYTES);
	if (text == NULL) {
		set_error(flows, flows->config_error, "there is no configuration");
		return;
	}
	while (next != NULL && error == NULL) {
		char *line = next;
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		number++;
		if (*line != '\0')
			error = read_line(&reading, line);
	}
	if (error != NULL)
		set_error(flows, flows->config_error, "line %u: %s", number, error);
	else if (!reading.listens || !reading.keyed)
		set_error(flows, flows->config_error, "there is no %s", reading.listens ? "key" : "listen");
	else {
		set_error(flows, flows->config_error, "%s", "");
		apply(flows, &reading);
	}
	drop(&reading);
	free(text);
}
