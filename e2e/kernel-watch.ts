import { readFileSync } from 'node:fs'
import { type Daemon, domainNamespaces, type Lab, must, NODES, waitFor } from '@spout/testkit'

/** A program that reports changes, and a change for it that leaves nothing behind. */
interface Monitor {
  readonly name: string
  readonly argv: readonly string[]
  /** Text in its report of the fence. */
  readonly mark: (side: Side) => string
  readonly fence: (side: Side) => readonly (readonly string[])[]
}

type Side = 'begin' | 'end'

const FENCE_ADDRESS = { begin: '192.0.2.254', end: '192.0.2.255' } as const
const fenceRoute = (change: string, side: Side) => [
  'ip',
  'route',
  change,
  'blackhole',
  FENCE_ADDRESS[side],
  'table',
  '4242',
]

const MONITORS: readonly Monitor[] = [
  {
    name: 'nft',
    // Into a file it would otherwise write its first line only after 4 KiB.
    argv: ['stdbuf', '-oL', 'nft', 'monitor'],
    mark: (side) => `table inet fence-${side}`,
    fence: (side) => [['nft', `add table inet fence-${side}; delete table inet fence-${side}`]],
  },
  {
    name: 'ip',
    argv: ['ip', 'monitor', 'address', 'route', 'rule', 'link'],
    mark: (side) => `blackhole ${FENCE_ADDRESS[side]}`,
    fence: (side) => [fenceRoute('replace', side), fenceRoute('delete', side)],
  },
]

interface Ear {
  readonly namespace: string
  readonly monitor: Monitor
  readonly daemon: Daemon
}

/**
 * Records every kernel change on all nodes: nftables transactions, addresses, routes, rules and links, in root
 * namespaces and domains. Its own changes before and after are a fence, so that an empty record means that nothing
 * changed, not that nothing was recorded.
 */
export class KernelWatch {
  readonly #lab: Lab
  readonly #ears: readonly Ear[]

  private constructor(lab: Lab, ears: readonly Ear[]) {
    this.#lab = lab
    this.#ears = ears
  }

  /** @param name prefix of its log files */
  static async start(lab: Lab, name: string): Promise<KernelWatch> {
    const namespaces = NODES.flatMap((node) => [lab.namespace(node), ...domainNamespaces(lab, node)])
    const ears: Ear[] = []
    for (const namespace of namespaces)
      for (const monitor of MONITORS) {
        const argv = inNamespace(namespace, monitor.argv)
        ears.push({ namespace, monitor, daemon: await lab.start('host', `${name}-${monitor.name}-${namespace}`, argv) })
      }
    const watch = new KernelWatch(lab, ears)
    await watch.#fence('begin')
    return watch
  }

  /** Stops recording. @returns the changes, one per line */
  async stop(): Promise<readonly string[]> {
    return (await this.#transactions()).flat()
  }

  /**
   * Stops recording. @returns what was removed and not restored in the same transaction, so that packets could miss it.
   * The marks of generations are left out: they only number the last change.
   */
  async stopAndTellLosses(): Promise<readonly string[]> {
    return (await this.#transactions()).flatMap((lines) => {
      const added = new Set(
        lines.map((line) => line.replace(': add ', ': delete ')).filter((line, at) => line !== lines[at]),
      )
      return lines.filter(
        (line) => / delete |: Deleted /.test(line) && !line.includes(' generation ') && !added.has(line),
      )
    })
  }

  /** The changes of each nftables transaction together, and each other change alone. */
  async #transactions(): Promise<readonly (readonly string[])[]> {
    await this.#fence('end')
    for (const { daemon } of this.#ears) await this.#lab.stop(daemon)
    return this.#ears.flatMap(({ namespace, monitor, daemon }) => {
      const text = readFileSync(daemon.logFile, 'utf8')
      const between = text.slice(text.lastIndexOf(monitor.mark('begin')), text.indexOf(monitor.mark('end')))
      const [, ...lines] = between.split('\n').slice(0, -1)
      const transactions: string[][] = [[]]
      // nft prints the generation at the end of its transaction.
      for (const line of lines)
        if (line.startsWith('# new generation')) transactions.push([])
        else if (!line.includes(monitor.mark('begin'))) {
          transactions.at(-1)!.push(`${namespace}: ${line}`)
          if (monitor.name !== 'nft') transactions.push([])
        }
      return transactions
    })
  }

  /** Repeats the change until it is recorded: a monitor that was just started listens a moment later. */
  async #fence(side: Side): Promise<void> {
    for (const { namespace, monitor, daemon } of this.#ears)
      await waitFor(
        async () => {
          for (const command of monitor.fence(side)) await must(inNamespace(namespace, command))
          return readFileSync(daemon.logFile, 'utf8').includes(monitor.mark(side))
        },
        { what: `the ${monitor.name} monitor of ${namespace} to hear its fence` },
      )
  }
}

const inNamespace = (namespace: string, argv: readonly string[]): readonly string[] => [
  'nsenter',
  `--net=/run/netns/${namespace}`,
  '--',
  ...argv,
]
