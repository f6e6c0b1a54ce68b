import { type LoadBalancer, parseAs, type SecurityGroup, SpoutError, securityGroup } from '@spout/model'
import type { Claim } from '../claims/claims.ts'
import {
  type AdmissionContext,
  chosenMeta,
  deleteOf,
  find,
  putNew,
  putOver,
  timestampOf,
  transact,
} from '../claims/context.ts'
import { claimObjectRoom } from '../claims/object-room.ts'
import {
  type SecurityGroupChange,
  type SecurityGroupDraft,
  securityGroupDraft,
} from '../contract/security-group-admission.ts'

export async function createSecurityGroup(
  context: AdmissionContext,
  input: SecurityGroupDraft,
): Promise<SecurityGroup> {
  const draft = parseAs(securityGroupDraft, input)
  return transact(context, (claim) => {
    if (context.view.get('project', draft.projectId) === null)
      throw new SpoutError('ReferenceNotFound', { field: 'projectId', what: 'project', id: draft.projectId })
    const created: SecurityGroup = {
      ...draft,
      ...chosenMeta(context, 'securityGroup', 'Security Group', draft),
      rules: [],
    }
    claimRoom(claim, created)
    return { writes: [putNew('securityGroup', created)], result: created }
  })
}

export const changeSecurityGroup = (
  context: AdmissionContext,
  id: string,
  change: (current: SecurityGroup) => SecurityGroupChange,
): Promise<SecurityGroup> =>
  transact(context, (claim) => {
    const stored = find(context, 'securityGroup', id, 'Security Group')
    const updatedAt = timestampOf(context.now())
    const next = parseAs(securityGroup, { ...stored.value, ...change(stored.value), updatedAt })
    claimRoom(claim, next)
    return { writes: [putOver('securityGroup', stored, next)], result: next }
  })

export const deleteSecurityGroup = (context: AdmissionContext, id: string): Promise<void> =>
  transact(context, (claim) => {
    const stored = find(context, 'securityGroup', id, 'Security Group')
    const used = context.index.securityGroupUser(id)
    if (used !== null)
      throw new SpoutError('InUse', { what: 'Security Group', id, user: `load balancer ${used.name || used.id}` })
    if (!claim.leave(`securityGroup/${id}`))
      throw new SpoutError('InUse', { what: 'Security Group', id, user: 'a load balancer that is being written' })
    return { writes: [deleteOf('securityGroup', stored)], result: undefined }
  })

/**
 * Checks the security groups of a load balancer that is written, and claims them against their deletion meanwhile.
 * @throws SpoutError ReferenceNotFound for one that its project does not have
 */
export function claimSecurityGroups(
  { view, references }: AdmissionContext,
  claim: Claim,
  { projectId, securityGroupIds = [] }: Pick<LoadBalancer, 'projectId' | 'securityGroupIds'>,
): void {
  if (references === 'any') return
  for (const [index, id] of securityGroupIds.entries())
    if (view.get('securityGroup', id)?.value.projectId !== projectId || !claim.use(`securityGroup/${id}`))
      throw new SpoutError('ReferenceNotFound', { field: `securityGroupIds[${index}]`, what: 'Security Group', id })
}

const claimRoom = (claim: Claim, next: SecurityGroup): void => claimObjectRoom(claim, 'securityGroup', next)
