import { CONFIG_MAPS } from '@spout/kube'
import { parse } from 'yaml'
import { DAEMON_SETS, DEPLOYMENTS, STATEFUL_SETS, type Workload } from './objects.ts'
import type { ClusterPlace } from './place.ts'

/** The programs of an installation in the cluster, by the label of their pods. */
export type Program = 'control-plane' | 'configuration' | 'connector' | 'agent'

/** What the settings of the programs say, as far as the checks read it. */
export interface InstalledSettings {
  /** Of the network of pods; it counted when the control plane started for the first time. */
  readonly returnPath: string
  readonly engine: string
  /** Prefixes of pods, instead of those of the nodes. */
  readonly podCidrs: readonly string[]
  /** Whether Services without a class are ours. */
  readonly isDefault: boolean
  readonly className: string
}

/** Spout in the cluster, as its manifests or its chart put it there. */
export interface Installation {
  readonly namespace: string
  readonly workloads: ReadonlyMap<Program, Workload>
  readonly settings: InstalledSettings
}

const LABELS = 'app.kubernetes.io/name=spout'
const componentOf = ({ metadata }: Workload): Program => metadata.labels?.['app.kubernetes.io/component'] as Program

/** @returns null for a cluster without; one that a hub balances has at most accounts */
export async function readInstallation(place: ClusterPlace): Promise<Installation | null> {
  const kinds = [DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS]
  const workloads = (await Promise.all(kinds.map((kind) => place.list(kind, { labelSelector: LABELS })))).flat()
  const [first] = workloads
  if (first === undefined) return null
  const namespace = first.metadata.namespace ?? ''
  const programs = workloads
    .filter(({ metadata }) => metadata.namespace === namespace)
    .map((workload) => [componentOf(workload), workload] as const)
  return { namespace, workloads: new Map(programs), settings: await readSettings(place, namespace) }
}

async function readSettings(place: ClusterPlace, namespace: string): Promise<InstalledSettings> {
  const maps = await place.list(CONFIG_MAPS, { namespace })
  const of = (program: Program): unknown => {
    const text = maps.find(({ metadata }) => metadata.name === program)?.data?.[`${program}.yaml`]
    return text === undefined ? null : parse(text)
  }
  const [controlPlane, connector] = [of('control-plane'), of('connector')]
  return {
    returnPath: String(at(controlPlane, 'kubernetes', 'network', 'returnPath') ?? 'snat'),
    engine: String(at(controlPlane, 'store', 'engine') ?? 'sqlite'),
    podCidrs: [at(connector, 'network', 'podCidrs') ?? []].flat().map(String),
    isDefault: at(connector, 'services', 'isDefault') !== false,
    className: String(at(connector, 'services', 'className') ?? 'spout.dev/load-balancer'),
  }
}

/** A value inside of parsed YAML; undefined where it has none. */
export const at = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((inner, key) => (inner as Readonly<Record<string, unknown>> | null | undefined)?.[key], value)
