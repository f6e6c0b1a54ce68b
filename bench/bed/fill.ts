import { callApi, memberAddress, type SystemAccess } from '@spout/testkit'
import { createTree, untilActive } from './octavia.ts'
import type { SpoutBed } from './spout-bed.ts'

interface Wide {
  /** Name of the pool. */
  readonly name: string
  readonly cidr: string
  readonly first: string
  readonly last: string
  readonly members: readonly string[]
}

/** Shared addresses (RFC 6598) that are not used in the lab: enough for all. */
const WIDE: Wide = {
  ...{ name: 'wide', cidr: '100.64.0.0/16', first: '100.64.0.10', last: '100.64.255.250' },
  members: [0, 1].map(memberAddress),
}
export const WIDE6: Wide = {
  ...{ name: 'wide6', cidr: 'fd64::/64', first: 'fd64::1:0', last: 'fd64::1:ffff' },
  // The lab's tenant networks are IPv4.
  members: [],
}
const PARALLEL = 16

/** Creates a public pool with addresses enough for all. @returns its id */
export async function widePool({ endpoint, admin }: SystemAccess, wide = WIDE): Promise<string> {
  const { id } = await callApi<{ id: string }>(endpoint, admin.token, 'POST', '/address-pools', {
    name: wide.name,
    ranges: [{ first: wide.first, last: wide.last }],
    cidr: wide.cidr,
    gatewayIp: null,
  })
  return id
}

/**
 * Fills a bed through the API with load balancers of one TCP listener and two members each, and waits until all are
 * active.
 */
export class Filler {
  readonly #bed: SpoutBed
  readonly #wide: Wide
  readonly #poolId: string
  #made = 0

  private constructor(bed: SpoutBed, wide: Wide, poolId: string) {
    this.#bed = bed
    this.#wide = wide
    this.#poolId = poolId
  }

  static async create(bed: SpoutBed, wide = WIDE): Promise<Filler> {
    return new Filler(bed, wide, await widePool(bed.access, wide))
  }

  async fillTo(count: number): Promise<void> {
    const { access, gateway } = this.#bed
    const { name: pool } = this.#wide
    const members = this.#wide.members.map((address) => ({ address, protocol_port: 8080 }))
    const worker = async () => {
      while (this.#made < count) {
        const tree = { name: `${pool}-${this.#made++}`, networkId: this.#poolId, protocol: 'TCP', members } as const
        const { id } = await createTree(access, gateway, tree)
        await untilActive(access, gateway, id, 20)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL }, worker))
  }
}
