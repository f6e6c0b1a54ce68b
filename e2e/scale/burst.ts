import { callApi, passwordToken, type SystemAccess } from '@spout/testkit'

interface Shown {
  readonly id: string
  readonly generation: number
  readonly pools: readonly { readonly id: string; readonly members: readonly { id: string; weight: number }[] }[]
  readonly status: { readonly provisioning: string; readonly confirmedGeneration: number }
}

/** A tenant with one load balancer of two members. */
export interface BurstTenant {
  readonly token: string
  readonly loadBalancerId: string
  readonly poolId: string
  readonly memberIds: readonly string[]
}

/** Creates a project with a user, a network on its own VLAN and a load balancer in the node group. */
export async function createBurstTenant(
  { endpoint, admin }: SystemAccess,
  { number, poolId, nodeGroupId }: { readonly number: number; readonly poolId: string; readonly nodeGroupId: string },
): Promise<BurstTenant> {
  const asAdmin = <T>(path: string, body: unknown) => callApi<T>(endpoint, admin.token, 'POST', path, body)
  const account = { user: `burst-${number}`, password: 'burst-in-the-lab', project: `burst-${number}` }
  const { id: projectId } = await asAdmin<{ id: string }>('/projects', { name: account.project })
  const { user: name, password } = account
  await asAdmin('/users', { name, password, roles: [{ projectId, role: 'member' }] })
  const segment = { physicalNetwork: 'tenant-b', vlan: 100 + number }
  const network = await asAdmin<{ id: string }>('/networks', { name: 'net', projectId, returnPath: 'snat', segment })
  await asAdmin(`/networks/${network.id}/subnets`, { cidr: '10.65.0.0/24', gatewayIp: null })
  const { token } = await passwordToken(endpoint, account)
  const members = [1, 2].map((last) => ({ address: `10.65.0.${last}`, port: 80, weight: 1 }))
  const made = await callApi<Shown>(endpoint, token, 'POST', '/load-balancers', {
    ...{ name: 'burst', nodeGroupId, vips: [{ from: 'pool', poolId }] },
    listeners: [{ protocol: 'tcp', port: 80, defaultPool: 'p' }],
    pools: [{ name: 'p', protocol: 'tcp', members }],
  })
  const [pool] = made.pools
  return { token, loadBalancerId: made.id, poolId: pool!.id, memberIds: pool!.members.map(({ id }) => id) }
}

const shownOf = ({ endpoint }: SystemAccess, { token, loadBalancerId }: BurstTenant): Promise<Shown> =>
  callApi<Shown>(endpoint, token, 'GET', `/load-balancers/${loadBalancerId}`)

/** Whether the nodes have the newest version. */
export async function isThere(access: SystemAccess, tenant: BurstTenant): Promise<boolean> {
  const { generation, status } = await shownOf(access, tenant)
  return status.provisioning === 'active' && status.confirmedGeneration >= generation
}

/**
 * Two concurrent writers, one per member: each changes its member's weight again and again.
 * @returns what differs from the acknowledged state
 */
export async function burst(access: SystemAccess, tenant: BurstTenant, changes: number): Promise<readonly string[]> {
  const { token, loadBalancerId, poolId, memberIds } = tenant
  const lost: string[] = []
  const before = (await shownOf(access, tenant)).generation
  const writer = async (memberId: string) => {
    const path = `/load-balancers/${loadBalancerId}/pools/${poolId}/members/${memberId}`
    for (let change = 1; change <= changes; change++) {
      const wanted = { weight: 2 + (change % 200) }
      const { weight } = await callApi<{ weight: number }>(access.endpoint, token, 'PATCH', path, wanted)
      if (weight !== wanted.weight) lost.push(`${memberId}: ${weight} was answered to ${wanted.weight}`)
    }
  }
  await Promise.all(memberIds.map(writer))
  const { generation, pools } = await shownOf(access, tenant)
  for (const { id, weight } of pools[0]?.members ?? [])
    if (weight !== 2 + (changes % 200)) lost.push(`${id} has ${weight}`)
  // Each is a change that nodes get, even if several were stored together.
  if (generation <= before) lost.push(`${loadBalancerId} is still of generation ${generation}`)
  return lost
}
