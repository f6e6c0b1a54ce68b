import { entryHash } from '@spout/model/entry-hash'
import { domainKey, loadBalancerKey } from '@spout/model/entry-keys'
import type { DomainEntry, LoadBalancerEntry, NodeMember, NodeStateEntry } from '@spout/model/node-state'

export const domainEntry = (number: number, changes: Partial<DomainEntry> = {}): DomainEntry => ({
  kind: 'domain',
  version: 1,
  key: domainKey(number),
  number,
  networkId: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  segment: { physicalNetwork: 'physnet1', vlan: null },
  returnPath: 'gateway',
  subnets: [{ cidr: '10.0.0.0/24', nodeAddress: '10.0.0.254', gatewayIp: '10.0.0.1', sharedAddress: null }],
  gateway: { via: 'l2' },
  ...changes,
})

/** A load balancer with one TCP service; `id` becomes its key. */
export const loadBalancerEntry = (id: string, changes: Partial<LoadBalancerEntry> = {}): LoadBalancerEntry => ({
  kind: 'load-balancer',
  version: 1,
  key: loadBalancerKey(id),
  id,
  generation: 1,
  domain: 1,
  vips: [{ address: `192.0.2.${id.length}`, scope: 'fabric', announce: { via: 'l2' } }],
  services: [
    {
      id: `${id}-listener`,
      protocol: 'tcp',
      port: 80,
      pool: 1,
      connectionLimit: null,
      allowedCidrs: null,
      timeouts: { clientMs: 50_000, connectMs: 5000, memberMs: 50_000 },
      insertHeaders: [],
    },
  ],
  pools: [],
  ...changes,
})

export const memberEntry = (id: string, address: string): NodeMember => ({
  id,
  address,
  port: 8080,
  weight: 1,
  backup: false,
  checkAddress: address,
  checkPort: 8080,
})

export const putLine = (entry: NodeStateEntry) => ({ type: 'put', hash: entryHash(entry), entry }) as const
