import { setTimeout as sleep } from 'node:timers/promises'
import { KINDS, type Kind, SpoutError } from '@spout/model'
import type { Change, Revision, Store, Stored } from '@spout/store'
import type { ChangedObject, ChildRef, ModelView, ObjectOf, Versioned } from '../contract/view.ts'
import { ChildIndex } from './child-index.ts'
import { KindTable } from './kind-table.ts'
import { readStored } from './stored-value.ts'

type Listener = (changed: readonly ChangedObject[]) => void

export interface StoreViewOptions {
  readonly signal: AbortSignal
  /** Called for a stored value that does not fit its kind's schema. The object is left out. */
  readonly onInvalid?: (ref: { readonly kind: string; readonly id: string }, error: unknown) => void
  /** Called when a listener throws, which is a bug but never fatal. */
  readonly onListenerError?: (error: unknown) => void
}

/** Pause after an error of the store. */
const RETRY_AFTER_MS = 1000

/** Revisions remembered for `caughtUp`: far more than commits that can be awaited at once. */
const REMEMBERED_REVISIONS = 16_384

const isKind = (kind: string): kind is Kind => Object.hasOwn(KINDS, kind)
const KIND_NAMES = Object.keys(KINDS) as Kind[]

/** The store in memory (see ModelView), fed by one watch. */
export class StoreView implements ModelView {
  readonly #store: Store
  readonly #options: StoreViewOptions
  readonly #tables = new Map<Kind, KindTable<Kind>>(KIND_NAMES.map((kind) => [kind, new KindTable<Kind>()]))
  readonly #children = new ChildIndex()
  readonly #addressByPort = new Map<string, string>()
  readonly #listeners = new Set<Listener>()
  readonly #seen = new Set<Revision>()
  /** Called with whether the revision is shown. If not, a reload has passed over it. */
  readonly #waiting = new Map<Revision, ((isShown: boolean) => void)[]>()
  /** Counts how often everything was read again. */
  #reloads = 0
  #changed: ChangedObject[] = []
  #reached: Revision[] = []
  #flushing = false
  #onBookmark: () => void = () => {}

  private constructor(store: Store, options: StoreViewOptions) {
    this.#store = store
    this.#options = options
  }

  /** Reads everything, follows the store from then on, and resolves once it has caught up. */
  static async open(store: Store, options: StoreViewOptions): Promise<StoreView> {
    const view = new StoreView(store, options)
    // The lists are at least as new as this revision. The watch may repeat some of their state.
    const from = await store.revision()
    for (const kind of KIND_NAMES) for (const object of (await store.list(kind)).items) view.#put(object)
    // After the watch's first bookmark nothing is repeated any more.
    await new Promise<void>((resolve) => {
      view.#onBookmark = resolve
      void view.#follow(from)
    })
    view.#flush()
    return view
  }

  get<K extends Kind>(kind: K, id: string): Versioned<ObjectOf<K>> | null {
    return this.#table(kind).get(id)
  }

  list<K extends Kind>(kind: K, options: { readonly projectId?: string } = {}): readonly ObjectOf<K>[] {
    return this.#table(kind).list(options.projectId ?? null)
  }

  child(id: string): ChildRef | null {
    return this.#children.get(id)
  }

  addressByPort(portId: string): ObjectOf<'address'> | null {
    const id = this.#addressByPort.get(portId)
    return id === undefined ? null : (this.get('address', id)?.value ?? null)
  }

