import { type ClassQuota, type LoadBalancer, mayUseClass, SpoutError } from '@spout/model'
import type { Claim } from '../claims/claims.ts'
import type { AdmissionContext } from '../claims/context.ts'

/**
 * Claims that a project may have one more load balancer of its class.
 * @throws SpoutError OverQuota, which names the class
 */
export function claimOfClass({ view }: AdmissionContext, claim: Claim, created: LoadBalancer): void {
  const { id, projectId, classId } = created
  if (classId === undefined) return
  const underWay = claim.ofClass(projectId, classId, id)
  const limit = view.get('quota', projectId)?.value.classes?.[classId]
  if (limit === undefined) return
  const all = new Set([...ofClass(view, projectId, classId), ...underWay])
  all.delete(id)
  if (all.size < limit) return
  const name = view.get('loadBalancerClass', classId)?.value.name ?? classId
  const resource = `load balancers of class ${name}`
  throw new SpoutError('OverQuota', { resource, limit, used: all.size, wanted: 1 })
}

/** A project's limits and use, by class name, for the classes that its quota names or its load balancers have. */
export function classQuotasOf({ view }: AdmissionContext, projectId: string): readonly ClassQuota[] {
  const limits = view.get('quota', projectId)?.value.classes ?? {}
  return view
    .list('loadBalancerClass')
    .flatMap((each): readonly ClassQuota[] => {
      const { id, name } = each
      const limit = limits[id] ?? null
      const used = ofClass(view, projectId, id).length
      const shown = used > 0 || (limit !== null && mayUseClass(each, projectId))
      return shown ? [{ id, name, limit, used }] : []
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

const ofClass = (view: AdmissionContext['view'], projectId: string, classId: string): readonly string[] =>
  view.list('loadBalancer', { projectId }).flatMap((each) => (each.classId === classId ? [each.id] : []))
