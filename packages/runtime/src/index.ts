/**
 * What every process of Spout runs on: lifecycle, logger, clock, listeners, work queue, reconciler, mutex, semaphore, retry.
 *
 * This index is light because the node agent imports it. Modules that need zod, YAML or the metrics library have their
 * own path (`@spout/runtime/config`, `@spout/runtime/metrics`), and so do modules that only some processes need
 * (`@spout/runtime/status-server`). The package knows nothing of load balancing.
 */

export * from './clock/clock.ts'
export * from './concurrency/in-pieces.ts'
export * from './concurrency/listeners.ts'
export * from './concurrency/mutex.ts'
export * from './concurrency/one-a-round.ts'
export * from './concurrency/reconciler.ts'
export * from './concurrency/semaphore.ts'
export * from './concurrency/turns.ts'
export * from './concurrency/work-queue.ts'
export * from './json/body-text.ts'
export * from './json/long-list.ts'
export * from './json/written-answer.ts'
export * from './json/written-json.ts'
export * from './process/lifecycle.ts'
export * from './retries/backoff.ts'
export * from './retries/retry.ts'
export * from './secrets/secret.ts'
export * from './telemetry/logger.ts'
export * from './telemetry/recent-peaks.ts'
