/** Incremented when entries change incompatibly. An agent refuses versions that it does not know. */
export const NODE_STATE_VERSION = 1