  async caughtUp(revision: Revision): Promise<void> {
    if (this.#seen.has(revision)) return
    // The watch will pass the newest revision. It will never pass one from before this view was opened.
    let asked = this.#reloads
    let newest = await this.#store.revision(revision)
    while (!this.#seen.has(revision) && !this.#seen.has(newest)) {
      // Nor one from before a reload, which may have begun while the store was asked.
      if (asked === this.#reloads && (await this.#wait(newest))) return
      asked = this.#reloads
      newest = await this.#store.revision()
    }
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #table<K extends Kind>(kind: K): KindTable<K> {
    return this.#tables.get(kind) as unknown as KindTable<K>
  }

  async #follow(from: Revision): Promise<void> {
    const { signal, onListenerError } = this.#options
    let at: Revision | null = from
    while (!signal.aborted) {
      try {
        at ??= await this.#reload()
        for await (const change of this.#store.watch({ from: at, signal })) at = this.#apply(change)
        // A watch ends by itself only when its store is closed.
        return
      } catch (error) {
        if (signal.aborted) return
        // Compaction has passed a stalled watch, or the store failed: read everything again and continue from there.
        at = null
        if (error instanceof SpoutError && error.code === 'Gone') continue
        onListenerError?.(error)
        await sleep(RETRY_AFTER_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  async #reload(): Promise<Revision> {
    // Everything awaited so far was committed before, so the lists contain it.
    const waitedFor = new Set(this.#waiting.keys())
    const from = await this.#store.revision()
    for (const kind of KIND_NAMES) {
      const { items } = await this.#store.list(kind)
      const present = new Set(items.map(({ id }) => id))
      for (const object of this.#table(kind).list(null))
        if (!present.has((object as { id: string }).id)) this.#delete(kind, (object as { id: string }).id)
      for (const object of items) this.#put(object)
    }
    for (const revision of waitedFor.add(from)) this.#reach(revision)
    this.#reloads++
    for (const revision of this.#waiting.keys()) if (!waitedFor.has(revision)) this.#release(revision, false)
    return from
  }

  #apply(change: Change): Revision {
    switch (change.type) {
      case 'put':
        this.#put(change.object)
        this.#reach(change.object.revision)
        return change.object.revision
      case 'delete':
        if (isKind(change.ref.kind)) this.#delete(change.ref.kind, change.ref.id)
        this.#reach(change.revision)
        return change.revision
      case 'bookmark':
        this.#reach(change.revision)
        this.#onBookmark()
        return change.revision
    }
  }

  #put(object: Stored): void {
    if (!isKind(object.kind)) return
    const kind = object.kind
    const value = this.#read(kind, object)
    if (value === null) return
    const before = this.#table(kind).put({ value, revision: object.revision })
    this.#index(kind, before, value)
    this.#note({ kind, id: object.id })
  }

  #read(kind: Kind, object: Stored): ObjectOf<Kind> | null {
    try {
      return readStored(kind, object)
    } catch (error) {
      this.#options.onInvalid?.({ kind, id: object.id }, error)
      return null
    }
  }

  #delete(kind: Kind, id: string): void {
    const before = this.#table(kind).delete(id)
    if (before === null) return
    this.#index(kind, before, null)
    const projectId = 'projectId' in before ? before.projectId : null
    this.#note(projectId === null ? { kind, id } : { kind, id, goneFrom: projectId })
  }

  #index(kind: Kind, before: ObjectOf<Kind> | null, after: ObjectOf<Kind> | null): void {
    if (kind === 'loadBalancer')
      this.#children.replace(before as ObjectOf<'loadBalancer'> | null, after as ObjectOf<'loadBalancer'> | null)
    if (kind === 'address') {
      const old = before as ObjectOf<'address'> | null
      const now = after as ObjectOf<'address'> | null
      if (old && this.#addressByPort.get(old.portId) === old.id) this.#addressByPort.delete(old.portId)
      if (now) this.#addressByPort.set(now.portId, now.id)
    }
  }

  #note(changed: ChangedObject): void {
    this.#changed.push(changed)
    this.#schedule()
  }

  #reach(revision: Revision): void {
    if (this.#reached.at(-1) === revision) return
    this.#reached.push(revision)
    this.#schedule()
  }

  /** Changes of one commit arrive one by one. Listeners and waiters are called once all that has arrived is applied. */
  #schedule(): void {
    if (this.#flushing) return
    this.#flushing = true
    // After the microtasks in which the watch delivers a commit, before pending I/O.
    process.nextTick(() => this.#flush())
  }

  #flush(): void {
    this.#flushing = false
    const changed = this.#changed
    const reached = this.#reached
    this.#changed = []
    this.#reached = []
    if (changed.length > 0)
      for (const listener of this.#listeners) {
        try {
          listener(changed)
        } catch (error) {
          this.#options.onListenerError?.(error)
        }
      }
    for (const revision of reached) {
      this.#seen.add(revision)
      this.#release(revision, true)
    }
    for (const revision of this.#seen) {
      if (this.#seen.size <= REMEMBERED_REVISIONS) break
      this.#seen.delete(revision)
    }
  }

  /** @returns whether the revision is shown; else it is to be asked for anew */
  #wait(revision: Revision): Promise<boolean> {
    return new Promise((resolve) => this.#waiting.set(revision, [...(this.#waiting.get(revision) ?? []), resolve]))
  }

  #release(revision: Revision, isShown: boolean): void {
    for (const resolve of this.#waiting.get(revision) ?? []) resolve(isShown)
    this.#waiting.delete(revision)
  }
}
