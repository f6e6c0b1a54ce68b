import { CONFIG_MAPS } from '@spout/kube'
import { parse } from 'yaml'
import { at } from '../installation.ts'
import { DAEMON_SETS } from '../objects.ts'
import type { ClusterPlace } from '../place.ts'

export interface KubeProxyReading {
  /** Whether agents of ours are in the cluster: only then its nodes have our addresses. */
  readonly hasAgents: boolean
  /** Null if none is seen: another program replaces it, or it is no pod. */
  readonly proxy: {
    /** Empty: its default, iptables. */
    readonly mode: string
    readonly strictArp: boolean
  } | null
}

const NAMESPACE = 'kube-system'

/** Its settings as kubeadm keeps them, and the command line of its pods, which goes before. */
export async function readKubeProxy(place: ClusterPlace): Promise<KubeProxyReading> {
  const maps = await place.list(CONFIG_MAPS, { namespace: NAMESPACE, fieldSelector: 'metadata.name=kube-proxy' })
  const sets = await place.list(DAEMON_SETS, { namespace: NAMESPACE, fieldSelector: 'metadata.name=kube-proxy' })
  const agents = await place.list(DAEMON_SETS, {
    labelSelector: 'app.kubernetes.io/name=spout,app.kubernetes.io/component=agent',
  })
  const hasAgents = agents.length > 0
  if (maps.length === 0 && sets.length === 0) return { hasAgents, proxy: null }
  const settings: unknown = parse(maps[0]?.data?.['config.conf'] ?? '')
  const words = sets
    .flatMap(({ spec }) =>
      spec.template.spec.containers.flatMap(({ command = [], args = [] }) => [...command, ...args]),
    )
    .join(' ')
  const strict = /--ipvs-strict-arp(?:=(\S+))?/.exec(words)
  return {
    hasAgents,
    proxy: {
      mode: /--proxy-mode[= ](\S+)/.exec(words)?.[1] ?? String(at(settings, 'mode') ?? ''),
      strictArp: strict === null ? at(settings, 'ipvs', 'strictARP') === true : strict[1] !== 'false',
    },
  }
}
