/**
 * Clients of our own servers: the native API, the agent link and enrolment.
 *
 * The native API uses `fetch`. The agent link and enrolment use `node:https`: they need a client certificate, a CA of
 * their own and a time-out for silent sockets, for which `fetch` needs another package. The transport of `@spout/kube`
 * stays apart for the same reasons, and because retries, tokens and lists are those of the API server.
 *
 * The agent imports single files by subpath and loads nothing else. A client neither interprets answers nor tries again
 * later: the caller decides, and has `keep-watching` for that. Of several control planes it asks another at once, where
 * that can do nothing twice.
 */
export * from './agent-link.ts'
export * from './api.ts'
export * from './endpoints.ts'
export * from './enrolment.ts'
export * from './native-api.ts'
