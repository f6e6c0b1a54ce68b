import type { Pod } from './objects.ts'

export const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true

/** Why a pod is not ready, as Kubernetes says it; null for one that is. */
export function whyUnready(pod: Pod): string | null {
  if (isReady(pod)) return null
  const { conditions = [], containerStatuses = [], phase = 'Pending' } = pod.status ?? {}
  const unscheduled = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
  if (unscheduled !== undefined) return `no node takes it: ${unscheduled.message ?? 'Kubernetes does not say why'}`
  for (const { state } of containerStatuses) {
    if (state?.waiting !== undefined) return [state.waiting.reason, state.waiting.message].filter(Boolean).join(': ')
    if (state?.terminated !== undefined)
      return `it ended with ${state.terminated.reason ?? 'code'} (exit code ${state.terminated.exitCode})`
  }
  return phase === 'Running' ? 'its readiness probe fails' : `it is ${phase}`
}
