import type { Clock } from '@spout/runtime'
import { KubeUnreachable } from '../transport/errors.ts'

export interface WatchLifeOptions {
  readonly clock: Clock
  /** Ends the watch at once. */
  readonly closing: AbortSignal
  /** The watch counts as dead after this time: the server was asked to end it before. */
  readonly mostMs: number
  /** After this time, `shouldLook` decides whether the watch ends so that the list is read again. */
  readonly lookMs: number
  readonly shouldLook: () => boolean
}

/** The signal of a watch, and a function to call when it has ended. */
export interface WatchLife {
  readonly signal: AbortSignal
  readonly end: () => void
}

/** Limits the life of a watch by time-outs and by the end of the reflector. */
export function watchLife({ clock, closing, mostMs, lookMs, shouldLook }: WatchLifeOptions): WatchLife {
  const life = new AbortController()
  const close = () => life.abort()
  closing.addEventListener('abort', close, { once: true })
  const late = clock.setTimer(
    () => life.abort(new KubeUnreachable('watch', 'silent', `it did not end within ${mostMs} ms`)),
    mostMs,
  )
  const look = clock.setTimer(() => {
    if (shouldLook()) life.abort()
  }, lookMs)
  const end = () => {
    late.clear()
    look.clear()
    closing.removeEventListener('abort', close)
  }
  return { signal: life.signal, end }
}
