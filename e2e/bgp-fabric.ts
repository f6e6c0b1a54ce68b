import path from 'node:path'
import type { Lab } from '@spout/testkit'
import { BgpRouter, type RouterNeighbor } from '../packages/dataplane/src/testing/bgp/bgp-router.ts'

export const LOCAL_AS = 64_512
export const ROUTER = { address: '198.51.100.1', as: 64_513 } as const
export const NODES = { node1: '198.51.100.2', node2: '198.51.100.3' } as const
export type NodeName = keyof typeof NODES
export const NAMES = Object.keys(NODES) as readonly NodeName[]
/** Half a second, because the lab's machines are busy. */
export const BFD = { minTransmitMs: 100, minReceiveMs: 100, multiplier: 5 } as const

/** The control plane moves nothing here: only the nodes and the router do. */
export const BGP_SETTINGS = [
  'nodes.announcer=bgp',
  `nodes.localAs=${LOCAL_AS}`,
  'liveness.disconnectedAfterMs=1500',
  'liveness.moveAfterMs=600000',
]

/** The nodes as BGP neighbors of the lab's router. */
export const NEIGHBORS: readonly RouterNeighbor[] = NAMES.map((name) => ({
  name,
  address: NODES[name],
  as: LOCAL_AS,
  bfd: { intervalMs: BFD.minTransmitMs, multiplier: BFD.multiplier },
  families: ['ipv4'],
}))

/** The fabric's router, which spreads over all paths that it is told of. */
export const startRouter = (lab: Lab, neighbors = NEIGHBORS): Promise<BgpRouter> =>
  BgpRouter.start({
    namespace: lab.namespace('router'),
    directory: path.join(lab.runDirectory, 'router'),
    as: ROUTER.as,
    routerId: ROUTER.address,
    ecmp: 'multipath',
    neighbors,
  })
