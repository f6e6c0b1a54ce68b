import type { DomainEntry, LoadBalancerEntry, NodeMember, NodePool, NodeRoute, Service } from '@spout/model'
import { domainKey, loadBalancerKey } from '@spout/model/entry-keys'
import type { WantedEntry } from '../../contracts/driver.ts'

/** Small constructors for the tests of this folder. */

export const sampleDomain = (number = 7): DomainEntry => ({
  kind: 'domain',
  version: 1,
  key: domainKey(number),
  number,
  networkId: '00000000-0000-4000-8000-00000000d007',
  segment: { physicalNetwork: 'physnet', vlan: null },
  returnPath: 'gateway',
  subnets: [{ cidr: '10.0.0.0/24', nodeAddress: '10.0.0.2', gatewayIp: '10.0.0.1', sharedAddress: null }],
  gateway: { via: 'l2' },
})

export const sampleMember = (index: number, change: Partial<NodeMember> = {}): NodeMember => ({
  id: `m${index}`,
  address: `10.0.0.${10 + index}`,
  port: 8080,
  weight: 1,
  backup: false,
  checkAddress: `10.0.0.${10 + index}`,
  checkPort: 8080,
  ...change,
})

export const samplePool = (number: number, change: Partial<NodePool> = {}): NodePool => ({
  id: `pool-${number}`,
  number,
  mode: 'http',
  algorithm: 'round-robin',
  sourceAffinity: false,
  proxyProtocol: 'none',
  members: [sampleMember(1), sampleMember(2)],
  slots: null,
  check: null,
  panicThreshold: 0,
  ...change,
})

export const sampleService = (id: string, change: Partial<Service> = {}): Service => ({
  id,
  protocol: 'http',
  port: 80,
  pool: 1,
  connectionLimit: null,
  allowedCidrs: null,
  timeouts: { clientMs: 50_000, connectMs: 5_000, memberMs: 50_000 },
  insertHeaders: [],
  ...change,
})

export const sampleRoute = (
  number: number,
  action: NodeRoute['action'],
  conditions: NodeRoute['conditions'] = [],
): NodeRoute => ({ id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`, conditions, action })

export const sampleEntry = (
  id: string,
  services: readonly Service[],
  pools: readonly NodePool[],
  domain = 7,
): LoadBalancerEntry => ({
  kind: 'load-balancer',
  version: 1,
  key: loadBalancerKey(id),
  id,
  generation: 1,
  domain,
  vips: [{ address: '192.0.2.1', scope: 'fabric', announce: { via: 'l2' } }],
  services,
  pools,
})

export const sampleWanted = (
  entry: LoadBalancerEntry,
  down: readonly string[] = [],
  domain: DomainEntry = sampleDomain(entry.domain),
): WantedEntry => ({ key: entry.key, hash: 'hash', domain, entry, down: new Set(down) })
