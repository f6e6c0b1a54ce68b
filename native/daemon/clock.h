/* Time as the daemons count it. */
#pragma once
#include <stdint.h>

/* CLOCK_BOOTTIME, which includes time asleep. */
uint64_t now_us(void);
/* Milliseconds since 1970. */
int64_t epoch_ms(void);
