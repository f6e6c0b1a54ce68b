import { Refused, type Sessions } from '@spout/client/native-api'
import { type ConfigurationKind, FINALIZER } from '@spout/custom-resources'
import { CustomObjects, isConflict, isNotFound, statusOf, type Transport } from '@spout/kube'
import { type Clock, done, failed, type Logger, type Outcome, Reconciler, retryAfter, WorkQueue } from '@spout/runtime'
import { addressPoolKind } from '../handlers/address-pool.ts'
import { bgpAdvertisementKind } from '../handlers/bgp-advertisement.ts'
import { bgpPeerKind } from '../handlers/bgp-peer.ts'
import { DocumentHandler } from '../handlers/document-handler.ts'
import { type Brought, type ConfigObject, type Handler, notReady, READY } from '../handlers/handler.ts'
import { nodeGroupKind } from '../handlers/node-group.ts'
import { TenantQuotaHandler } from '../handlers/tenant-quota.ts'
import type { NodeSelections } from '../nodes/node-selections.ts'
import { AddressCounts } from '../spout/address-counts.ts'
import { follow } from '../spout/follow.ts'
import { NativeObjects } from '../spout/native-objects.ts'
import { writtenAs } from './resources.ts'
import { Soon } from './soon.ts'

export interface ConfigControllerOptions {
  readonly transport: Transport
  /** Sessions of an administrator. */
  readonly sessions: Sessions
  /** Id of this cluster, which must never change. It tells this cluster's objects from those of other clusters. */
  readonly cluster: string
  readonly clock: Clock
  readonly log: Logger
  /** How often an object is looked at again: to update its status, and to retry it if it is refused. */
  readonly everyMs?: number
  /** What the selectors of node groups do; null: nobody follows the nodes of the cluster. */
  readonly selections: NodeSelections | null
}

const EVERY_MS = 10_000
/** How long changes are gathered before objects are queued because of them. */
const COUNTS_MS = 1000
const AGAIN_MS = 50
const WORKERS = 4

/**
 * Reconciles objects of the configuration's kinds with the native API, and writes their status. The queue contains keys
 * `kind/name`, and each pass reads both sides. A refusal becomes a condition on its object and delays no other object.
 *
 * Our finalizer keeps an object until what was created from it is gone, so a missing object is no reason to delete
 * anything.
 */
export class ConfigController {
  readonly name = 'kubernetes-config'
  readonly #options: ConfigControllerOptions
  readonly #api: NativeObjects
  readonly #counts = new AddressCounts()
  readonly #objects: ReadonlyMap<string, CustomObjects>
  readonly #handlers: ReadonlyMap<string, Handler>
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #soon: Soon
  readonly #stop = new AbortController()
  #following: Promise<void> | null = null

  constructor(options: ConfigControllerOptions) {
    this.#options = options
    const { sessions, cluster, clock, log } = options
    this.#api = new NativeObjects(sessions)
    this.#soon = new Soon(clock, COUNTS_MS)
    const api = this.#api
    const handlers: Readonly<Record<ConfigurationKind, Handler>> = {
      AddressPool: new DocumentHandler(api, addressPoolKind(api, this.#counts, clock), cluster),
      NodeGroup: new DocumentHandler(api, nodeGroupKind(api, options.selections), cluster),
      BgpPeer: new DocumentHandler(api, bgpPeerKind, cluster),
      BgpAdvertisement: new DocumentHandler(api, bgpAdvertisementKind, cluster),
      TenantQuota: new TenantQuotaHandler(api, () => this.#objects.get('TenantQuota')?.all() ?? []),
    }
    this.#handlers = new Map(Object.entries(handlers))
    this.#objects = new Map(
      Object.keys(handlers).map((kind) => [kind, new CustomObjects({ ...options, ...writtenAs(kind) })]),
    )
    this.#queue = new WorkQueue({ clock })
    this.#reconciler = new Reconciler({
      name: this.name,
      queue: this.#queue,
      log,
      workers: WORKERS,
      reconcile: (key) => this.#look(key),
    })
  }

  /** Whether both sides have been read. Nothing is decided before. */
  get ready(): boolean {
    return this.#counts.listed && [...this.#objects.values()].every(({ reflector }) => reflector.hasSynced)
  }

