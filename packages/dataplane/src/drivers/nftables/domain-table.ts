import { setTimeout as pause } from 'node:timers/promises'
import { HelperError, HelperLost, type Log, type NativeHelper, type NftBatch, type NftChange } from '@spout/sys'
import { HOSTS, SEGMENT, TUNNELS, UPLINK } from '../../domain/domain-names.ts'
import { GENERATION_MAP, isAtGeneration } from '../../nft/generation.ts'
import { type WholeTable, withoutTable } from '../../nft/whole-table.ts'
import { renderForwardingSkeleton, renderTunnellingSkeleton } from './forwarding-skeleton.ts'
import { renderProxyRedirect } from './proxy-redirect.ts'
import type { Rendered, TableKind } from './rendered.ts'
import {
  FORWARDING_SETS,
  PROXYING_SETS,
  type SetName,
  SPREADING_SETS,
  TRANSLATING_SETS,
  TUNNELLING_SETS,
} from './sets.ts'
import { renderSkeleton } from './skeleton.ts'
import { REDIRECT_TABLE, SPOUT_TABLE, SPREAD_TABLE, TUNNEL_TABLE } from './skeleton-text.ts'
import { renderSpreadingSkeleton } from './spreading-skeleton.ts'
import { type Plan, TableContent } from './table-content.ts'

/** How often a transaction is tried if the helper dies during it. */
const HELPER_TRIES = 3
const HELPER_RETURN_MS = 5_000
const HELPER_POLL_MS = 10

interface TableShape {
  readonly table: string
  readonly family: 'inet' | 'netdev'
  readonly sets: readonly SetName[]
  /** Interfaces whose indexes are in its rules. */
  readonly devices: readonly string[]
  readonly skeleton: (links: string) => WholeTable
}

const SHAPES: Readonly<Record<TableKind, TableShape>> = {
  translating: { table: SPOUT_TABLE, family: 'inet', sets: TRANSLATING_SETS, devices: [], skeleton: renderSkeleton },
  proxying: { table: REDIRECT_TABLE, family: 'inet', sets: PROXYING_SETS, devices: [], skeleton: renderProxyRedirect },
  forwarding: {
    table: SPOUT_TABLE,
    family: 'netdev',
    sets: FORWARDING_SETS,
    devices: [UPLINK, SEGMENT],
    skeleton: renderForwardingSkeleton,
  },
  tunnelling: {
    table: TUNNEL_TABLE,
    family: 'netdev',
    sets: TUNNELLING_SETS,
    devices: [UPLINK, SEGMENT, ...Object.values(TUNNELS)],
    skeleton: renderTunnellingSkeleton,
  },
  spreading: {
    table: SPREAD_TABLE,
    family: 'netdev',
    sets: SPREADING_SETS,
    devices: [UPLINK, HOSTS],
    skeleton: renderSpreadingSkeleton,
  },
}

/** Entries by key; null removes one. */
export type Wanted = ReadonlyMap<string, Rendered | null>

/**
 * One table of a domain. Every change, including its creation, is one transaction that also writes the generation. If
 * the helper dies meanwhile, one small read tells whether the change was applied. If the kernel refuses a transaction,
 * it is bisected until the bad entry is alone.
 */
export class DomainTable {
  readonly #helper: NativeHelper
  readonly #log: Log
  readonly #shape: TableShape
  readonly #at: { readonly netns: string; readonly family: 'inet' | 'netdev'; readonly table: string }
  #content: TableContent
  /** Whether the kernel's content may differ from `#content`. */
  #stale = true
  /** The mark of the table that was loaded last, which names its interfaces. */
  #mark: string | null = null
  /** The mark of the table with these interfaces. Looks compare it, and need not render the table for it. */
  #wanted: { readonly links: string; readonly mark: string } | null = null
  #exists = false
  #transactions = 0

