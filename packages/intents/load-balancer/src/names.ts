/** Our finalizer: it keeps an object until its load balancer is gone. */
export const FINALIZER = 'spout.dev/load-balancer'
/** The field manager of what we write, which is the status. */
export const FIELD_MANAGER = 'spout'
