import {
  createPublicPool,
  createTenant,
  type Lab,
  NODES,
  nodesInSync,
  type SystemAccess,
  startAgent,
  startMember,
  TENANTS,
} from '@spout/testkit'
import type { Teller } from './teller.ts'
import { DEMO_TENANTS } from './tenant.ts'

/**
 * An operator's one-time set-up: nodes, public addresses, tenants with their networks; and the tenants' own servers.
 */
export async function seedDemo(lab: Lab, access: SystemAccess, teller: Teller): Promise<SystemAccess> {
  const members = TENANTS.flatMap((tenant) => [1, 2].map((index) => startMember(lab, `${tenant}-member${index}`)))
  await Promise.all(NODES.map((node) => startAgent(lab, access, node)))
  await createPublicPool(access)
  const projects = await Promise.all(DEMO_TENANTS.map((tenant) => createTenant(access, tenant)))
  await Promise.all(members)
  await nodesInSync(access, NODES.length)
  teller.event('node1 and node2 enrolled with one-time tokens; both follow the control plane')
  teller.event(
    `tenants ${DEMO_TENANTS.map(({ project }) => project).join(' and ')}: each has a network 10.0.0.0/24 with members 10.0.0.11 and 10.0.0.12`,
  )
  return { ...access, projects }
}
