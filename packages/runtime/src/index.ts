/**
 * What every process of Spout runs on: lifecycle, logger, clock, work queue, reconciler, mutex, semaphore, retry.
 *
 * This face is light on purpose, because the node agent imports it: what needs zod, YAML or the metrics library is
 * reached by its own path (`@spout/runtime/config`, `@spout/runtime/metrics`), and so is what only some processes have
 * (`@spout/runtime/status-server`). It knows no domain words.
 */

export * from './backoff.ts'
export * from './clock.ts'
export * from './lifecycle.ts'
export * from './logger.ts'
export * from './long-list.ts'
export * from './mutex.ts'
export * from './reconciler.ts'
export * from './restart-pause.ts'
export * from './retry.ts'
export * from './secret.ts'
export * from './semaphore.ts'
export * from './work-queue.ts'
