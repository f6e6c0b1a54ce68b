/* The signals that ask a daemon to end. */
#pragma once

/* A descriptor that is readable once SIGTERM or SIGINT arrived, even if the parent had them ignored. -1 with errno. */
int signals_open(void);
