/** Another unit is about to change the load balancer, or an object has changed since it was read. */
export const SHORTLY_MS = 20
/** How often what is refused is tried again, besides when something changes that may help. */
export const REFUSED_RETRY_MS = 30_000
