/**
 * What every process of Spout runs on: lifecycle, logger, clock, listeners, work queue, reconciler, mutex, semaphore, retry.
 *
 * This index is light because the node agent imports it. Modules that need zod, YAML or the metrics library have their
 * own path (`@spout/runtime/config`, `@spout/runtime/metrics`), and so do modules that only some processes need
 * (`@spout/runtime/status-server`). The package knows nothing of load balancing.
 */

export * from './backoff.ts'
export * from './clock.ts'
export * from './in-pieces.ts'
export * from './lifecycle.ts'
export * from './listeners.ts'
export * from './logger.ts'
export * from './long-list.ts'
export * from './mutex.ts'
export * from './one-a-round.ts'
export * from './recent-peaks.ts'
export * from './reconciler.ts'
export * from './retry.ts'
export * from './secret.ts'
export * from './semaphore.ts'
export * from './work-queue.ts'
export * from './written-answer.ts'
export * from './written-json.ts'
