import type { ClassQuota, QuotaLimits } from '@spout/model'
import { ask } from './ask.ts'

export interface ProjectQuota {
  readonly limits: QuotaLimits
  readonly used: QuotaLimits
  readonly classes: readonly ClassQuota[]
}

export const readQuota = (projectId: string, signal: AbortSignal): Promise<ProjectQuota> =>
  ask('GET', `/projects/${projectId}/quota`, { signal })

/** Sets limits for an administrator. Those that are left out stay. */
export const setQuota = (projectId: string, limits: Partial<QuotaLimits>): Promise<ProjectQuota> =>
  ask('PUT', `/projects/${projectId}/quota`, { body: { limits } })
