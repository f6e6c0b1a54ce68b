import type { StoreFormat } from '@spout/store'
import type { Installed, InstalledControlPlane, InstalledNode } from './installed.ts'
import type { Part, Standing } from './part.ts'
import { type Step, stepsOf } from './steps.ts'
import { compareVersions } from './version-order.ts'

/** What has to be done before the first step. */
export interface Obstacle {
  readonly about: string
  readonly message: string
  readonly fix: string
}

export interface Assessment {
  /** The version that is asked about. */
  readonly target: string
  /** The oldest version that may be replaced by it. */
  readonly from: string
  /** `current`: everything is of the target. `ready`: the steps may be done. `blocked`: first the obstacles. */
  readonly state: 'current' | 'ready' | 'blocked'
  readonly parts: readonly Part[]
  readonly obstacles: readonly Obstacle[]
  readonly steps: readonly Step[]
  /** What holds between the first step and the last. */
  readonly mixed: readonly string[]
  /** Whether the way back is open, and what it takes. */
  readonly back: readonly string[]
  readonly notPromised: readonly string[]
}

export interface Target {
  readonly version: string
  readonly from: string
  /** By engine. */
  readonly formats: Readonly<Record<StoreFormat['engine'], StoreFormat>>
}

/** What an upgrade of this installation to the target takes. */
export function assess(installed: Installed, target: Target): Assessment {
  const { controlPlanes, connectors } = installed
  // The API lists them as they were enrolled.
  const nodes = installed.nodes.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
  const standing = (version: string | null) => standingOf(version, target)
  const parts: readonly Part[] = [
    ...controlPlanes.map(({ endpoint: name, version }) => ({ kind: 'control-plane' as const, name, version })),
    ...nodes.map(({ name, version }) => ({ kind: 'node' as const, name, version })),
    ...connectors.map(({ userName: name, version }) => ({ kind: 'connector' as const, name, version })),
  ].map((part) => ({ ...part, standing: standing(part.version) }))
  const store = controlPlanes.find((one) => one.store !== null)?.store ?? null
  const unborn = new Set(nodes.filter(({ connection }) => connection === 'never').map(({ name }) => name))
  const obstacles = [
    ...parts
      .filter(({ kind, name }) => kind !== 'node' || !isSilent(nodes, name))
      .flatMap((part) => versionObstacle(part, target)),
    ...nodes.flatMap(nodeObstacle),
    ...storeObstacle(store, target),
    ...leaderObstacle(controlPlanes),
  ]
  const due = parts.filter((part) => part.standing !== 'current' && !(part.kind === 'node' && unborn.has(part.name)))
  const isCurrent = due.length === 0 && obstacles.length === 0
  return {
    ...{ target: target.version, from: target.from },
    state: obstacles.length > 0 ? 'blocked' : isCurrent ? 'current' : 'ready',
    ...{ parts, obstacles },
    steps: due.length === 0 ? [] : stepsOf({ due, controlPlanes, store, target: target.version }),
    mixed: due.length === 0 ? [] : MIXED,
    back: wayBack(store, target),
    notPromised: NOT_PROMISED,
  }
}

function standingOf(version: string | null, target: Target): Standing {
  const order = version === null ? null : compareVersions(version, target.version)
  if (version === null || order === null) return 'unknown'
  if (order === 0) return 'current'
  if (order > 0) return 'newer'
  return (compareVersions(version, target.from) ?? -1) < 0 ? 'too-old' : 'due'
}

const isSilent = (nodes: readonly InstalledNode[], name: string): boolean =>
  nodes.some((node) => node.name === name && node.connection !== 'connected')

const KINDS = { 'control-plane': 'Control plane', node: 'Node', connector: 'Connector' } as const

function versionObstacle({ kind, name, version, standing }: Part, target: Target): readonly Obstacle[] {
  const about = `${KINDS[kind]} ${name}`
  switch (standing) {
    case 'too-old':
      return [
        {
          ...{ about, message: `It is of ${version}, and ${target.version} takes over from ${target.from} or later.` },
          fix: `upgrade it to ${target.from} first`,
        },
      ]
    case 'newer':
      return [
        {
          ...{ about, message: `It is of ${version}, newer than this command, which knows nothing of that version.` },
          fix: `ask with the command of ${version}; it says whether the way back to ${target.version} is open`,
        },
      ]
    case 'unknown':
      return [
        {
          about,
          message:
            version === null
              ? 'It reports no version: it is older than the first release, and nothing is promised of it.'
              : `Its version ${version} is none of a release.`,
          fix: `upgrade it to ${target.from} first, where nobody needs it`,
        },
      ]
    case 'current':
    case 'due':
      return []
  }
}

function nodeObstacle({ name, connection, inSync }: InstalledNode): readonly Obstacle[] {
  const about = `Node ${name}`
  if (connection === 'disconnected')
    return [
      {
        ...{ about, message: 'It does not report, so the others may carry its load balancers alone.' },
        fix: `bring it back (docs/runbook.md, "A node is disconnected"), or remove it: spout node delete ${name}`,
      },
    ]
  if (connection === 'connected' && !inSync)
    return [
      {
        ...{ about, message: 'It has not confirmed the newest changes.' },
        fix: `wait until it has; spout node list shows it`,
      },
    ]
  return []
}

function storeObstacle(store: StoreFormat | null, { version, formats }: Target): readonly Obstacle[] {
  if (store === null) return []
  const known = formats[store.engine]
  if (store.version <= known.version || store.usableFrom <= known.version) return []
  return [
    {
      about: 'Store',
      message: `It has schema version ${store.version}; a control plane of ${version} knows up to ${known.version} and refuses it.`,
      fix: 'restore the backup from before the upgrade, or stay with the newer version',
    },
  ]
}

const leaderObstacle = (controlPlanes: readonly InstalledControlPlane[]): readonly Obstacle[] =>
  controlPlanes.some(({ leads }) => leads)
    ? []
    : [
        {
          about: 'Control plane',
          message: 'None of those that were asked leads.',
          fix: 'name all of them: --control-planes URL,URL',
        },
      ]

function wayBack(store: StoreFormat | null, { version, formats }: Target): readonly string[] {
  const programs =
    'Programs go back in any order, one after the other, by the same commands with the older files (apt-get install --allow-downgrades).'
  const settings =
    'First remove settings that only the newer version knows: the older one refuses to start and names them.'
  if (store === null) return [programs, settings]
  const known = formats[store.engine]
  const format = `${store.engine}, schema version ${store.version}`
  if (store.version >= known.version) return [`The store stays as it is (${format}).`, programs, settings]
  const migrated = `The first control plane of ${version} migrates the store (${format}) to version ${known.version}`
  return known.usableFrom <= store.version
    ? [`${migrated}; programs of version ${store.version} can go on with it.`, programs, settings]
    : [`${migrated}; programs of version ${store.version} refuse it then: only the backup leads back.`, settings]
}

const MIXED: readonly string[] = [
  'Every mixture of the two versions forwards, checks members and takes changes.',
  'What only the newer version can do works once the nodes that carry it are of that version; until then the load balancer says so.',
  'A control plane of the older version ignores fields that only the newer one knows, and drops them from objects that it changes.',
]
const NOT_PROMISED: readonly string[] = [
  'To skip a release, forward or back.',
  'To run a mixture for longer than an upgrade takes, or of three versions.',
]
