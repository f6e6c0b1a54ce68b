import {
  collectionPath,
  isNotFound,
  KubeError,
  type KubeObject,
  objectPath,
  type Resource,
  type Transport,
} from '@spout/kube'
import { type Clock, type Logger, pause } from '@spout/runtime'
import { type OrRefusal, refuse, shown } from '../refusal.ts'

/** The address of an object in the API, and its words in refusals. */
export interface Place {
  readonly namespace: string
  readonly name: string
  readonly resource: Resource
  readonly kind: string
  /** The field of a refusal when the object cannot be read. */
  readonly field: string
}

export interface NamedObjectsOptions<Content> {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  readonly placeOf: (key: string) => Place
  readonly read: (key: string, object: KubeObject) => OrRefusal<Content>
  /** A text that changes with the content. */
  readonly versionOf: (content: Content) => string
  /** Called with the key of an object that was read for the first time, or has changed. */
  readonly onChange: (key: string) => void
}

/** How often an object is read while RBAC does not let us watch it, or not read it. */
const READ_AGAIN_MS = 10_000
const UNREACHABLE_MS = 1000
/** The API server ends a watch after this time. */
const WATCH_SECONDS = 300
const SILENCE_MS = (WATCH_SECONDS + 30) * 1000

interface Followed {
  readonly stop: AbortController
  readonly done: Promise<void>
}

type WatchLine = { readonly type: string; readonly object: KubeObject }

/**
 * Follows single objects: each is read and watched by its name. Lists are never requested, so RBAC can allow `get` and
 * `watch` of single names. An object that we may not watch is read periodically.
 */
export class NamedObjects<Content> {
  readonly #options: NamedObjectsOptions<Content>
  readonly #followed = new Map<string, Followed>()
  readonly #contents = new Map<string, OrRefusal<Content>>()
  readonly #ending = new Set<Promise<void>>()

  constructor(options: NamedObjectsOptions<Content>) {
    this.#options = options
  }

  /** Begins to follow an object; does nothing if it is already followed. */
  follow(key: string): void {
    if (this.#followed.has(key)) return
    const stop = new AbortController()
    this.#followed.set(key, { stop, done: this.#follow(key, stop.signal) })
  }

  forget(key: string): void {
    const followed = this.#followed.get(key)
    if (followed === undefined) return
    followed.stop.abort()
    this.#followed.delete(key)
    this.#contents.delete(key)
    this.#ending.add(followed.done)
    void followed.done.then(() => this.#ending.delete(followed.done))
  }

  /** Null until the object has been read. */
  of(key: string): OrRefusal<Content> | null {
    return this.#contents.get(key) ?? null
  }

  async close(): Promise<void> {
    for (const key of [...this.#followed.keys()]) this.forget(key)
    await Promise.all(this.#ending)
  }

  async #follow(key: string, signal: AbortSignal): Promise<void> {
    const { clock, log, placeOf } = this.#options
    while (!signal.aborted) {
      let pauseMs = 0
      try {
        const canBeRead = await this.#read(key, signal)
        if (!canBeRead || !(await this.#watch(key, signal))) pauseMs = READ_AGAIN_MS
      } catch (error) {
        pauseMs = UNREACHABLE_MS
        if (!signal.aborted)
          log.warn(
            { event: 'named-object-unread', kind: placeOf(key).kind, object: key, reason: (error as Error).message },
            'a named object could not be read; will try again',
          )
      }
      if (pauseMs > 0) await pause(clock, pauseMs, signal)
    }
  }

  /** @returns false when we may not read it */
  async #read(key: string, signal: AbortSignal): Promise<boolean> {
    const { namespace, name, resource, kind, field } = this.#options.placeOf(key)
    try {
      const path = objectPath(resource, { namespace, name })
      this.#take(key, await this.#options.transport.request<KubeObject>({ method: 'GET', path, signal }), signal)
      return true
    } catch (error) {
      if (isNotFound(error)) {
        this.#take(key, null, signal)
        return true
      }
      if (!isForbidden(error)) throw error
      this.#put(
        key,
        refuse(`${kind}Forbidden`, field, `RBAC does not let us read ${kind} ${shown(`${namespace}/${name}`)}.`),
        signal,
      )
      return false
    }
  }

  /** Follows an object until the watch ends. @returns false when we may not watch it */
  async #watch(key: string, signal: AbortSignal): Promise<boolean> {
    const { namespace, name, resource } = this.#options.placeOf(key)
    const own = new AbortController()
    let events = 0
    let checked: Promise<void> = Promise.resolve()
    try {
      const lines = this.#options.transport.lines({
        path: collectionPath(resource, namespace),
        // A watch without a version begins with the present object.
        query: { watch: true, fieldSelector: `metadata.name=${name}`, timeoutSeconds: WATCH_SECONDS },
        signal: AbortSignal.any([signal, own.signal]),
        silenceMs: SILENCE_MS,
        onOpen: () => {
          checked = this.#check(key, () => events, signal).catch((error: unknown) => own.abort(error))
        },
      })
      for await (const group of lines)
        for (const line of group) {
          events++
          const { type, object } = JSON.parse(line) as WatchLine
          if (type === 'ADDED' || type === 'MODIFIED') this.#take(key, object, signal)
          else if (type === 'DELETED') this.#take(key, null, signal)
          else if (type === 'ERROR') return true
        }
      return true
    } catch (error) {
      if (isForbidden(error)) return false
      throw error
    } finally {
      await checked
    }
  }

  /**
   * Reads the object once more when the watch has begun. If it was deleted between the first read and the beginning of
   * the watch, no event says so. If events have arrived meanwhile, they are newer than this answer.
   */
  async #check(key: string, events: () => number, signal: AbortSignal): Promise<void> {
    const { namespace, name, resource } = this.#options.placeOf(key)
    const before = events()
    const { transport } = this.#options
    const object = await transport
      .request<KubeObject>({ method: 'GET', path: objectPath(resource, { namespace, name }), signal })
      .catch((error: unknown) => {
        if (isNotFound(error)) return null
        throw error
      })
    if (events() === before) this.#take(key, object, signal)
  }

  #take(key: string, object: KubeObject | null, signal: AbortSignal): void {
    const { namespace, name, kind, field } = this.#options.placeOf(key)
    const missing = () => refuse(`${kind}NotFound`, field, `There is no ${kind} ${shown(`${namespace}/${name}`)}.`)
    this.#put(key, object === null ? missing() : this.#options.read(key, object), signal)
  }

  #put(key: string, content: OrRefusal<Content>, signal: AbortSignal): void {
    if (signal.aborted || this.#textOf(this.#contents.get(key)) === this.#textOf(content)) return
    this.#contents.set(key, content)
    this.#options.onChange(key)
  }

  #textOf(content: OrRefusal<Content> | undefined): string {
    if (content === undefined) return ''
    return 'refusal' in content ? JSON.stringify(content.refusal) : this.#options.versionOf(content.value)
  }
}

const isForbidden = (error: unknown): boolean => error instanceof KubeError && error.status === 403
