import type { ClassQuota, LoadBalancerClass } from '@spout/model'
import { mayUseClass } from '@spout/model/may-use-class'
import { inNameOrder } from '../parts/name-order.ts'
import { levelOf, type QuotaLevel } from './quota-level.ts'

/** A class that a project has a limit or load balancers of, or may use. */
export interface ClassRow extends Pick<ClassQuota, 'id' | 'used'> {
  readonly title: string
  /** Null: only the limit of load balancers applies. */
  readonly limit: number | null
  readonly level: QuotaLevel
}

/**
 * The classes of a project, by name.
 * @param quotas those that it has a limit or load balancers of
 * @param offered all that are known; of these it has those that it may use
 */
export function classRows(
  quotas: readonly ClassQuota[],
  offered: readonly Pick<LoadBalancerClass, 'id' | 'name' | 'enabled' | 'projectIds'>[],
  projectId: string,
): readonly ClassRow[] {
  const known = new Set(quotas.map(({ id }) => id))
  const usable = offered
    .filter((one) => one.enabled && !known.has(one.id) && mayUseClass(one, projectId))
    .map(({ id, name }) => ({ id, name, limit: null, used: 0 }))
  return inNameOrder([...quotas, ...usable], ({ name }) => name).map(({ id, name, limit, used }) => ({
    ...{ id, limit, used },
    title: `Load balancers of class ${name || id}`,
    level: levelOf(used, limit),
  }))
}
