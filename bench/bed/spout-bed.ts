import {
  callApi,
  createPublicPool,
  createTenant,
  Lab,
  NODES,
  nodesInSync,
  type SystemAccess,
  startAgent,
  startControlPlane,
  startMember,
  type Tenant,
} from '@spout/testkit'

/** A whole Spout in a lab of its own: the control plane and agents as they are run, two tenants, members that answer. */
export interface SpoutBed {
  readonly lab: Lab
  readonly access: SystemAccess
  readonly publicPoolId: string
  /** Members reply through the load-balancer nodes (`tenant-a`). */
  readonly gateway: Tenant
  /** Members see a node's address (`tenant-b`). */
  readonly snat: Tenant
}

/** The most that a project may be given. */
const UNLIMITED = 1_000_000

/** Puts the bed up, lends it, and takes it away whatever becomes of the work. */
export async function withSpout(
  { nodes = NODES, members = true }: { readonly nodes?: readonly string[]; readonly members?: boolean },
  work: (bed: SpoutBed) => Promise<void>,
): Promise<void> {
  await using lab = await Lab.create()
  const access = await startControlPlane(lab)
  for (const node of nodes) await startAgent(lab, access, node)
  const { id: publicPoolId } = await createPublicPool(access)
  const tenant = async (segment: string, returnPath: 'gateway' | 'snat') => {
    const made = await createTenant(access, {
      project: segment,
      user: segment,
      password: `${segment}-in-the-lab`,
      segment,
      returnPath,
    })
    await liftQuota(access, made.projectId)
    return made
  }
  const gateway = await tenant('tenant-a', 'gateway')
  const snat = await tenant('tenant-b', 'snat')
  if (members)
    await Promise.all(
      ['tenant-a', 'tenant-b'].flatMap((segment) => [1, 2].map((n) => startMember(lab, `${segment}-member${n}`))),
    )
  await nodesInSync(access, nodes.length)
  await work({ lab, access, publicPoolId, gateway, snat })
}

async function liftQuota({ endpoint, admin }: SystemAccess, projectId: string): Promise<void> {
  const limits = {
    loadBalancers: UNLIMITED,
    listeners: UNLIMITED,
    pools: UNLIMITED,
    members: UNLIMITED,
    healthMonitors: UNLIMITED,
    routes: UNLIMITED,
    addresses: UNLIMITED,
  }
  await callApi(endpoint, admin.token, 'PUT', `/projects/${projectId}/quota`, { limits })
}
