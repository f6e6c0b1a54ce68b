import type { StoreFormat } from '@spout/store'
import type { InstalledControlPlane } from './installed.ts'
import type { Part } from './part.ts'

export interface Step {
  readonly what: string
  /** For packages; beginning with `#` for those that need root on the machine. */
  readonly commands: readonly string[]
}

/**
 * The steps in their order. Any order works; in this one the newer control plane reads what newer agents report, and
 * one thing is replaced at a time.
 */
export function stepsOf({
  due,
  controlPlanes,
  store,
  target,
}: {
  readonly due: readonly Part[]
  readonly controlPlanes: readonly InstalledControlPlane[]
  readonly store: StoreFormat | null
  readonly target: string
}): readonly Step[] {
  const leads = (name: string) => controlPlanes.some((one) => one.endpoint === name && one.leads)
  const planes = due.filter(({ kind }) => kind === 'control-plane')
  const ordered = [...planes.filter(({ name }) => !leads(name)), ...planes.filter(({ name }) => leads(name))]
  return [
    ...(planes.length === 0 ? [] : backup(store, target)),
    ...ordered.map(({ name }) => ({
      what: `Control plane ${name}${planes.length > 1 && leads(name) ? ', which leads' : ''}. Nodes forward meanwhile.`,
      commands: [install('spout-control-plane', target), 'spout node list'],
    })),
    ...due
      .filter(({ kind }) => kind === 'node')
      .map(({ name }) => ({
        what: `Node ${name}. Go on once it is connected and in sync.`,
        commands: [install('spout-node', target), `spout node show ${name}`],
      })),
    ...due
      .filter(({ kind }) => kind === 'connector')
      .map(({ name }) => ({ what: `Connector ${name}.`, commands: [install('spout-connector', target)] })),
  ]
}

const install = (name: string, version: string): string =>
  `# apt-get install ./spout_${version}_*.deb ./${name}_${version}_*.deb`

function backup(store: StoreFormat | null, target: string): readonly Step[] {
  if (store === null) return []
  const file = `spout-before-${target}`
  return [
    {
      what: 'Back up the store. Nodes forward meanwhile.',
      commands:
        store.engine === 'postgres'
          ? [`pg_dump --format=custom --file=${file}.dump spout`]
          : [
              '# systemctl stop spout-control-plane',
              `# tar -czf /root/${file}.tar.gz -C /var/lib/spout .`,
              '# systemctl start spout-control-plane',
            ],
    },
  ]
}
