import type { LocalAdmission, ModelView } from '@spout/admission/contract'
import { type LocalReport, type NodeStatus, SpoutError } from '@spout/model'
import {
  type Clock,
  type Component,
  done,
  type Logger,
  type Outcome,
  Reconciler,
  retryAfter,
  WorkQueue,
} from '@spout/runtime'
import { AdoptedIndex } from '../status/adopted-index.ts'
import { settingsOfMost } from '../status/local-status.ts'
import type { StatusController } from '../status/status-controller.ts'

export interface AdopterOptions {
  readonly view: ModelView
  readonly status: Pick<StatusController, 'local' | 'setLocalProblems' | 'onChange'>
  readonly admission: LocalAdmission
  /** The administrators' project that shows them, by name. */
  readonly project: string
  readonly clock: Clock
  readonly log: Logger
}

/** When a refused one is tried again: its address may be free by then. */
const TRY_AGAIN_MS = 10_000

/**
 * Adopts what the nodes of each group balance by their own settings, such as the address of the API servers: it stores a
 * load balancer that shows it and keeps its address out of pools. Nodes get nothing of it, so they do not depend on us. One
 * that no node names any more is abandoned, once every node of the group has said what it has.
 */
export class Adopter implements Component {
  readonly name = 'adopter'
  readonly #options: AdopterOptions
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #adopted: AdoptedIndex
  /** By group id and name: why it was refused last. */
  readonly #refused = new Map<string, string>()
  /** By node id: the group that it was last seen in. */
  readonly #groups = new Map<string, string>()
  #unsubscribe: readonly (() => void)[] = []

  constructor(options: AdopterOptions) {
    this.#options = options
    this.#adopted = new AdoptedIndex(options.view)
    this.#queue = new WorkQueue({ clock: options.clock })
    this.#reconciler = new Reconciler({
      name: this.name,
      queue: this.#queue,
      log: options.log,
      reconcile: (groupId) => this.#reconcile(groupId),
    })
  }

  start(): void {
    const { view, status } = this.#options
    for (const { id } of view.list('node')) this.#nodeChanged(id)
    // The last node of a group may have gone while nobody led.
    for (const groupId of this.#adopted.groups()) this.#queue.add(groupId)
    this.#unsubscribe = [
      view.onChange((changed) => {
        for (const { kind, id } of changed) {
          if (kind === 'loadBalancer') this.#adopted.changed(id)
          if (kind === 'node') this.#nodeChanged(id)
        }
      }),
      status.onChange((kind, id) => {
        if (kind === 'node') this.#nodeChanged(id)
      }),
    ]
    this.#reconciler.start()
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    await this.#reconciler.stop()
  }

  /** Most nodes have nothing of their own, and their groups nothing that was adopted. */
  #nodeChanged(id: string): void {
    const { view, status } = this.#options
    const before = this.#groups.get(id)
    const after = view.get('node', id)?.value.nodeGroupId
    if (after === undefined) this.#groups.delete(id)
    else this.#groups.set(id, after)
    const hasOwn = (status.local(id) ?? []).length > 0
    for (const groupId of new Set([before, after]))
      if (groupId !== undefined && (hasOwn || this.#adopted.groups().has(groupId))) this.#queue.add(groupId)
  }

  async #reconcile(groupId: string): Promise<Outcome> {
    const nodes = this.#options.view.list('node').filter(({ nodeGroupId }) => nodeGroupId === groupId)
    const local = new Map(nodes.map(({ id }) => [id, this.#options.status.local(id)]))
    const reports = [...local.values()].flatMap((one) => one ?? [])
    const byName = Map.groupBy(reports, ({ name }) => name)
    const refused = new Map<string, string>()
    for (const [name, said] of byName) {
      const why = await this.#adopt(groupId, said)
      if (why !== null) refused.set(name, why)
    }
    const areAllHeard = [...local.values()].every((one) => one !== null)
    if (areAllHeard) await this.#abandon(groupId, new Set(byName.keys()))
    for (const [nodeId, said] of local) this.#options.status.setLocalProblems(nodeId, problemsOf(said ?? [], refused))
    return refused.size === 0 ? done : retryAfter(TRY_AGAIN_MS)
  }

  /** @returns why it is refused; null if it is stored */
  async #adopt(nodeGroupId: string, reports: readonly LocalReport[]): Promise<string | null> {
    const { view, admission, project, log } = this.#options
    const projectId = view.list('project').find(({ name }) => name === project)?.id
    const loadBalancer = settingsOfMost(reports)
    if (projectId === undefined || loadBalancer === null) return `there is no project ${project}`
    const key = `${nodeGroupId} ${loadBalancer.name}`
    try {
      await admission.adoptLoadBalancer({ projectId, nodeGroupId, loadBalancer })
      this.#refused.delete(key)
      return null
    } catch (error) {
      if (!(error instanceof SpoutError)) throw error
      const { message: reason } = error
      if (this.#refused.get(key) !== reason)
        log.warn({ event: 'adoption-refused', nodeGroupId, local: loadBalancer.name, reason }, 'it is not shown')
      this.#refused.set(key, reason)
      return reason
    }
  }

  async #abandon(groupId: string, named: ReadonlySet<string>): Promise<void> {
    for (const { id, localName = '' } of this.#adopted.ofGroup(groupId))
      if (!named.has(localName)) await this.#options.admission.abandonLoadBalancer(id)
  }
}

const problemsOf = (said: readonly LocalReport[], refused: ReadonlyMap<string, string>): NodeStatus['problems'] =>
  said.flatMap(({ name }) => {
    const why = refused.get(name)
    if (why === undefined) return []
    const message = `The node carries ${name} by its own settings, but it is not shown, and its address may be given out: ${why}`
    return [{ code: 'AdoptionRefused', message }]
  })
