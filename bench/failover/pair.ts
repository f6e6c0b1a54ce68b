import { type Lab, waitFor } from '@spout/testkit'

/** One of two nodes that back each other up. */
export interface PairNode {
  readonly name: string
  readonly namespace: string
  /** Its ports at the switch; the fabric's first. */
  readonly ports: readonly string[]
  /** Processes that announce addresses. */
  daemons(): Promise<readonly number[]>
  /** Those of them that elect. */
  electors(): Promise<readonly number[]>
  /** All its processes. */
  processes(): Promise<readonly number[]>
}

/** Two nodes that carry an address: ours, or a comparable set-up. */
export interface Pair {
  readonly name: string
  readonly vip: string
  readonly nodes: readonly PairNode[]
  /** The time within which it notices any fault. */
  readonly patienceMs: number
  /** Restores a node after any fault, and waits until it can take over again. */
  restore(node: PairNode): Promise<void>
}

interface FlowKey {
  readonly port: number
  readonly sourcePort: number
}

const CLIENT = '203.0.113.10'

/**
 * The node to which the router sends a flow now: the flow's route, then its neighbour, then the switch port of that
 * MAC. So it works for an ARP owner, a virtual MAC and ECMP.
 */
export async function carrierOf(lab: Lab, pair: Pair, { port, sourcePort }: FlowKey): Promise<PairNode | null> {
  const flow = ['from', CLIENT, 'iif', 'cl0', 'ipproto', 'udp', 'sport', String(sourcePort), 'dport', String(port)]
  const routed = await lab.run('router', ['ip', '-j', 'route', 'get', pair.vip, ...flow])
  if (routed.code !== 0) return null
  const [route] = JSON.parse(routed.stdout) as { gateway?: string }[]
  const hop = route?.gateway ?? pair.vip
  const neighbours = JSON.parse((await lab.must('router', ['ip', '-j', 'neigh', 'show', hop])) || '[]') as {
    lladdr?: string
  }[]
  const mac = neighbours.find(({ lladdr }) => lladdr !== undefined)?.lladdr
  if (mac === undefined) return null
  for (const node of pair.nodes) if ((await macsOf(lab, node)).includes(mac)) return node
  const table = JSON.parse(await lab.must('fabric', ['bridge', '-j', 'fdb', 'show', 'br', 'br-fabric'])) as {
    mac: string
    ifname: string
  }[]
  const behind = table.find((entry) => entry.mac === mac)?.ifname
  return pair.nodes.find(({ ports }) => behind !== undefined && ports.includes(behind)) ?? null
}

const macsOf = async (lab: Lab, { namespace }: PairNode): Promise<readonly string[]> => {
  const place = namespace.slice(lab.id.length + 1)
  const links = JSON.parse(await lab.must(place, ['ip', '-j', 'link', 'show', 'dev', 'fab0'])) as { address: string }[]
  return links.map(({ address }) => address)
}

/** Waits until the router sends a flow to one of the pair. */
export const someCarrier = (lab: Lab, pair: Pair, flow: FlowKey): Promise<PairNode> =>
  waitFor(() => carrierOf(lab, pair, flow), { what: `${pair.name} to carry ${pair.vip}`, timeoutMs: 30_000 })
