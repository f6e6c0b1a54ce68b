import { isDeepStrictEqual } from 'node:util'
import { apiTime, type ConditionState, dated, type KubeObject } from '../types/index.ts'
import type { CustomStatus } from './custom-object.ts'

interface Stated extends KubeObject {
  readonly status?: CustomStatus
}

/** The status to write. A condition keeps its transition time while its status stays the same. */
export function statusOf(
  { metadata, status }: Stated,
  fields: Readonly<Record<string, unknown>>,
  states: readonly ConditionState[],
  now: Date,
): CustomStatus {
  const observed = states.map((state) => ({ ...state, observedGeneration: metadata.generation ?? 0 }))
  return { ...fields, conditions: dated(status?.conditions, observed, apiTime(now)) }
}

/** Whether two statuses are equal, whatever the order of conditions. */
export const isSameStatus = (a: CustomStatus | undefined, b: CustomStatus): boolean =>
  isDeepStrictEqual(sorted(a), sorted(b))

const sorted = (status: CustomStatus | undefined): unknown =>
  status && {
    ...status,
    conditions: [...(status.conditions ?? [])].sort((a, b) => a.type.localeCompare(b.type, 'en')),
  }
