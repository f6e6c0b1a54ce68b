import { answerThroughRouter, callApi, holdVip, type Tenant } from '@spout/testkit'
import type { SpoutBed } from '../bed/spout-bed.ts'
import { type Announcer, SpoutPair } from './spout-pair.ts'

const SEGMENT = 'tenant-a'

/** Gives the tenant of `tenant-a` a network of return path `dsr` instead of its own. It has no load balancer yet. */
async function directTenant({ access, gateway }: SpoutBed): Promise<Tenant> {
  const asAdmin = <T>(method: string, path: string, body?: unknown): Promise<T> =>
    callApi<T>(access.endpoint, access.admin.token, method, path, body)
  await asAdmin('DELETE', `/networks/${gateway.networkId}`)
  const { id: networkId } = await asAdmin<{ id: string }>('POST', '/networks', {
    name: 'direct',
    projectId: gateway.projectId,
    returnPath: 'dsr',
    segment: { physicalNetwork: SEGMENT, vlan: null },
  })
  const { id: subnetId } = await asAdmin<{ id: string }>('POST', `/networks/${networkId}/subnets`, {
    name: 'subnet',
    cidr: '10.0.0.0/24',
    gatewayIp: '10.0.0.1',
  })
  return { ...gateway, networkId, subnetId }
}

/** Spout's pair with members that hold the VIP and answer through the lab's router. */
export async function directPair(bed: SpoutBed, announcer: Announcer, poolId = bed.publicPoolId): Promise<SpoutPair> {
  const tenant = await directTenant(bed)
  await answerThroughRouter(bed.lab, SEGMENT)
  const pair = await SpoutPair.create(bed, announcer, { tenant, poolId, protocols: ['udp', 'tcp'] })
  await holdVip(bed.lab, SEGMENT, pair.vip)
  return pair
}
