import { isDeepStrictEqual } from 'node:util'
import type { Condition, KubeObject } from '@spout/kube'
import type { ConfigStatus, Verdict } from '../handlers/handler.ts'

interface Stated extends KubeObject {
  readonly status?: ConfigStatus
}

/** The status to write. A condition keeps its time while its status stays. */
export function statusOf(
  { metadata, status }: Stated,
  fields: Readonly<Record<string, unknown>>,
  verdicts: readonly Verdict[],
  now: Date,
): ConfigStatus {
  const time = `${now.toISOString().slice(0, 19)}Z`
  const conditions = verdicts.map((verdict): Condition => {
    const before = status?.conditions?.find(({ type }) => type === verdict.type)
    const lastTransitionTime = before?.status === verdict.status ? before.lastTransitionTime : time
    return { ...verdict, observedGeneration: metadata.generation ?? 0, lastTransitionTime }
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
