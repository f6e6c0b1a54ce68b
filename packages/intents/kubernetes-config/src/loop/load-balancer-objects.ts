import type { Sessions } from '@spout/client/native-api'
import { CustomObjects, statusOf, type Transport } from '@spout/kube'
import type { LoadBalancer, LoadBalancerStatus, MemberHealth } from '@spout/model'
import { type Clock, done, failed, type Logger, type Outcome, Reconciler, retryAfter, WorkQueue } from '@spout/runtime'
import type { ConfigStatus } from '../handlers/handler.ts'
import { follow } from '../spout/follow.ts'
import { NativeObjects } from '../spout/native-objects.ts'
import { writtenAs } from './resources.ts'
import { Soon } from './soon.ts'

/** A load balancer as the native API returns it. */
export interface ShownLoadBalancer extends LoadBalancer {
  readonly status: Pick<LoadBalancerStatus, 'provisioning' | 'reason' | 'message' | 'ownerNodeId' | 'nodes'> & {
    readonly members: Readonly<Record<string, Pick<MemberHealth, 'health'>>>
  }
}

export interface LoadBalancerObjectsOptions {
  readonly transport: Transport
  readonly sessions: Sessions
  /** The project whose load balancers are shown. */
  readonly projectId: string
  readonly clock: Clock
  readonly log: Logger
}

/** Pause between two writes for a load balancer that keeps changing. */
const CHANGED_MS = 1000
const AGAIN_MS = 50

/**
 * Shows a project's load balancers as ObservedLoadBalancer objects, for people to read. Changes that others make to
 * those objects are undone.
 */
export class LoadBalancerObjects {
  readonly name = 'load-balancer-objects'
  readonly #options: LoadBalancerObjectsOptions
  readonly #api: NativeObjects
  readonly #objects: CustomObjects
  readonly #shown = new Map<string, ShownLoadBalancer>()
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #soon: Soon
  readonly #stop = new AbortController()
  #seen: Set<string> | null = null
  #listed = false
  #following: Promise<void> | null = null

  constructor(options: LoadBalancerObjectsOptions) {
    this.#options = options
    const { clock, log } = options
    this.#api = new NativeObjects(options.sessions)
    this.#objects = new CustomObjects({ ...options, ...writtenAs('ObservedLoadBalancer') })
    this.#queue = new WorkQueue({ clock })
    this.#soon = new Soon(clock, CHANGED_MS)
    this.#reconciler = new Reconciler({
      name: this.name,
      queue: this.#queue,
      log,
      workers: 4,
      reconcile: (id) => this.#look(id),
    })
  }

  get ready(): boolean {
    return this.#listed && this.#objects.reflector.hasSynced
  }

  start(): void {
    const { clock, log } = this.#options
    this.#objects.reflector.onChange((id) => this.#queue.add(id))
    this.#objects.reflector.start()
    this.#following = follow(
      this.#api,
      '/load-balancers',
      {
        listing: () => {
          this.#seen = new Set()
        },
        line: ({ type, object }) => {
          if (type === 'DELETED') this.#forget(object.id)
          else this.#note(object as unknown as ShownLoadBalancer)
        },
        listed: () => {
          for (const id of [...this.#shown.keys()]) if (this.#seen?.has(id) === false) this.#forget(id)
          this.#seen = null
          this.#listed = true
        },
      },
      { clock, log, signal: this.#stop.signal },
    )
    this.#reconciler.start()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#soon.close()
    await this.#reconciler.stop()
    await this.#objects.reflector.close()
    await this.#following
  }

  #note(shown: ShownLoadBalancer): void {
    if (shown.projectId !== this.#options.projectId) return
    this.#seen?.add(shown.id)
    const isNew = !this.#shown.has(shown.id)
    this.#shown.set(shown.id, shown)
    if (isNew) this.#queue.add(shown.id)
    else this.#soon.add(shown.id, () => this.#queue.add(shown.id))
  }

  #forget(id: string): void {
    if (this.#shown.delete(id)) this.#queue.add(id)
  }

  async #look(id: string): Promise<Outcome> {
    if (!this.ready) return retryAfter(AGAIN_MS)
    const shown = this.#shown.get(id)
    const object = this.#objects.get(id)
    try {
      if (shown === undefined) {
        if (object !== undefined) await this.#objects.delete(id)
        return done
      }
      const spec = { name: shown.name }
      const same = object !== undefined && (object.spec as typeof spec).name === spec.name
      const current = same ? object : await this.#objects.apply(id, spec)
      // The API server does not serve the kind at the moment.
      if (current === null) return retryAfter(AGAIN_MS)
      const { fields, condition } = shownAs(shown)
      await this.#objects.writeStatus(current, statusOf(current, fields, [condition], this.#options.clock.now()))
      return done
    } catch (error) {
      return failed((error as Error).message)
    }
  }
}

/** Computes the status of an ObservedLoadBalancer object. */
export function shownAs({ vips, generation, pools, status }: ShownLoadBalancer) {
  const { provisioning, reason, message, ownerNodeId, nodes, members } = status
  const all = pools.flatMap((pool) => pool.members)
  const owner = nodes.find(({ nodeId }) => nodeId === ownerNodeId)?.nodeName ?? ownerNodeId
  const fields: Omit<ConfigStatus, 'conditions'> = {
    addresses: vips.map(({ address }) => address),
    ...(owner === null ? {} : { owner }),
    provisioning,
    generation,
    members: {
      total: all.length,
      up: all.filter(({ id }) => members[id] === undefined || members[id].health === 'up').length,
    },
  }
  const state = { active: 'True', pending: 'Unknown', error: 'False' } as const
  return { fields, condition: { type: 'Programmed', status: state[provisioning], reason, message } as const }
}
