/**
 * Clients of our own servers: the native API, the agent link and enrolment.
 *
 * The native API is asked with `fetch`. The agent link and enrolment use `node:https`: they need a client certificate, a CA of
 * their own and a socket that is given up when it is silent, which `fetch` has only with a package of its own. The transport
 * of `@spout/kube` stays apart for the same reasons, and because retries, tokens and lists are the API server's.
 *
 * The agent takes what it needs by subpath and loads nothing else. None decides what to do with an answer, or tries again
 * by itself: whoever calls knows when that is right, and has `keep-watching` for it.
 */
export * from './agent-link.ts'
export * from './api.ts'
export * from './enrolment.ts'
export * from './native-api.ts'
