import type { ClusterObject } from '@spout/model'
import { command } from '../../parts/shell-word.ts'

/** What `kubectl` calls the kinds. Other products have Gateways and LoadBalancers, too, so those have their group. */
const RESOURCES: Readonly<Record<ClusterObject['kind'], string>> = {
  service: 'service',
  ingress: 'ingress',
  gateway: 'gateways.gateway.networking.k8s.io',
  'load-balancer': 'loadbalancers.spout.dev',
}

/**
 * Names as Kubernetes takes them. Whoever may write a load balancer chooses these texts, and a name such as
 * `--server=…` would send the credentials of whoever pastes the command elsewhere.
 */
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

/** The command that shows an object of a cluster with its conditions and events; null for a name that none can have. */
export function kubectlCommand({ kind, name: key }: ClusterObject): string | null {
  const [namespace = '', name = '', ...more] = key.split('/')
  if (!NAME.test(namespace) || !NAME.test(name) || more.length > 0) return null
  return command(['kubectl', 'describe', RESOURCES[kind], name], [['--namespace', namespace]])
}
