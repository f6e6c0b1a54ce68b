import { entryHash } from '@spout/model/entry-hash'
import { domainKey, loadBalancerKey } from '@spout/model/entry-keys'
import type { DomainEntry, LoadBalancerEntry, NodeMember, NodePool, NodeVip, Service } from '@spout/model/node-state'
import { editSlots } from '@spout/plan/edit-slots'
import type { WantedEntry } from '../contracts/driver.ts'

/** Entries as a planner would make them, with the rest filled in. */
export function domainEntry(number: number, fields: Partial<DomainEntry> = {}): DomainEntry {
  return {
    kind: 'domain',
    version: 1,
    key: domainKey(number),
    number,
    networkId: `network-${number}`,
    segment: { physicalNetwork: 'red', vlan: null },
    returnPath: 'gateway',
    subnets: [
      { cidr: '10.0.0.0/24', nodeAddress: '10.0.0.250', gatewayIp: '10.0.0.1', sharedAddress: null },
      { cidr: 'fd01::/64', nodeAddress: 'fd01::250', gatewayIp: 'fd01::1', sharedAddress: null },
    ],
    gateway: { via: 'l2' },
    ...fields,
  }
}

export const member = (id: string, address: string, fields: Partial<NodeMember> = {}): NodeMember => ({
  id,
  address,
  port: 8080,
  weight: 1,
  backup: false,
  checkAddress: address,
  checkPort: 8080,
  ...fields,
})

export function pool(number: number, members: readonly NodeMember[], fields: Partial<NodePool> = {}): NodePool {
  const assigned = editSlots(null, members)
  return {
    id: `pool-${number}`,
    number,
    mode: 'l4',
    algorithm: 'round-robin',
    sourceAffinity: false,
    proxyProtocol: 'none',
    members: assigned.members.map((id) => members.find((each) => each.id === id) ?? null),
    slots: assigned.slots,
    check: null,
    panicThreshold: 0,
    ...fields,
  }
}

export const service = (
  id: string,
  port: number,
  poolNumber: number | null,
  fields: Partial<Service> = {},
): Service => ({
  id,
  protocol: 'tcp',
  port,
  pool: poolNumber,
  connectionLimit: null,
  allowedCidrs: null,
  timeouts: { clientMs: 50_000, connectMs: 5_000, memberMs: 50_000 },
  insertHeaders: [],
  ...fields,
})

export const vip = (address: string, scope: NodeVip['scope'] = 'fabric'): NodeVip => ({
  address,
  scope,
  announce: { via: 'l2' },
})

export function wanted(
  id: string,
  domain: DomainEntry,
  fields: Partial<Pick<LoadBalancerEntry, 'vips' | 'services' | 'pools'>>,
  down: readonly string[] = [],
): WantedEntry {
  const entry: LoadBalancerEntry = {
    kind: 'load-balancer',
    version: 1,
    key: loadBalancerKey(id),
    id,
    generation: 1,
    domain: domain.number,
    vips: [],
    services: [],
    pools: [],
    ...fields,
  }
  return { key: entry.key, hash: entryHash(entry), domain, entry, down: new Set(down) }
}
