/**
 * The operating system as Spout uses it: processes, files, namespaces, links, sockets and the native helper. Every
 * function documents what it does to the system, and knows nothing of load balancers. The package never reads the
 * environment and never runs a shell.
 */
export * from './atomic-file.ts'
export * from './cgroup.ts'
export { type MemoryUse, memoryUse } from './cgroup-memory.ts'
export * from './errno.ts'
export * from './exec.ts'
export * from './helper-protocol/conntrack.ts'
export * from './helper-protocol/errors.ts'
export * from './helper-protocol/in-netns.ts'
export * from './helper-protocol/interfaces.ts'
export * from './helper-protocol/neighbours.ts'
export * from './helper-protocol/nftables.ts'
export * from './helper-protocol/probes.ts'
export * from './helper-protocol/processes.ts'
export * from './links.ts'
export type { Log } from './log.ts'
export * from './native-helper.ts'
export * from './netns.ts'
export * from './process.ts'
export { ReplySocket } from './reply-socket.ts'
export * from './run-directory.ts'
export * from './supervisor.ts'
export * from './unix-socket.ts'
