import { isDeepStrictEqual } from 'node:util'
import type { Condition, KubeObject } from '../types/index.ts'
import type { ConditionState, CustomStatus } from './custom-object.ts'

interface Stated extends KubeObject {
  readonly status?: CustomStatus
}

/** The status to write. A condition keeps its time while its status stays. */
export function statusOf(
  { metadata, status }: Stated,
  fields: Readonly<Record<string, unknown>>,
  states: readonly ConditionState[],
  now: Date,
): CustomStatus {
  const time = `${now.toISOString().slice(0, 19)}Z`
  const conditions = states.map((state): Condition => {
    const before = status?.conditions?.find(({ type }) => type === state.type)
    const lastTransitionTime = before?.status === state.status ? before.lastTransitionTime : time
    return { ...state, observedGeneration: metadata.generation ?? 0, lastTransitionTime }
  })
  return { ...fields, conditions }
}

/** Whether writing it would change nothing. */
export const isSameStatus = (a: CustomStatus | undefined, b: CustomStatus): boolean =>
  isDeepStrictEqual(sorted(a), sorted(b))

const sorted = (status: CustomStatus | undefined): unknown =>
  status && {
    ...status,
    conditions: [...(status.conditions ?? [])].sort((a, b) => a.type.localeCompare(b.type, 'en')),
  }
