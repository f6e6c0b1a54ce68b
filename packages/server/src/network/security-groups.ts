import { SpoutError } from '@spout/model'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { requireRole } from '../authn/access.ts'
import type { NetworkContext } from './context.ts'

/** A group could neither open nor close anything: what it guards in Neutron are ports of instances. */
const REASON =
  'security groups are not offered: the ports of members are not ours to open or close. Limit who may connect by ' +
  'allowed_cidrs of listeners'

/** Refuses what would be without effect. The lists stay readable and empty, see `fixed-routes.ts`. */
export function securityGroupRoutes(scope: FastifyInstance, { authenticate }: NetworkContext): void {
  for (const [path, field] of [
    ['/v2.0/security-groups', 'security_group'],
    ['/v2.0/security-group-rules', 'security_group_rule'],
  ] as const)
    scope.post(path, async (request) => {
      requireRole(await authenticate(request), 'member')
      throw new SpoutError('Unsupported', { field, reason: REASON })
    })
}

/** The groups of a port: none. Terraform writes a VIP port's empty set back. */
export const noSecurityGroups = z.array(z.string()).optional()

/** @throws SpoutError when a port is to have groups */
export function refuseSecurityGroups(groups: readonly string[] | undefined): void {
  if (groups !== undefined && groups.length > 0)
    throw new SpoutError('Unsupported', { field: 'port.security_groups', reason: REASON })
}
