/**
 * The operating system as Spout uses it: processes, files, namespaces, links, sockets and the native helper. Every
 * function says what it does to the system; none knows why. It never reads the environment and never runs a shell.
 */
export type { Log } from './log.ts'
export * from './native-helper.ts'
export * from './native-protocol.ts'
