import type { StateLine } from '@spout/client/agent-link'
import type { GroupFollower } from '@spout/dataplane'
import { GROUP_KEY, isLoadBalancerKey } from '@spout/model/entry-keys'
import type { GroupEntry } from '@spout/model/node-state'

/** The fabric interface that a group names; null: as the agent's own settings say. */
export type NamedFabric = NonNullable<GroupEntry['fabric']> | null

/** Whether this agent works on an interface. `missing`: the node has no such interface, and why that is so. */
export type FabricVerdict =
  | { readonly state: 'here' | 'elsewhere' }
  | { readonly state: 'missing'; readonly reason: string }

export interface GroupFabric {
  /** What the agent was composed for, and whether it got it. */
  readonly composed: { readonly named: NamedFabric; readonly verdict: FabricVerdict }
  /** Remembers what the group names, for the next composition. */
  judge(named: NamedFabric): Promise<FabricVerdict>
  /** The name of another interface of the node that has this address; null if none has. */
  elsewhere(address: string): Promise<string | null>
  /** Called once: the agent must be composed anew, on the other interface. */
  readonly onElsewhere: () => void
}

/** The group names a fabric interface that the node does not have, or not with the address that its neighbours know. */
export class FabricMissing extends Error {
  override readonly name = 'FabricMissing'
}

/**
 * Keeps the node off any interface but the one that its group names. If this agent works on another one, no line of the
 * stream passes any more, and a new one takes over. If the node has no such interface, it takes no part in the group.
 */
export class FabricGate {
  readonly #fabric: GroupFabric | null
  readonly #onLines: (lines: readonly StateLine[]) => void
  #named: NamedFabric = null
  #missing: string | null = null
  /** Lines that wait for a verdict. Null: there is none to wait for. */
  #waiting: readonly StateLine[] | null = null
  /** Counts streams: a verdict for an earlier one has no lines to pass. */
  #streams = 0
  #hasGroup = false
  #isOver = false

  /** @param fabric null: the agent works on one interface, whatever its group names */
  constructor(fabric: GroupFabric | null, onLines: (lines: readonly StateLine[]) => void) {
    this.#fabric = fabric
    this.#onLines = onLines
    if (fabric !== null) this.#take(fabric.composed.named, fabric.composed.verdict)
  }

  /** Why the node cannot take part in its group; null if it can. */
  get missing(): string | null {
    return this.#missing
  }

  /** Call when a stream begins. */
  begin(): void {
    this.#streams++
    this.#waiting = null
    this.#hasGroup = false
  }

  /** Passes the lines that are for this agent on, in order, at once or after a verdict. */
  take(lines: readonly StateLine[]): void {
    if (this.#isOver) return
    if (this.#waiting !== null) {
      this.#waiting = [...this.#waiting, ...lines]
      return
    }
    const at = this.#fabric === null ? -1 : lines.findIndex((line) => this.#namesAnother(line))
    if (at === -1) {
      this.#pass(lines)
      return
    }
    this.#pass(lines.slice(0, at))
    this.#waiting = lines.slice(at)
    void this.#judge(namedBy(lines[at]!))
  }

  /** Looks whether an interface that was missing is there now. */
  async lookAgain(): Promise<void> {
    if (this.#fabric === null || this.#missing === null || this.#isOver) return
    const { state } = await this.#fabric.judge(this.#named)
    if (state !== 'missing') this.#end()
  }

  /** As the group's own `follow`. A node without the interface leaves the group. @throws FabricMissing */
  follow(group: Pick<GroupFollower, 'follow'>): Pick<GroupFollower, 'follow'> {
    return {
      follow: async (entry, signal) => {
        const problem = entry === null ? null : (this.#missing ?? (await this.#misplaced(entry)))
        await group.follow(problem === null ? entry : null, signal)
        if (problem !== null) throw new FabricMissing(problem)
      },
    }
  }

  /**
   * After a move the control plane knows the node by its address on the former interface until it hears of the new one.
   * With that address the node would hear none of its neighbours, and take over what they have. Alone it may.
   */
  async #misplaced({ vrrp }: GroupEntry): Promise<string | null> {
    if (vrrp === null || vrrp.peers.length === 0 || this.#fabric === null) return null
    const other = await this.#fabric.elsewhere(vrrp.source)
    return other === null ? null : `its neighbours know it by ${vrrp.source}, which is on ${other}`
  }

  async #judge(named: NamedFabric): Promise<void> {
    const stream = this.#streams
    const verdict = await this.#fabric!.judge(named).catch((error: unknown): FabricVerdict => {
      return { state: 'missing', reason: error instanceof Error ? error.message : String(error) }
    })
    if (verdict.state === 'elsewhere') return this.#end()
    this.#take(named, verdict)
    if (stream !== this.#streams) return
    const lines = this.#waiting ?? []
    this.#waiting = null
    this.take(lines)
  }

  #take(named: NamedFabric, verdict: FabricVerdict): void {
    this.#named = named
    this.#missing = verdict.state === 'missing' ? verdict.reason : null
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#fabric?.onElsewhere()
  }

  /** A full set without the entry `group` names none. */
  #namesAnother(line: StateLine): boolean {
    if (keyOf(line) === GROUP_KEY) this.#hasGroup = true
    else if (line.type !== 'synced' || this.#hasGroup) return false
    return JSON.stringify(namedBy(line)) !== JSON.stringify(this.#named)
  }

  #pass(lines: readonly StateLine[]): void {
    const passed = this.#missing === null ? lines : lines.filter((line) => !bringsLoadBalancer(line))
    if (passed.length > 0) this.#onLines(passed)
  }
}

const keyOf = (line: StateLine): string | null => {
  if (line.type === 'put') return line.entry.key
  return 'key' in line ? line.key : null
}

const namedBy = (line: StateLine): NamedFabric =>
  line.type === 'put' && line.entry.kind === 'group' ? (line.entry.fabric ?? null) : null

const bringsLoadBalancer = (line: StateLine): boolean =>
  (line.type === 'put' || line.type === 'edit') && isLoadBalancerKey(keyOf(line) ?? '')
