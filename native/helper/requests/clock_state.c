/* clock-state: whether something keeps the kernel's clock right. Reading it needs no rights (man 2 adjtimex, modes 0). */
#include <errno.h>
#include <sys/timex.h>

#include "operations.h"

bool op_clock_state(struct request *request)
{
	struct timex state = {.modes = 0};
	struct buf *out = &request->helper->out;

	if (adjtimex(&state) < 0)
		return fail_errno(request, errno, "adjtimex");
	reply_begin(out, request->id);
	reply_flag(out, "synchronised", (state.status & STA_UNSYNC) == 0);
	reply_end(out);
	return true;
}