  get nodeGroups(): CustomObjects {
    const found = this.#objects.get('NodeGroup')
    if (found === undefined) throw new Error('there is no kind NodeGroup')
    return found
  }

  start(): void {
    const { clock, log } = this.#options
    for (const [kind, { reflector }] of this.#objects) {
      reflector.onChange((name) => {
        this.#queue.add(`${kind}/${name}`, kind)
        // A refused object may have waited for this one.
        this.#soon.add('refused', () => this.#addRefused())
      })
      reflector.start()
    }
    this.#options.selections?.onChange((name) => this.#queue.add(`NodeGroup/${name}`, 'NodeGroup'))
    this.#counts.onChange((poolId) => this.#countsChanged(poolId))
    this.#following = follow(this.#api, '/addresses', this.#counts.followed, { clock, log, signal: this.#stop.signal })
    this.#reconciler.start()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#soon.close()
    await this.#reconciler.stop()
    await Promise.all([...this.#objects.values()].map(({ reflector }) => reflector.close()))
    await this.#following
  }

  #addRefused(): void {
    for (const [kind, objects] of this.#objects)
      for (const { metadata, status } of objects.all())
        if (status?.conditions?.some(({ type, status: is }) => type === READY && is === 'False'))
          this.#queue.add(`${kind}/${metadata.name}`, kind)
  }

  #countsChanged(poolId: string): void {
    this.#soon.add(poolId, () => {
      for (const { metadata, status } of this.#objects.get('AddressPool')?.all() ?? [])
        if (status?.['id'] === poolId) this.#queue.add(`AddressPool/${metadata.name}`, 'AddressPool')
    })
  }

  async #look(key: string): Promise<Outcome> {
    if (!this.ready) return retryAfter(AGAIN_MS)
    const slash = key.indexOf('/')
    const [kind, name] = [key.slice(0, slash), key.slice(slash + 1)]
    const objects = this.#objects.get(kind)
    const handler = this.#handlers.get(kind)
    const object = objects?.get(name)
    if (objects === undefined || handler === undefined || object === undefined) return done
    try {
      return await this.#settle(objects, handler, object)
    } catch (error) {
      // Our copy is outdated. The watch will show the change.
      if (isConflict(error) || isNotFound(error)) return retryAfter(AGAIN_MS)
      return failed(error instanceof Error ? error.message : String(error))
    }
  }

  async #settle(objects: CustomObjects, handler: Handler, object: ConfigObject): Promise<Outcome> {
    const { everyMs = EVERY_MS } = this.#options
    const claimed = object.metadata.finalizers?.includes(FINALIZER) ?? false
    if (object.metadata.deletionTimestamp !== undefined) {
      if (claimed) return this.#release(objects, handler, object)
      return done
    }
    if (!claimed) {
      await objects.addFinalizer(object, FINALIZER)
      return retryAfter(AGAIN_MS)
    }
    const { fields, conditions, again } = await this.#brought(handler, object)
    await objects.writeStatus(object, statusOf(object, fields, conditions, this.#options.clock.now()))
    return retryAfter(again ? AGAIN_MS : everyMs)
  }

  /** Turns a refusal into the condition `Ready` and leaves the rest of the status as it was. */
  async #brought(handler: Handler, object: ConfigObject): Promise<Brought> {
    try {
      return await handler.bring(object)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { conditions = [], ...fields } = object.status ?? {}
      const others = conditions.filter(({ type }) => type !== READY)
      return { fields, conditions: [notReady(error.code, error.message), ...others.map(stateOf)] }
    }
  }

  async #release(objects: CustomObjects, handler: Handler, object: ConfigObject): Promise<Outcome> {
    try {
      await handler.release(object)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { conditions = [], ...fields } = object.status ?? {}
      const others = conditions.filter(({ type }) => type !== READY).map(stateOf)
      const condition = notReady(error.code, `Cannot be deleted yet. ${error.message}`)
      await objects.writeStatus(object, statusOf(object, fields, [condition, ...others], this.#options.clock.now()))
      return retryAfter(Math.min(1000, this.#options.everyMs ?? EVERY_MS))
    }
    await objects.removeFinalizer(object, FINALIZER)
    return done
  }
}

const stateOf = ({ type, status, reason, message }: Brought['conditions'][number]) => ({
  type,
  status,
  reason,
  message,
})
