import type { Log, NativeHelper } from '@spout/sys'
import { DomainTable, type Wanted } from './domain-table.ts'
import { withFormerNodes } from './former-nodes.ts'
import { HOSTS_KEY, type Rendered, type Spread } from './rendered.ts'
import { SETS } from './sets.ts'

/** Table `spreading` of a domain: the parts of its entries that lead packets to other nodes, and these nodes. */
export class SpreadTable {
  readonly #table: DomainTable

  constructor(options: { readonly helper: NativeHelper; readonly log: Log; readonly netns: string }) {
    this.#table = new DomainTable({ ...options, kind: 'spreading' })
  }

  get needsLoad(): boolean {
    return this.#table.needsLoad
  }

  get transactions(): number {
    return this.#table.transactions
  }

  /** @param entries of the domain, whatever table each is in */
  adopt(entries: Wanted): Promise<void> {
    return this.#table.adopt(withHosts(new Map(partsOf(entries))))
  }

  /** Keys of entries whose part the kernel no longer holds as it was applied. */
  async lost(): Promise<readonly string[]> {
    if (!this.#table.isInUse || (await this.#table.observe())) return []
    return [...this.#table.entries.keys()].filter((key) => key !== HOSTS_KEY)
  }

  /** @returns refused entries and the kernel's errors; all others are in force */
  async apply(all: Wanted, signal: AbortSignal): Promise<ReadonlyMap<string, Error>> {
    const wanted = new Map<string, Rendered | null>()
    const coming = new Map(partsOf(all))
    for (const key of all.keys())
      if (coming.has(key) || this.#table.entries.has(key)) wanted.set(key, this.#withFormerNodes(key, coming.get(key)))
    if (wanted.size === 0 && !this.#table.needsLoad) return new Map()
    const hosts = [...coming.values()].at(-1)?.hosts
    if (hosts !== undefined) wanted.set(HOSTS_KEY, hosts)
    else if (this.#isLast(wanted)) wanted.set(HOSTS_KEY, null)
    return this.#table.apply(wanted, signal)
  }

  /**
   * Those of the entries whose last member of a pool leaves this node. They are applied before the member goes, all
   * others after their members are there. If another pool of the entry gets its first one at once, that is what counts.
   */
  deserted(all: Wanted): Wanted {
    return new Map(
      [...all].filter(([key, rendered]) => {
        const [before, after] = [this.#table.entries.get(key), rendered?.spread?.entry]
        if (before === undefined || after === undefined) return false
        const [had, has] = [hostedPools(before), hostedPools(after)]
        return [...had].some((pool) => !has.has(pool)) && [...has].every((pool) => had.has(pool))
      }),
    )
  }

  #withFormerNodes(key: string, part: Spread | undefined): Rendered | null {
    return part === undefined ? null : withFormerNodes(this.#table.entries.get(key), part)
  }

  /** Whether nothing stays but the nodes, so that the table goes. */
  #isLast(removed: ReadonlyMap<string, unknown>): boolean {
    for (const key of this.#table.entries.keys()) if (key !== HOSTS_KEY && !removed.has(key)) return false
    return this.#table.entries.has(HOSTS_KEY)
  }
}

/** Family and mark of each pool with members of this node. */
function hostedPools({ records }: Rendered): ReadonlySet<string> {
  const pools = new Set<string>()
  for (const set of ['hosted4', 'hosted6'] as const) {
    const marks = records.get(set) ?? Buffer.alloc(0)
    for (let at = 0; at < marks.length; at += SETS[set].keyBytes) pools.add(`${set} ${marks.readUInt32LE(at)}`)
  }
  return pools
}

type Parts = ReadonlyMap<string, Spread>

const partsOf = (entries: Wanted): readonly (readonly [string, Spread])[] =>
  [...entries].flatMap(([key, rendered]) => (rendered?.spread ? [[key, rendered.spread] as const] : []))

function withHosts(parts: Parts): ReadonlyMap<string, Rendered> {
  const found = new Map<string, Rendered>(Array.from(parts, ([key, { entry }]) => [key, entry]))
  const hosts = [...parts.values()].at(-1)?.hosts
  if (hosts !== undefined) found.set(HOSTS_KEY, hosts)
  return found
}
