import type { ClassQuota, QuotaLimits } from '@spout/model'
import { ask } from './ask.ts'

export interface ProjectQuota {
  readonly limits: QuotaLimits
  readonly used: QuotaLimits
  /** Of the classes for which it has a limit or load balancers. */
  readonly classes: readonly ClassQuota[]
}

/** Limits to set. Those that are left out stay. */
export interface QuotaChange {
  readonly limits: Partial<QuotaLimits>
  /** Most load balancers of a class, by its id; null takes the limit away. */
  readonly classes: Readonly<Record<string, number | null>>
}

export const readQuota = (projectId: string, signal: AbortSignal): Promise<ProjectQuota> =>
  ask('GET', `/projects/${projectId}/quota`, { signal })

/** Sets limits for an administrator. */
export const setQuota = (projectId: string, change: QuotaChange): Promise<ProjectQuota> =>
  ask('PUT', `/projects/${projectId}/quota`, { body: change })
