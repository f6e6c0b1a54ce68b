import path from 'node:path'
import { StoreAdmission, StoreView } from '@spout/admission'
import { NodeLiveness, NodeStateTable, PlanController, StatusController } from '@spout/controllers'
import { silentLogger, systemClock } from '@spout/runtime'
import { AgentLink, CertificateAuthority } from '@spout/server'
import { SqliteStore } from '@spout/store'
import type { Lab } from '@spout/testkit'

/** The port of the agent link, as in `startControlPlane` of testkit. */
const LINK_PORT = 9131

/**
 * The control plane's parts in this process, without the HTTP surfaces: durable store, view, planner, status, agent
 * link with mutual TLS. So a benchmark can write to the store in bulk and record the time of a commit.
 */
export class ControlPlane implements AsyncDisposable {
  readonly store: SqliteStore
  readonly view: StoreView
  readonly admission: StoreAdmission
  readonly nodeStates: NodeStateTable
  readonly planner: PlanController
  readonly status: StatusController
  readonly url: string
  readonly #authority: CertificateAuthority
  readonly #stops: readonly (() => Promise<void> | void)[]

  private constructor(parts: {
    readonly store: SqliteStore
    readonly view: StoreView
    readonly admission: StoreAdmission
    readonly nodeStates: NodeStateTable
    readonly planner: PlanController
    readonly status: StatusController
    readonly url: string
    readonly authority: CertificateAuthority
    readonly stops: readonly (() => Promise<void> | void)[]
  }) {
    this.store = parts.store
    this.view = parts.view
    this.admission = parts.admission
    this.nodeStates = parts.nodeStates
    this.planner = parts.planner
    this.status = parts.status
    this.url = parts.url
    this.#authority = parts.authority
    this.#stops = parts.stops
  }

  static async start(lab: Lab): Promise<ControlPlane> {
    const [log, clock] = [silentLogger(), systemClock]
    const closing = new AbortController()
    const store = await SqliteStore.open({ path: path.join(lab.directory, 'bench.db') })
    const view = await StoreView.open(store, { signal: closing.signal })
    const admission = new StoreAdmission({ store, view })
    const liveness = new NodeLiveness({ clock, disconnectedAfterMs: 60_000, moveAfterMs: 600_000 })
    const nodeStates = new NodeStateTable()
    const status = new StatusController({ view, nodeStates, liveness, clock })
    const planner = new PlanController({ view, store, nodeStates, liveness, status, admission, clock, log })
    admission.placeBy(planner)
    const authority = await CertificateAuthority.open(path.join(lab.directory, 'authority'))
    const link = new AgentLink({
      ...{ authority, store, view, admission, clock, log, states: nodeStates, reports: status },
      listen: { host: lab.hostAddress, port: LINK_PORT },
      hosts: [lab.hostAddress],
    })
    planner.start()
    await link.start()
    const stops = [
      () => link.stop(),
      () => planner.stop(),
      () => status.close(),
      () => liveness.close(),
      () => admission.close(),
      () => closing.abort(),
      () => store.close(),
    ]
    const url = `https://${lab.hostAddress}:${LINK_PORT}`
    return new ControlPlane({ store, view, admission, nodeStates, planner, status, url, authority, stops })
  }

  /** A one-time token that enrols a node of this name. */
  async enrolmentToken(nodeName: string): Promise<string> {
    const group =
      this.view.list('nodeGroup')[0] ??
      (await this.admission.createNodeGroup({ name: 'default', description: '', announcer: 'l2' }))
    const draft = { nodeName, nodeGroupId: group.id, ttlSeconds: 3600 }
    const { secret } = await this.admission.createEnrolmentToken(draft)
    return `${secret}.${this.#authority.pin}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) await stop()
  }
}
