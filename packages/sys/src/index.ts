/**
 * The operating system as Spout uses it: processes, files, namespaces, links, sockets and the native helper. Every
 * function documents what it does to the system; none knows why. It never reads the environment and never runs a shell.
 */
export * from './atomic-file.ts'
export * from './cgroup.ts'
export { type MemoryUse, memoryUse } from './cgroup-memory.ts'
export * from './errno.ts'
export * from './exec.ts'
export * from './links.ts'
export type { Log } from './log.ts'
export * from './native-helper.ts'
export * from './native-protocol.ts'
export * from './netns.ts'
export * from './process.ts'
export { ReplySocket } from './reply-socket.ts'
export * from './run-directory.ts'
export * from './supervisor.ts'
export * from './unix-socket.ts'
