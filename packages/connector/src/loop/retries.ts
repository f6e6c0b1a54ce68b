/** Pause when somebody else is changing the load balancer, or an object has changed since it was read. */
export const SHORTLY_MS = 20
/** Pause before a refused request is tried again. It is also tried again when something changes that may help. */
export const REFUSED_RETRY_MS = 30_000
