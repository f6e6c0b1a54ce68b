import {
  classLimits,
  domainsOf,
  MOST_PROJECT_NAME,
  type Project,
  parseAs,
  project,
  type Quota,
  type QuotaResource,
  quotaLimits,
  SpoutError,
  uuid,
} from '@spout/model'
import { z } from 'zod'
import type { Claim } from '../claims/claims.ts'
import {
  type AdmissionContext,
  deleteOf,
  find,
  newMeta,
  putNew,
  putOver,
  timestampOf,
  transact,
} from '../claims/context.ts'
import type { Admission } from '../contract/admission.ts'
import { checkDomainsStay } from '../domains/dns-names.ts'
import { lossesTo, removedClaims } from '../domains/domain-claims.ts'
import { isInUse } from '../indexes/admission-index.ts'

const draftSchema = project.pick({ name: true, description: true, id: true }).partial({ id: true })

export async function createProject(
  context: AdmissionContext,
  input: Parameters<Admission['createProject']>[0],
): Promise<Project> {
  const draft = parseAs(draftSchema, input)
  return transact(context, (claim) => {
    refuseTakenName(context, claim, draft.name)
    const { id, ...meta } = newMeta(context, draft)
    const created: Project = { id: draft.id ?? id, ...meta, enabled: true }
    if (context.view.get('project', created.id) !== null)
      throw new SpoutError('AlreadyExists', { what: 'Project', id: created.id })
    return { writes: [putNew('project', created)], result: created }
  })
}

/** @throws SpoutError NameTaken, also for one that is just being given to another project */
function refuseTakenName({ view }: AdmissionContext, claim: Claim, name: string): void {
  const taken = view.list('project').some((known) => known.name === name)
  if (taken || !claim.name(`project/${name}`))
    throw new SpoutError('NameTaken', { field: 'name', what: 'a project', name })
}

const changeSchema = project
  .pick({ description: true, enabled: true, domains: true })
  .partial()
  .extend({
    name: project.shape.name.min(1).max(MOST_PROJECT_NAME).optional(),
  })

/** @throws SpoutError NameTaken; InUse for a domain that a name of the project's load balancers needs */
export async function changeProject(
  context: AdmissionContext,
  id: string,
  change: Parameters<Admission['changeProject']>[1],
): Promise<Project> {
  const fields = parseAs(changeSchema, change)
  return transact(context, (claim) => {
    const stored = find(context, 'project', id, 'project')
    if (fields.name !== undefined && fields.name !== stored.value.name) refuseTakenName(context, claim, fields.name)
    const next: Project = { ...stored.value, ...fields, updatedAt: timestampOf(context.now()) }
    if (fields.domains === undefined) return { writes: [putOver('project', stored, next)], result: next }
    checkDomainsStay(context, claim, { id, domains: domainsOf(next) })
    const losses = lossesTo(context, { id, domains: fields.domains })
    return { writes: [putOver('project', stored, next), ...losses], result: next }
  })
}

export async function deleteProject(context: AdmissionContext, id: string): Promise<void> {
  await transact(context, () => {
    const { view } = context
    const stored = find(context, 'project', id, 'project')
    const owned = [
      ['load balancers', view.list('loadBalancer', { projectId: id }).length],
      ['networks', view.list('network', { projectId: id }).length],
      ['addresses', view.list('address', { projectId: id }).filter(isInUse).length],
      ['certificates', view.list('certificate', { projectId: id }).length],
      ['secrets', view.list('secret', { projectId: id }).length],
      ['secret containers', view.list('secretContainer', { projectId: id }).length],
      ['security groups', view.list('securityGroup', { projectId: id }).length],
      ['application credentials', view.list('applicationCredential', { projectId: id }).length],
    ] as const
    const children = owned.flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []))
    if (children.length > 0)
      throw new SpoutError('HasChildren', { what: 'project', id, children: children.join(' and ') })
    const limits = view.get('quota', id)
    return {
      writes: [
        deleteOf('project', stored),
        ...(limits === null ? [] : [deleteOf('quota', limits)]),
        ...removedClaims(context, id),
      ],
      result: undefined,
    }
  })
}

const limitsSchema = z.strictObject({
  limits: quotaLimits.partial(),
  classes: z.record(uuid, classLimits.valueType.nullable()),
})

/**
 * Limits that are absent keep their values. Null takes that of a class away.
 * @throws SpoutError ReferenceNotFound for a class that does not exist
 */
export async function setQuota(
  context: AdmissionContext,
  projectId: string,
  limits: Partial<Record<QuotaResource, number>>,
  classes: Readonly<Record<string, number | null>> = {},
): Promise<Quota> {
  const wanted = parseAs(limitsSchema, { limits, classes })
  return transact(context, (claim) => {
    for (const id of Object.keys(wanted.classes))
      if (context.view.get('loadBalancerClass', id) === null || !claim.use(`loadBalancerClass/${id}`))
        throw new SpoutError('ReferenceNotFound', { field: `classes.${id}`, what: 'load balancer class', id })
    find(context, 'project', projectId, 'project')
    const stored = context.view.get('quota', projectId)
    // Bytes and conditions that were not set keep following the other limits.
    const { bytes: _, routeConditions, ...defaults } = context.defaultQuota
    const { routeConditions: conditions, ...merged } = { ...defaults, ...stored?.value.limits, ...wanted.limits }
    const known = Object.entries({ ...stored?.value.classes, ...wanted.classes })
    const ofClasses = known.filter((each): each is [string, number] => each[1] !== null)
    const { classes: _known, ...meta }: Omit<Quota, 'limits'> = stored?.value ?? {
      ...newMeta(context, { name: '', description: '' }),
      id: projectId,
    }
    const next: Quota = {
      ...meta,
      updatedAt: stored === null ? null : timestampOf(context.now()),
      limits: {
        ...merged,
        ...(conditions === undefined || conditions === routeConditions ? {} : { routeConditions: conditions }),
      },
      ...(ofClasses.length === 0 ? {} : { classes: Object.fromEntries(ofClasses) }),
    }
    return { writes: [stored === null ? putNew('quota', next) : putOver('quota', stored, next)], result: next }
  })
}
