/* How a daemon is asked to end. */
#pragma once

/* A descriptor that is readable once SIGTERM or SIGINT came, whatever the parent had set for them. -1 with errno. */
int signals_open(void);
