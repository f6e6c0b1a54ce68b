import { threadId } from 'node:worker_threads'

// Test files run side by side as threads of one process: its id alone tells no two of them apart.

let labs = 0
let instances = 0

/** Begins the names of one lab's namespaces; no two labs of this machine have the same at a time. */
export const labPrefix = (): string => `spt${process.pid}t${threadId}-${labs++}`

const ofThread = ((process.pid % 32_768) * 1024 + (threadId % 1024)).toString(36).padStart(5, '0')

/** Names an agent as `DomainConfig.instance` does; as unique as `labPrefix`, for up to 26 of a thread. */
export const labInstance = (): string => `${String.fromCharCode(97 + (instances++ % 26))}${ofThread}`