  constructor(options: {
    readonly helper: NativeHelper
    readonly log: Log
    readonly netns: string
    readonly kind: TableKind
  }) {
    this.#helper = options.helper
    this.#log = options.log
    this.#shape = SHAPES[options.kind]
    this.#at = { netns: options.netns, family: this.#shape.family, table: this.#shape.table }
    this.#content = this.#empty()
  }

  get entries(): ReadonlyMap<string, Rendered> {
    return this.#content.entries
  }

  /** Whether the table must be loaded although no entry changed. */
  get needsLoad(): boolean {
    return this.#stale && (this.#exists || this.entries.size > 0)
  }

  /** Whether the table exists or should exist. */
  get isInUse(): boolean {
    return this.#exists || this.entries.size > 0
  }

  get transactions(): number {
    return this.#transactions
  }

  /**
   * Assumes that the kernel holds the entries if its generation matches; otherwise the next `apply` loads the table.
   */
  async adopt(entries: Wanted): Promise<void> {
    this.#content = this.#empty()
    this.#content.adopt(entries)
    await this.observe()
  }

  /** Whether the kernel still holds what was applied. */
  async observe(): Promise<boolean> {
    try {
      this.#stale = !(await this.#kernelHas(this.#content.generation))
    } catch (error) {
      if (!(error instanceof HelperError)) throw error
      this.#stale = true
    }
    return !this.#stale
  }

