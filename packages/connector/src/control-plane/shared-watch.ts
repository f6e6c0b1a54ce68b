import { EventEmitter, on } from 'node:events'
import type { LoadBalancerEvent, ShownLoadBalancer } from './load-balancer-service.ts'

/** Opens a watch, as `LoadBalancerService.watch` does. */
type Open = (signal: AbortSignal) => AsyncIterable<LoadBalancerEvent>

/** A watch that is open, and what it has shown so far. */
interface OpenWatch {
  readonly stop: AbortController
  /** Emits `event` with each event, and then `end` or `error`. */
  readonly told: EventEmitter
  readonly shown: Map<string, ShownLoadBalancer>
  hasBegun: boolean
  isListed: boolean
  followers: number
}

/**
 * One watch for all who follow the load balancers of a project, as the controller of each kind does. So each change is
 * sent, read and kept once. A follower that comes later gets everything that exists first. When the watch ends or
 * breaks, it does so for all followers, and the first who follows again opens the next one.
 */
export class SharedWatch {
  readonly #open: Open
  #watch: OpenWatch | null = null

  constructor(open: Open) {
    this.#open = open
  }

  /** Follows until `signal` aborts, or the watch ends. The watch is closed once nobody follows it. */
  async *follow(signal: AbortSignal): AsyncIterable<LoadBalancerEvent> {
    signal.throwIfAborted()
    const watch = this.#watch ?? this.#begin()
    const events = on(watch.told, 'event', { signal, close: ['end'] })
    const before = soFar(watch)
    watch.followers++
    try {
      yield* before
      for await (const [event] of events) yield event as LoadBalancerEvent
    } finally {
      await events.return?.()
      watch.followers--
      if (watch.followers === 0) this.#close(watch)
    }
  }

  #begin(): OpenWatch {
    const watch: OpenWatch = {
      ...{ stop: new AbortController(), told: new EventEmitter(), shown: new Map() },
      ...{ hasBegun: false, isListed: false, followers: 0 },
    }
    watch.told.setMaxListeners(0)
    this.#watch = watch
    void this.#run(watch)
    return watch
  }

  async #run(watch: OpenWatch): Promise<void> {
    const { told, stop } = watch
    try {
      for await (const event of this.#open(stop.signal)) {
        note(watch, event)
        told.emit('event', event)
      }
      this.#forget(watch)
      told.emit('end')
    } catch (error) {
      this.#forget(watch)
      // Without listeners, this would throw.
      if (told.listenerCount('error') > 0) told.emit('error', error)
    }
  }

  #close(watch: OpenWatch): void {
    this.#forget(watch)
    watch.stop.abort()
  }

  /** Whoever follows from now on opens another one. */
  #forget(watch: OpenWatch): void {
    if (this.#watch === watch) this.#watch = null
  }
}

function note(watch: OpenWatch, event: LoadBalancerEvent): void {
  if (event.type === 'listing') watch.hasBegun = true
  else if (event.type === 'listed') watch.isListed = true
  else if (event.type === 'deleted') watch.shown.delete(event.id)
  else watch.shown.set(event.loadBalancer.document.id, event.loadBalancer)
}

/** The events by which a follower learns what the watch has shown. */
const soFar = ({ hasBegun, isListed, shown }: OpenWatch): readonly LoadBalancerEvent[] =>
  hasBegun
    ? [
        { type: 'listing' },
        ...shown.values().map((loadBalancer): LoadBalancerEvent => ({ type: 'shown', loadBalancer })),
        ...(isListed ? [{ type: 'listed' } as const] : []),
      ]
    : []
