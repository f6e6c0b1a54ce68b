import { isDeepStrictEqual } from 'node:util'
import type { Condition, KubeObject } from '@spout/kube'
import type { ConditionState, ConfigStatus } from '../handlers/handler.ts'

interface Stated extends KubeObject {
  readonly status?: ConfigStatus
}

/** The status to write. A condition keeps its time while its status stays. */
export function statusOf(
  { metadata, status }: Stated,
  fields: Readonly<Record<string, unknown>>,
  states: readonly ConditionState[],
  now: Date,
): ConfigStatus {
  const time = `${now.toISOString().slice(0, 19)}Z`
  const conditions = states.map((state): Condition => {
    const before = status?.conditions?.find(({ type }) => type === state.type)
    const lastTransitionTime = before?.status === state.status ? before.lastTransitionTime : time
    return { ...state, observedGeneration: metadata.generation ?? 0, lastTransitionTime }
  })
  return { ...fields, conditions }
}

/** Whether writing it would change nothing. */
export const isSameStatus = (a: ConfigStatus | undefined, b: ConfigStatus): boolean =>
  isDeepStrictEqual(sorted(a), sorted(b))

const sorted = (status: ConfigStatus | undefined): unknown =>
  status && {
    ...status,
    conditions: [...(status.conditions ?? [])].sort((a, b) => a.type.localeCompare(b.type, 'en')),
  }
