import type { Catalogue, Found } from '@spout/runtime/findings'
import { clusterCheckOf } from '../cluster-check.ts'
import { type KubeProxyReading, readKubeProxy } from '../readings/kube-proxy.ts'

const FINDINGS = {
  StrictArpOff: {
    level: 'error',
    what: 'kube-proxy is in mode ipvs without `strictARP`',
    why: 'It binds the addresses of Services to an interface of every node, and every node answers for them by ARP.',
    fix: '`kubectl --namespace kube-system edit configmap kube-proxy`: `ipvs.strictARP: true`, and restart it',
  },
  KubeProxyUnseen: {
    level: 'notice',
    what: 'no kube-proxy is seen: something replaces it, or it is part of another program',
    why: 'Services of Spout need none, but its pods need their cluster IPs. One in mode ipvs needs strictARP.',
    fix: 'look at its settings',
  },
} as const satisfies Catalogue

export function judgeKubeProxy({ hasAgents, proxy }: KubeProxyReading): readonly Found<keyof typeof FINDINGS>[] {
  if (!hasAgents) return []
  if (proxy === null) {
    const message = 'kube-system has neither a DaemonSet nor a ConfigMap of that name.'
    return [
      { code: 'KubeProxyUnseen', subject: null, message, fix: 'if it is in mode ipvs: strictARP, as with MetalLB' },
    ]
  }
  if (proxy.mode !== 'ipvs' || proxy.strictArp) return []
  return [
    {
      ...{ code: 'StrictArpOff', subject: null, message: 'It is in mode ipvs, and strictARP is off.' },
      fix: 'kubectl --namespace kube-system edit configmap kube-proxy: ipvs.strictARP: true; then: kubectl --namespace kube-system rollout restart daemonset/kube-proxy',
    },
  ]
}

export const kubeProxy = clusterCheckOf({
  name: 'kube-proxy',
  catalogue: FINDINGS,
  read: readKubeProxy,
  judge: judgeKubeProxy,
  right: ({ hasAgents, proxy }) =>
    !hasAgents || proxy === null
      ? 'No node here has addresses of ours.'
      : `It is in mode ${proxy.mode === '' ? 'iptables, its default' : proxy.mode}.`,
})
