import { isDeepStrictEqual } from 'node:util'
import { keepWatching } from '@spout/client/keep-watching'
import type { LoadBalancer } from '@spout/model'
import { type Clock, Listeners, type Logger } from '@spout/runtime'
import type { LoadBalancerContent } from '../content/content.ts'
import { alikeParts } from '../content/content-difference.ts'
import { CLUSTER_ANNOTATION, type OwnerKind, ownersOf } from '../content/owners.ts'
import type { LoadBalancerService, ShownLoadBalancer } from './load-balancer-service.ts'

/** A change among the known load balancers. */
export type LoadBalancerChange =
  /** The list is complete. */
  | { readonly type: 'listed' }
  /** `before` is null when it was not known. */
  | { readonly type: 'shown'; readonly document: LoadBalancer; readonly before: LoadBalancer | null }
  | { readonly type: 'gone'; readonly document: LoadBalancer }

/** The load balancers of this cluster, kept up to date by a watch and indexed by their objects. */
export class KnownLoadBalancers {
  readonly #service: LoadBalancerService
  readonly #cluster: string
  readonly #kind: OwnerKind
  readonly #clock: Clock
  readonly #log: Logger
  readonly #byId = new Map<string, ShownLoadBalancer>()
  readonly #idsOfUid = new Map<string, Set<string>>()
  readonly #idsOfKey = new Map<string, Set<string>>()
  readonly #listeners = new Listeners<LoadBalancerChange>()
  /** Cache for comparing pools and routes with the wanted content. */
  readonly alike = alikeParts()
  /** Cache: the content that a document was last found to equal. Both stay the same objects until they change. */
  readonly says = new WeakMap<LoadBalancer, LoadBalancerContent>()
  /** Ids that the list under way has shown; null when none is under way. */
  #seen: Set<string> | null = null
  #listed = false

  constructor(options: {
    readonly service: LoadBalancerService
    readonly cluster: string
    /** Kind of the objects in the index. */
    readonly kind: OwnerKind
    readonly clock: Clock
    readonly log: Logger
  }) {
    this.#service = options.service
    this.#cluster = options.cluster
    this.#kind = options.kind
    this.#clock = options.clock
    this.#log = options.log
  }

  /** Whether the first list is complete. */
  get listed(): boolean {
    return this.#listed
  }

  get size(): number {
    return this.#byId.size
  }

  get(id: string): ShownLoadBalancer | null {
    return this.#byId.get(id) ?? null
  }

  all(): Iterable<ShownLoadBalancer> {
    return this.#byId.values()
  }

  /** Load balancers that name this object's UID. */
  ofUid(uid: string): readonly ShownLoadBalancer[] {
    return this.#of(this.#idsOfUid.get(uid))
  }

  /** Load balancers that name an object of this `namespace/name`, whatever its UID. */
  ofKey(key: string): readonly ShownLoadBalancer[] {
    return this.#of(this.#idsOfKey.get(key))
  }

  onChange(listener: (change: LoadBalancerChange) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Takes a load balancer from the watch. Ignores a version older than the known one. */
  note(shown: ShownLoadBalancer): void {
    this.#take(shown)
  }

  /**
   * Takes the answer to a call. The watch may have shown the same version already, with a newer status. Statuses have
   * no versions, so for the same version of the document the status from the watch is kept.
   */
  answered(shown: ShownLoadBalancer): void {
    const before = this.#byId.get(shown.document.id)
    if (before === undefined || isOlder(before.document, shown.document)) this.#take(shown)
    else this.#seen?.add(shown.document.id)
  }

  #take(shown: ShownLoadBalancer): void {
    const { document } = shown
    if (document.annotations[CLUSTER_ANNOTATION] !== this.#cluster) return
    this.#seen?.add(document.id)
    const before = this.#byId.get(document.id)
    if (before !== undefined && isOlder(document, before.document)) return
    const isKnown = before !== undefined && isSameDocument(document, before.document)
    if (isKnown && isDeepStrictEqual(shown.status, before.status)) return
    if (before !== undefined) this.#unindex(before.document)
    // An unchanged document stays the same object, so that code which has processed it can skip it.
    this.#byId.set(document.id, isKnown ? { document: before.document, status: shown.status } : shown)
    for (const [uid, key] of ownersOf(document, this.#kind)) {
      put(this.#idsOfUid, uid, document.id)
      put(this.#idsOfKey, key, document.id)
    }
    this.#tell({ type: 'shown', document, before: before?.document ?? null })
  }

  forget(id: string): void {
    const before = this.#byId.get(id)
    if (before === undefined) return
    this.#byId.delete(id)
    this.#unindex(before.document)
    this.#tell({ type: 'gone', document: before.document })
  }

  /** Follows the watch until `signal` aborts. A broken watch is started again. */
  async follow(signal: AbortSignal): Promise<void> {
    const watch = async (resetPauses: () => void) => {
      try {
        for await (const event of this.#service.watch(signal)) {
          if (event.type === 'listing') this.#seen = new Set()
          else if (event.type === 'shown') this.note(event.loadBalancer)
          else if (event.type === 'deleted') this.forget(event.id)
          else this.#endList()
          if (event.type !== 'listing') resetPauses()
        }
      } finally {
        this.#seen = null
      }
    }
    await keepWatching(watch, {
      path: '/load-balancers',
      meanwhile: 'load balancers are as they were last seen',
      clock: this.#clock,
      log: this.#log,
      signal,
    })
  }

  #endList(): void {
    if (this.#seen === null) return
    for (const id of [...this.#byId.keys()]) if (!this.#seen.has(id)) this.forget(id)
    this.#seen = null
    this.#listed = true
    this.#tell({ type: 'listed' })
  }

  #of(ids: ReadonlySet<string> | undefined): readonly ShownLoadBalancer[] {
    return [...(ids ?? [])].sort().flatMap((id) => this.#byId.get(id) ?? [])
  }

  #unindex(document: LoadBalancer): void {
    for (const [uid, key] of ownersOf(document, this.#kind)) {
      remove(this.#idsOfUid, uid, document.id)
      remove(this.#idsOfKey, key, document.id)
    }
  }

  #tell(change: LoadBalancerChange): void {
    this.#listeners.tell(change)
  }
}

/** Compares creation times first: a document that was deleted and created again begins at generation 1. */
function isOlder(a: LoadBalancer, b: LoadBalancer): boolean {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt
  if (a.generation !== b.generation) return a.generation < b.generation
  return (a.updatedAt ?? '') < (b.updatedAt ?? '')
}

const isSameDocument = (a: LoadBalancer, b: LoadBalancer): boolean =>
  a === b || (!isOlder(b, a) && isDeepStrictEqual(a, b))

function put(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key)
  if (ids === undefined) index.set(key, new Set([id]))
  else ids.add(id)
}

function remove(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key)
  ids?.delete(id)
  if (ids?.size === 0) index.delete(key)
}

/** The documents of a change: the load balancer as it was before and as it is now; none for `listed`. */
export const documentsOf = (change: LoadBalancerChange): readonly LoadBalancer[] =>
  change.type === 'listed'
    ? []
    : change.type === 'gone' || change.before === null
      ? [change.document]
      : [change.before, change.document]
