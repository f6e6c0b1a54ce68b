import { type SecurityGroup, securityGroup, uuid } from '@spout/model'
import type { z } from 'zod'

export const securityGroupDraft = securityGroup
  .pick({ projectId: true, name: true, description: true, tags: true })
  /** For a group that moves here from another system. */
  .extend({ id: uuid.optional() })
export type SecurityGroupDraft = z.input<typeof securityGroupDraft>

/** What may change of a group. */
export type SecurityGroupChange = Partial<Pick<SecurityGroup, 'name' | 'description' | 'tags' | 'rules'>>

/** Writes of security groups. A change of rules reaches the load balancers that name the group. */
export interface SecurityGroupAdmission {
  /** The group starts without rules: it admits nothing. */
  createSecurityGroup(draft: SecurityGroupDraft): Promise<SecurityGroup>
  /** `change` gets the newest version and returns the fields to replace. It may run again, so it must be pure. */
  changeSecurityGroup(id: string, change: (current: SecurityGroup) => SecurityGroupChange): Promise<SecurityGroup>
  /** @throws SpoutError InUse while a load balancer names it */
  deleteSecurityGroup(id: string): Promise<void>
}
