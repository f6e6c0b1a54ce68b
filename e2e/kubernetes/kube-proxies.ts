import type { ProxyMode } from '@spout/testkit'
import type { InClusterLab } from './in-cluster-lab.ts'

/** What takes the place of the test bed's kube-proxy of mode nftables, in this order. */
export const OTHER_PROXIES = ['iptables', 'none'] as const satisfies readonly ProxyMode[]

/** Of the client; not one that the kernel gives to other connections. */
const PORT = 20_000
const TIMES = 10

/** Replaces kube-proxy on each node of a cluster. */
export async function replaceProxies({ cluster }: InClusterLab, mode: ProxyMode): Promise<void> {
  await Promise.all(cluster.nodes.map((node) => node.replaceProxy(mode)))
}

/** What kube-proxy's rules on a node are for. */
export interface ProxyRules {
  /** Whether they have this address of a Service. */
  readonly haveAddress: boolean
  /** Whether they drop what the node itself calls invalid. */
  readonly dropInvalid: boolean
}

/** Reads the rules of kube-proxy in mode iptables on a node. Null for none at all, of mode nftables neither. */
export async function proxyRules({ lab }: InClusterLab, node: string, address: string): Promise<ProxyRules | null> {
  const rules = await lab.must(node, ['iptables-save'])
  const tables = await lab.must(node, ['nft', 'list', 'tables'])
  // It leaves chain KUBE-FIREWALL, which is for the node's loopback addresses.
  if (!rules.includes('KUBE-SERVICES') && !tables.includes('kube-proxy')) return null
  return {
    haveAddress: rules.split('\n').some((rule) => rule.startsWith(`-A KUBE-SERVICES -d ${address}/32 `)),
    dropInvalid: /^-A KUBE-FORWARD .*--ctstate INVALID .*-j DROP$/m.test(rules),
  }
}

/** How many requests of the client are answered that it makes one after the other, all from one port, as `10 of 10`. */
export async function answersToOnePort({ client }: InClusterLab, address: string): Promise<string> {
  const outcomes: string[] = []
  for (let left = TIMES; left > 0; left--) {
    const outcome = await client.http(address, 80, { sourcePort: PORT, timeoutMs: 10_000 })
    outcomes.push(outcome.ok ? String(outcome.value.status) : outcome.code)
  }
  const answered = outcomes.filter((outcome) => outcome === '200').length
  return `${answered} of ${TIMES}`
}

/** Whether each pod of workload `web` reaches a Service by its cluster IP. */
export async function answersByClusterIp({ lab, cluster, service }: InClusterLab, name: string): Promise<boolean> {
  const { spec } = await service(name)
  const pods = await cluster.pods('app=web')
  const ask = ['curl', '-sf', '-m', '2', `http://${spec.clusterIP}/`]
  const codes = await Promise.all(pods.map(async (pod) => (await lab.run(cluster.podPlace(pod), ask)).code))
  return codes.every((code) => code === 0)
}
