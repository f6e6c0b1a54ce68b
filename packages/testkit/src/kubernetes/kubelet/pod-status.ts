import { type Condition, conditionOf, type Pod } from '../objects.ts'

export interface ContainerState {
  readonly name: string
  readonly image: string
  readonly ready: boolean
  readonly running: boolean
  readonly restarts: number
}

export interface PodState {
  readonly startedAt: string
  readonly ips: readonly string[]
  readonly hostIps: readonly string[]
  readonly containers: readonly ContainerState[]
  /** Why the pod could not be started; null when it was. */
  readonly problem: string | null
  /** It ended and will not be restarted. Exit codes are ignored: every end counts as a success. */
  readonly over: boolean
}

/** The status that a kubelet would write; unchanged conditions keep their times. */
export function podStatus(pod: Pod, state: PodState, now: string): object {
  const ready = (problem: string, isTrue: boolean, type: string): Condition & { lastTransitionTime: string } => {
    const status = isTrue ? 'True' : 'False'
    const before = conditionOf(pod, type) as (Condition & { lastTransitionTime?: string }) | undefined
    const same = before?.status === status
    return {
      type,
      status,
      reason: isTrue ? '' : problem,
      message: isTrue || state.problem === null ? '' : state.problem,
      lastTransitionTime: same ? (before?.lastTransitionTime ?? now) : now,
    }
  }
  const allReady = state.containers.length > 0 && state.containers.every((container) => container.ready)
  const gatesOpen = (pod.spec.readinessGates ?? []).every(
    ({ conditionType }) => conditionOf(pod, conditionType)?.status === 'True',
  )
  return {
    phase: phaseOf(state),
    startTime: state.startedAt,
    hostIP: state.hostIps[0],
    hostIPs: state.hostIps.map((ip) => ({ ip })),
    podIP: state.ips[0],
    podIPs: state.ips.map((ip) => ({ ip })),
    conditions: [
      ready('ContainersNotInitialized', state.problem === null, 'Initialized'),
      ready('ContainersNotReady', allReady, 'ContainersReady'),
      ready(allReady ? 'ReadinessGatesNotReady' : 'ContainersNotReady', allReady && gatesOpen, 'Ready'),
    ],
    containerStatuses: state.containers.map((container) => ({
      name: container.name,
      image: container.image,
      imageID: '',
      ready: container.ready,
      started: container.running,
      restartCount: container.restarts,
      state: container.running
        ? { running: { startedAt: state.startedAt } }
        : state.over
          ? { terminated: { exitCode: 0, reason: 'Completed' } }
          : { waiting: { reason: state.problem === null ? 'ContainerCreating' : 'CreateContainerError' } },
    })),
  }
}

function phaseOf({ containers, over }: PodState): string {
  if (over) return 'Succeeded'
  return containers.some(({ running, restarts }) => running || restarts > 0) ? 'Running' : 'Pending'
}
