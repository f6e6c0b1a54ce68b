/* Keeps a core busy, as an ordinary process. hog SECONDS: ends after that, and when its parent does. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include "clock.h"

int main(int argc, char **argv)
{
	long long until = now_ns() + (argc == 2 ? atoll(argv[1]) : 0) * SECOND;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (now_ns() < until)
		;
	return 0;
}
