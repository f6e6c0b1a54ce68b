import { type Lab, must } from '@spout/testkit'
import { type BirdNeighbour, ROUTER, routedBy, SOON, startBird, watchedByRouter } from './bird.ts'
import type { Pair, PairNode } from './pair.ts'
import { addPeerNode, peerAddress } from './peer-node.ts'

export interface BirdSpec {
  /** Name prefix of its nodes: at most 4 characters. */
  readonly prefix: string
  readonly name: string
  readonly as: number
  readonly bfd: boolean
  /** Its nodes are 198.51.100.N and N + 1. */
  readonly index: number
  readonly vip: string
  readonly patienceMs: number
}

/** BIRD's own BFD: 100 ms and 5 misses. */
const BFD_MS = 600

export const neighboursOf = ({ index, as, bfd }: BirdSpec): readonly BirdNeighbour[] =>
  [index, index + 1].map((n) => ({ address: peerAddress(n), as, bfd }))

/** Two nodes that announce one address to the router by BIRD, with BIRD's defaults. */
export class BirdPair implements Pair {
  readonly name: string
  readonly vip: string
  readonly nodes: readonly PairNode[]
  readonly patienceMs: number
  readonly #lab: Lab
  readonly #spec: BirdSpec

  private constructor(lab: Lab, spec: BirdSpec, nodes: readonly PairNode[]) {
    this.name = spec.name
    this.vip = spec.vip
    this.nodes = nodes
    this.patienceMs = spec.patienceMs
    this.#lab = lab
    this.#spec = spec
  }

  static async start(lab: Lab, spec: BirdSpec): Promise<BirdPair> {
    const nodes: PairNode[] = []
    for (const n of [0, 1]) {
      const node = await addPeerNode(lab, {
        name: `${spec.prefix}${n + 1}`,
        index: spec.index + n,
        vips: [spec.vip],
        daemons: ['bird'],
      })
      await must(['ip', '-n', node.namespace, 'address', 'add', `${spec.vip}/32`, 'dev', 'lo'])
      nodes.push(node)
    }
    const pair = new BirdPair(lab, spec, nodes)
    for (const node of nodes) await pair.#start(node)
    await pair.#routed()
    return pair
  }

  async restore(node: PairNode): Promise<void> {
    if ((await node.daemons()).length === 0) await this.#start(node)
    await this.#routed()
  }

  async #routed(): Promise<void> {
    const addresses = neighboursOf(this.#spec).map(({ address }) => address)
    await routedBy(this.#lab, this.vip, addresses)
    if (this.#spec.bfd) await watchedByRouter(this.#lab, addresses, BFD_MS)
  }

  async #start(node: PairNode): Promise<void> {
    const { as, bfd, index, vip } = this.#spec
    const address = peerAddress(index + this.nodes.indexOf(node))
    await startBird(this.#lab, node.name, [
      `router id ${address};`,
      'log stderr all;',
      'protocol device {}',
      `protocol static { ipv4; route ${vip}/32 via "lo"; }`,
      ...(bfd ? ['protocol bfd { interface "fab0"; }'] : []),
      'protocol bgp upstream {',
      `  local ${address} as ${as};`,
      `  neighbor ${ROUTER.address} as ${ROUTER.as};`,
      ...SOON,
      ...(bfd ? ['  bfd on;'] : []),
      '  ipv4 { import none; export all; next hop self; };',
      '}',
    ])
  }
}
