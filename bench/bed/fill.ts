import { callApi, memberAddress } from '@spout/testkit'
import { createTree, untilActive } from './octavia.ts'
import type { SpoutBed } from './spout-bed.ts'

/** Shared addresses (RFC 6598) that nobody in the lab is reached by: enough for all. */
const WIDE = { cidr: '100.64.0.0/16', first: '100.64.0.10', last: '100.64.255.250' }
const PARALLEL = 16

/** Fills a bed with load balancers of one TCP listener and two members each, by the API, until all are active. */
export class Filler {
  readonly #bed: SpoutBed
  readonly #poolId: string
  #made = 0

  private constructor(bed: SpoutBed, poolId: string) {
    this.#bed = bed
    this.#poolId = poolId
  }

  static async create(bed: SpoutBed): Promise<Filler> {
    const { endpoint, admin } = bed.access
    const { id } = await callApi<{ id: string }>(endpoint, admin.token, 'POST', '/address-pools', {
      name: 'wide',
      ranges: [{ first: WIDE.first, last: WIDE.last }],
      cidr: WIDE.cidr,
      gatewayIp: null,
    })
    return new Filler(bed, id)
  }

  async fillTo(count: number): Promise<void> {
    const { access, gateway } = this.#bed
    const members = [0, 1].map((index) => ({ address: memberAddress(index), protocol_port: 8080 }))
    const worker = async () => {
      while (this.#made < count) {
        const tree = { name: `fill-${this.#made++}`, networkId: this.#poolId, protocol: 'TCP', members } as const
        const { id } = await createTree(access, gateway, tree)
        await untilActive(access, gateway, id, 20)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL }, worker))
  }
}
