import { CONFIG_MAPS, NAMESPACES } from '@spout/kube'
import { type InstalledSettings, type Program, readInstallation } from '../installation.ts'
import { CLUSTER_ROLES, changedAt, PODS, type Pod } from '../objects.ts'
import type { ClusterPlace } from '../place.ts'
import { isReady, whyUnready } from '../pod-words.ts'

export interface RunningProgram {
  readonly program: Program
  /** As kubectl names it, such as `deployment/connector`. */
  readonly workload: string
  readonly wanted: number
  readonly available: number
  /** Why pods are not ready, each reason once. */
  readonly reasons: readonly string[]
  /** Of its pods. */
  readonly images: readonly string[]
  /** Whether a pod runs that started before its settings were changed. */
  readonly hasOldSettings: boolean
}

export interface ProgramsReading {
  /** Whether accounts of ours are in a cluster without programs: its connector is a process elsewhere. */
  readonly hasAccounts: boolean
  /** Null without an installation. */
  readonly installed: {
    readonly namespace: string
    readonly engine: InstalledSettings['engine']
    readonly programs: readonly RunningProgram[]
    /** The level of Pod Security that the namespace enforces; null for none. */
    readonly enforced: string | null
  } | null
}

export async function readPrograms(place: ClusterPlace): Promise<ProgramsReading> {
  const installation = await readInstallation(place)
  const roles = await place.list(CLUSTER_ROLES, { fieldSelector: 'metadata.name=spout-connector' })
  if (installation === null) return { hasAccounts: roles.length > 0, installed: null }
  const { namespace, workloads, settings } = installation
  const pods = await place.list(PODS, { namespace, labelSelector: 'app.kubernetes.io/name=spout' })
  const maps = await place.list(CONFIG_MAPS, { namespace })
  const [own] = await place.list(NAMESPACES, { fieldSelector: `metadata.name=${namespace}` })
  const programs = [...workloads].map(([program, { kind, metadata, spec, status }]): RunningProgram => {
    const running = pods.filter((pod) => pod.metadata.labels?.['app.kubernetes.io/component'] === program)
    const settingsChanged = maps.filter((map) => map.metadata.name === program).map(changedAt)[0] ?? null
    return {
      program,
      workload: `${kind?.toLowerCase()}/${metadata.name}`,
      wanted: status?.desiredNumberScheduled ?? spec.replicas ?? 1,
      available: status?.numberAvailable ?? status?.availableReplicas ?? 0,
      reasons: [...new Set(running.flatMap((pod) => whyUnready(pod) ?? []))],
      images: [...new Set(running.flatMap((pod) => pod.spec.containers.map(({ image }) => image)))],
      hasOldSettings: running.some((pod) => isReady(pod) && startedBefore(pod, settingsChanged)),
    }
  })
  const enforced = own?.metadata.labels?.['pod-security.kubernetes.io/enforce'] ?? null
  return { hasAccounts: roles.length > 0, installed: { namespace, engine: settings.engine, programs, enforced } }
}

const startedBefore = ({ status }: Pod, changed: number | null): boolean =>
  changed !== null && status?.startTime !== undefined && Date.parse(status.startTime) < changed
