/* await-exit: replies when a process has ended, with all of its threads (man 2 pidfd_open). It need not be a child. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "operations.h"

struct awaited {
	struct helper *helper;
	struct watch watch;
	int64_t id;
};

static void ended(struct watch *watch, uint32_t events)
{
	struct awaited *awaited = container_of(watch, struct awaited, watch);
	struct helper *helper = awaited->helper;

	(void)events;
	reply_begin(&helper->out, awaited->id);
	reply_end(&helper->out);
	loop_close(watch);
	loop_free(&helper->loop, awaited);
}

bool op_await_exit(struct request *request)
{
	struct awaited *awaited;
	int64_t pid;
	int fd, err;

	if (!field_number(request, request->fields, "pid", 1, INT32_MAX, &pid))
		return false;
	fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd < 0)
		return fail_errno(request, errno, "pid %lld", (long long)pid);
	awaited = memory_new(sizeof(*awaited));
	*awaited = (struct awaited){.helper = request->helper, .watch = {.fd = -1, .ready = ended}, .id = request->id};
	if (loop_watch(&request->helper->loop, &awaited->watch, fd, EPOLLIN))
		return true;
	err = errno;
	close(fd);
	free(awaited);
	return fail_errno(request, err, "pid %lld", (long long)pid);
}
