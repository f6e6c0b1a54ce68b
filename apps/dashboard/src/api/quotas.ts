import type { ClassQuota, QuotaLimits } from '@spout/model'
import { ask } from './ask.ts'

export interface ProjectQuota {
  readonly limits: QuotaLimits
  readonly used: QuotaLimits
  readonly classes: readonly ClassQuota[]
}

export const readQuota = (projectId: string, signal: AbortSignal): Promise<ProjectQuota> =>
  ask('GET', `/projects/${projectId}/quota`, { signal })
