import { type Lab, must, type TestSystem } from '@spout/testkit'

/** A second network of the fabric, with the lab's router in it. */
export const EDGE = { interface: 'edge0', cidr: '192.0.2.0/24', gateway: '192.0.2.1' } as const
export const edgeAddress = (index: number): string => `192.0.2.${2 + index}`

/**
 * Gives the router and these nodes an interface in it. The nodes' default routes stay on the other one, so a rule leads
 * answers out here.
 */
export async function addEdge(lab: Lab, nodes: readonly string[]): Promise<void> {
  const fabric = lab.namespace('fabric')
  const lines = async (namespace: string, ...commands: readonly string[]) => {
    await must(['ip', '-n', namespace, '-batch', '-'], { input: `${commands.join('\n')}\n` })
  }
  await lines(fabric, 'link add name br-edge type bridge forward_delay 0 mcast_snooping 0', 'link set dev br-edge up')
  const places = [['router', EDGE.gateway], ...nodes.map((node, index) => [node, edgeAddress(index)])] as const
  for (const [index, [place = '', address]] of places.entries()) {
    const [port, namespace] = [`edge-${index}`, lab.namespace(place)]
    await lines(
      fabric,
      `link add name ${port} type veth peer name ${EDGE.interface} netns ${namespace}`,
      `link set dev ${port} master br-edge up`,
    )
    await lines(namespace, `addr add ${address}/24 dev ${EDGE.interface}`, `link set dev ${EDGE.interface} up`)
    if (place !== 'router') await lines(namespace, ...answering(EDGE.interface))
  }
}

/**
 * Lines of `ip`: packets from addresses of the network leave by the interface. The rule comes after the agent's, the last
 * of which has the preference 100: before them it would catch the router's ARP requests.
 */
const answering = (dev: string): readonly string[] => [
  `route add default via ${EDGE.gateway} dev ${dev} table 77`,
  `rule add preference 1000 from ${EDGE.cidr} lookup 77`,
]

/** A pool of addresses in it. @returns its id */
export async function createEdgePool(system: TestSystem): Promise<string> {
  const { id } = await system.api<{ id: string }>(system.access.admin, 'POST', '/address-pools', {
    name: 'edge',
    ranges: [{ first: '192.0.2.16', last: '192.0.2.250' }],
    cidr: EDGE.cidr,
    gatewayIp: EDGE.gateway,
  })
  return id
}

/** What a node has at an interface: addresses, and the protocols that rules of this family steer from there. */
export async function presentAt(lab: Lab, node: string, dev: string): Promise<{ addresses: string[]; rules: number }> {
  const [link] = JSON.parse(await lab.must(node, ['ip', '-j', 'addr', 'show', 'dev', dev])) as {
    readonly addr_info: readonly { readonly local: string }[]
  }[]
  const rules = JSON.parse(await lab.must(node, ['ip', '-j', 'rule', 'show'])) as { readonly iif?: string }[]
  return {
    addresses: link?.addr_info.map(({ local }) => local) ?? [],
    rules: rules.filter(({ iif }) => iif === dev).length,
  }
}
