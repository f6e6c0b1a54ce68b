import { StoreAdmission, StoreView } from '@spout/admission'
import type { Kind, LoadBalancer, NodeReport, NodeStateEntry } from '@spout/model'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import type { Store } from '@spout/store'
import { NodeLiveness } from '../liveness/node-liveness.ts'
import { NodeStateTable } from '../node-states/node-state-table.ts'
import { PlanController } from '../planning/plan-controller.ts'
import { StatusController } from '../status/status-controller.ts'

export const FEATURES = [
  'l4.tcp',
  'l4.udp',
  'l7.http',
  'l7.https',
  'l7.metrics',
  'l7.tcp-proxy',
  'l7.tls',
  'l7.tls-passthrough',
] as const

/** The controllers of one control-plane process over a store, without its surfaces. */
export class ControlPlane {
  readonly clock: FakeClock
  readonly store: Store
  readonly view: StoreView
  readonly admission: StoreAdmission
  readonly nodeStates = new NodeStateTable()
  readonly liveness: NodeLiveness
  readonly status: StatusController
  readonly plans: PlanController
  readonly #abort: AbortController
  readonly #sequences = new Map<string, number>()

  private constructor(
    store: Store,
    view: StoreView,
    abort: AbortController,
    clock: FakeClock,
    hostSegments: readonly string[],
  ) {
    this.store = store
    this.view = view
    this.clock = clock
    this.#abort = abort
    this.admission = new StoreAdmission({ store, view, now: () => clock.now().getTime() })
    this.liveness = new NodeLiveness({ clock, disconnectedAfterMs: 3000, moveAfterMs: 5000 })
    const { nodeStates, liveness } = this
    this.status = new StatusController({ view, nodeStates, liveness, clock, mostFigureBytes: 1 << 20 })
    this.plans = new PlanController({
      view,
      store,
      nodeStates,
      liveness,
      status: this.status,
      admission: this.admission,
      hostSegments,
      clock,
      log: silentLogger(),
    })
  }

  static async start(
    store: Store,
    clock = new FakeClock(),
    hostSegments: readonly string[] = [],
  ): Promise<ControlPlane> {
    const abort = new AbortController()
    const view = await StoreView.open(store, { signal: abort.signal })
    const plane = new ControlPlane(store, view, abort, clock, hostSegments)
    plane.plans.start()
    await plane.idle()
    return plane
  }

  async put(...objects: readonly (readonly [Kind, { readonly id: string }])[]): Promise<void> {
    const { revision } = await this.store.commit(
      objects.map(([kind, value]) => ({ op: 'put' as const, kind, id: value.id, scope: null, value })),
    )
    await this.view.caughtUp(revision)
    await this.idle()
  }

  /** Stores a new load balancer in one commit with its placement, as admission does. */
  async create(loadBalancer: LoadBalancer): Promise<void> {
    const placed = this.plans.placeNew(loadBalancer)
    const values = [
      ['loadBalancer', loadBalancer] as const,
      ...(placed ? [['placement', placed.placement] as const] : []),
    ]
    const { revision } = await this.store.commit(
      values.map(([kind, value]) => ({
        op: 'put' as const,
        kind,
        id: value.id,
        scope: null,
        value,
        ifRevision: 'absent',
      })),
    )
    placed?.settle(revision)
    await this.view.caughtUp(revision)
    await this.idle()
  }

  async delete(kind: Kind, id: string): Promise<void> {
    const { revision } = await this.store.commit([{ op: 'delete', kind, id }])
    await this.view.caughtUp(revision)
    await this.idle()
  }

  /** Sends a report of a node whose drivers support everything, with these changes. */
  async report(nodeId: string, report: Partial<NodeReport> = {}): Promise<{ readonly resend: boolean }> {
    const sequence = (this.#sequences.get(nodeId) ?? 0) + 1
    this.#sequences.set(nodeId, sequence)
    const answer = this.status.report(nodeId, {
      session: 'session-1',
      sequence,
      entries: [],
      removed: [],
      members: [],
      stats: [],
      inSync: true,
      features: FEATURES,
      sights: this.#sights(nodeId, false),
      ...report,
    })
    await this.idle()
    return answer
  }

  /** Sends a report that says whether the nodes that it probes answer. */
  sees(nodeId: string, answers: boolean): Promise<{ readonly resend: boolean }> {
    return this.report(nodeId, { sights: this.#sights(nodeId, answers) })
  }

  #sights(nodeId: string, answers: boolean): NodeReport['sights'] {
    const entry = this.entry(nodeId, 'group')
    return (
      (entry?.kind === 'group' ? entry.watch : undefined)?.map((watched) => ({ nodeId: watched.nodeId, answers })) ?? []
    )
  }

  /** Sends a report that confirms all entries of the node, with these changes. */
  confirmAll(nodeId: string, report: Partial<NodeReport> = {}): Promise<{ readonly resend: boolean }> {
    return this.report(nodeId, {
      ...report,
      entries: [...this.nodeStates.entries(nodeId)].map(({ key, hash, entry }) => ({
        key,
        hash,
        state: 'programmed',
        reason: null,
        message: null,
        announced:
          entry.kind !== 'load-balancer' ? [] : entry.vips.filter((vip) => vip.announce).map((vip) => vip.address),
      })),
    })
  }

  /** By node id and key: the hashes of the published entries. */
  published(nodeIds: readonly string[]): Record<string, Record<string, string>> {
    return Object.fromEntries(
      nodeIds.map((id) => [
        id,
        Object.fromEntries([...this.nodeStates.entries(id)].map(({ key, hash }) => [key, hash]).sort()),
      ]),
    )
  }

  entry(nodeId: string, key: string): NodeStateEntry | null {
    return this.nodeStates.get(nodeId, key)?.entry ?? null
  }

  /** Resolves when nothing is left to plan or to store, and the view shows what planning wrote. */
  async idle(): Promise<void> {
    let before: string
    do {
      before = await this.store.revision()
      await new Promise((resolve) => setImmediate(resolve))
      await this.view.caughtUp(await this.store.revision())
      await new Promise((resolve) => setImmediate(resolve))
    } while (this.plans.backlog > 0 || (await this.store.revision()) !== before)
  }

  async stop(): Promise<void> {
    await this.plans.stop()
    this.status.close()
    this.liveness.close()
    this.#abort.abort()
  }
}
