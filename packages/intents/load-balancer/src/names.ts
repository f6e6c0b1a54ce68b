/** Finalizer of an object, until its load balancer is gone. */
export const FINALIZER = 'spout.dev/load-balancer'
/** Owner of the fields that we write: the status. */
export const FIELD_MANAGER = 'spout'
