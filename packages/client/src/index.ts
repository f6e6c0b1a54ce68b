/**
 * Clients of our own servers: the native API, the agent link and enrolment.
 *
 * The agent takes what it needs by subpath and loads nothing else. None decides what to do with an answer, or tries again
 * by itself: whoever calls knows when that is right, and has `keep-watching` for it.
 */
export * from './agent-link.ts'
export * from './api.ts'
export * from './enrolment.ts'
export * from './native-api.ts'
