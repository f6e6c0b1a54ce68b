import { type LoadBalancer, listDifference } from '@spout/model'

type Document = Pick<LoadBalancer, 'networkId' | 'pools' | 'listeners'>
type Addressed = readonly { readonly address: string }[]

const NOTHING: Document = { networkId: null, pools: [], listeners: [] }

/** How many members, and receivers of access logs, each address of a network has, kept up to date from whole documents. */
export class MemberCounts {
  readonly #byNetwork = new Map<string, Map<string, number>>()

  of(networkId: string): ReadonlyMap<string, number> | undefined {
    return this.#byNetwork.get(networkId)
  }

  /** Skips members that are the same object in both documents. */
  replace(before: Document | null, after: Document | null): void {
    const [was, is] = [before ?? NOTHING, after ?? NOTHING]
    const stays = was.networkId === is.networkId
    const poolsBefore = new Map(was.pools.map((pool) => [pool.id, pool]))
    for (const pool of is.pools) {
      const known = stays ? poolsBefore.get(pool.id) : undefined
      if (known !== undefined) poolsBefore.delete(pool.id)
      const { gone, come } = addressDifference(known?.members ?? [], pool.members)
      this.#count(is.networkId, come, 1)
      this.#count(is.networkId, gone, -1)
    }
    for (const { members } of poolsBefore.values()) this.#count(was.networkId, members, -1)
    if (stays && was.listeners === is.listeners) return
    this.#count(is.networkId, receivers(is), 1)
    this.#count(was.networkId, receivers(was), -1)
  }

  #count(networkId: string | null, members: Addressed, by: 1 | -1): void {
    if (networkId === null || members.length === 0) return
    const counts = this.#byNetwork.get(networkId) ?? new Map<string, number>()
    for (const { address } of members) {
      const count = (counts.get(address) ?? 0) + by
      if (count === 0) counts.delete(address)
      else counts.set(address, count)
    }
    if (counts.size === 0) this.#byNetwork.delete(networkId)
    else this.#byNetwork.set(networkId, counts)
  }
}

/** The members whose addresses only one of two lists has; of lists of the same length, at the same place. */
function addressDifference(
  before: Addressed,
  after: Addressed,
): { readonly gone: Addressed; readonly come: Addressed } {
  if (before.length !== after.length) return listDifference<Addressed[number]>(before, after)
  return {
    gone: before.filter(({ address }, at) => address !== after[at]!.address),
    come: after.filter(({ address }, at) => address !== before[at]!.address),
  }
}

const receivers = ({ listeners }: Document): Addressed => listeners.flatMap(({ accessLog }) => accessLog?.syslog ?? [])