  /**
   * Resolves with refused entries and the kernel's errors. All others are in force; a refused entry keeps its previous
   * state.
   */
  async apply(wanted: Wanted, signal: AbortSignal): Promise<ReadonlyMap<string, HelperError>> {
    const failures = new Map<string, HelperError>()
    if (this.#isLeftEmpty(wanted)) {
      await this.drop()
      return failures
    }
    if (await this.#hasOtherLinks()) this.#stale = true
    if (!this.#stale) {
      await this.#commit([...wanted], failures, signal)
      if (!this.#stale) return failures
    }
    // Lost or unknown content: one transaction makes or empties the table and adds everything.
    failures.clear()
    const whole = new Map<string, Rendered | null>([...this.#content.entries, ...wanted])
    try {
      await this.#load(whole)
      return failures
    } catch (error) {
      if (!(error instanceof HelperError)) throw error
      this.#log.warn({ netns: this.#at.netns, error: error.message }, 'the kernel refused a whole table')
    }
    await this.#load(this.#content.entries)
    await this.#commit([...wanted], failures, signal)
    return failures
  }

  /** Tables that are attached to interfaces exist only while they have elements, since every packet passes them. */
  #isLeftEmpty(wanted: Wanted): boolean {
    if (this.#shape.devices.length === 0 || this.entries.size > wanted.size) return false
    for (const rendered of wanted.values()) if (rendered !== null) return false
    for (const key of this.entries.keys()) if (!wanted.has(key)) return false
    return true
  }

  /** Removes the table, even if an interface that it needs does not exist. */
  async drop(): Promise<void> {
    const { netns, family, table } = this.#at
    this.#transactions++
    await this.#helper.nftText({ netns, text: withoutTable(family, table) })
    this.#content = this.#empty()
    this.#exists = false
    this.#stale = true
  }

  async #commit(
    wanted: readonly (readonly [string, Rendered | null])[],
    failures: Map<string, HelperError>,
    signal: AbortSignal,
  ): Promise<void> {
    if (wanted.length === 0 || this.#stale) return
    signal.throwIfAborted()
    const plan = this.#content.plan(wanted)
    try {
      await this.#send({ changes: plan.changes }, plan, this.#content.generation)
      plan.accept()
    } catch (error) {
      if (!(error instanceof HelperError)) throw error
      if (!(await this.observe())) return
      if (wanted.length === 1) {
        this.#log.warn({ key: wanted[0]![0], errno: error.errno, error: error.message }, 'the kernel refused an entry')
        failures.set(wanted[0]![0], error)
        return
      }
      const middle = wanted.length >> 1
      await this.#commit(wanted.slice(0, middle), failures, signal)
      await this.#commit(wanted.slice(middle), failures, signal)
    }
  }

  /**
   * Makes the table hold exactly these entries. A table of another version, or with other interfaces in its rules, is
   * replaced in the transaction that fills the new one, so that no packet meets an empty table.
   * @throws HelperError if the kernel refuses one of the entries, or the table; what was there stays in force
   */
  async #load(entries: Wanted): Promise<void> {
    const skeleton = await this.#skeleton()
    const { exists, comment } = await this.#helper.nftGeneration(this.#at)
    this.#exists = exists
    const content = this.#empty()
    const plan = content.plan([...entries].filter(([, rendered]) => rendered !== null))
    const flushes = [...this.#shape.sets, GENERATION_MAP].map((set): NftChange => ({ do: 'flush', set }))
    const batch =
      comment === skeleton.mark
        ? { changes: [...flushes, ...plan.changes] }
        : { text: skeleton.text, changes: plan.changes }
    await this.#send(batch, plan, null)
    plan.accept()
    this.#content = content
    this.#exists = true
    this.#stale = false
    this.#mark = skeleton.mark
  }

  /** Sends one transaction. If the helper dies during it, the generation tells whether it was applied. */
  async #send(batch: Pick<NftBatch, 'text' | 'changes'>, { generation }: Plan, before: bigint | null): Promise<void> {
    if (batch.changes.length === 0) return
    for (let tries = 1; ; tries++) {
      try {
        this.#transactions++
        return await this.#helper.nftBatch({ ...this.#at, ...batch })
      } catch (error) {
        if (!(error instanceof HelperLost) || tries === HELPER_TRIES) {
          if (error instanceof HelperLost) this.#stale = true
          throw error
        }
        await this.#helperBack()
        if (generation !== before && (await this.#kernelHas(generation))) return
      }
    }
  }

  async #kernelHas(generation: bigint): Promise<boolean> {
    // Asked at once, so that the helper wakes up once. What follows the first answer does not count without it.
    const [there, mark, isNewest] = await Promise.allSettled([
      this.#helper.nftGeneration(this.#at),
      this.#wantedMark(),
      isAtGeneration(this.#helper, this.#at, generation),
    ])
    const { exists, comment } = resultOf(there)
    this.#exists = exists
    if (!exists || comment !== resultOf(mark)) return false
    this.#mark = comment
    return resultOf(isNewest)
  }

  /** Whether an interface was made again, perhaps with the domain's last change. Rules do not reach its new index. */
  async #hasOtherLinks(): Promise<boolean> {
    if (this.#stale || this.#shape.devices.length === 0) return false
    try {
      return (await this.#wantedMark()) !== this.#mark
    } catch (error) {
      if (error instanceof HelperLost) return false
      if (error instanceof HelperError) return true
      throw error
    }
  }

  /** The table as it must be now. Rejects as `#links` does. */
  async #skeleton(): Promise<WholeTable> {
    return this.#shape.skeleton(await this.#links())
  }

  /** The mark of `#skeleton`. Rejects as `#links` does. */
  async #wantedMark(): Promise<string> {
    const links = await this.#links()
    if (this.#wanted?.links !== links) this.#wanted = { links, mark: this.#shape.skeleton(links).mark }
    return this.#wanted.mark
  }

  /** The interfaces in the table's rules. Rejects with `HelperError` while one of them does not exist. */
  async #links(): Promise<string> {
    const { netns } = this.#at
    return (await Promise.all(this.#shape.devices.map((dev) => this.#helper.linkIndex({ netns, dev })))).join('.')
  }

  #empty(): TableContent {
    return new TableContent(this.#shape.sets)
  }

  async #helperBack(): Promise<void> {
    const deadline = performance.now() + HELPER_RETURN_MS
    while (this.#helper.pid === null && performance.now() < deadline) await pause(HELPER_POLL_MS)
  }
}

/** @throws the reason of a promise that was rejected */
function resultOf<T>(outcome: PromiseSettledResult<T>): T {
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}
