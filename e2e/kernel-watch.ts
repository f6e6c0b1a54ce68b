import { readFileSync } from 'node:fs'
import { type Daemon, domainNamespaces, type Lab, must, NODES, waitFor } from '@spout/testkit'

/** Something that reports changes, and a change that leaves nothing behind. */
interface Monitor {
  readonly name: string
  readonly argv: readonly string[]
  /** What its report of a fence holds. */
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
    // Into a file it would otherwise write its first line when 4 KiB are full.
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
 * Listens to everything that is changed in the kernel on all nodes: nftables transactions, addresses, routes, rules and
 * links, in root namespaces and domains. Changes of its own before and after are a fence, so that silence means that
 * nothing was changed and not that nothing was heard.
 */
export class KernelWatch {
  readonly #lab: Lab
  readonly #ears: readonly Ear[]

  private constructor(lab: Lab, ears: readonly Ear[]) {
    this.#lab = lab
    this.#ears = ears
  }

  /** @param name of the occasion: its logs are called so */
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

  /** Ends the listening; what was changed meanwhile, a line each. */
  async stop(): Promise<readonly string[]> {
    return (await this.#transactions()).flat()
  }

  /**
   * Ends the listening; what somebody took away and did not put back in the same transaction, so that packets could miss it.
   * The marks of generations are left out: they say which change was the last.
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

  /** The changes of each nftables transaction, and each of the others alone. */
  async #transactions(): Promise<readonly (readonly string[])[]> {
    await this.#fence('end')
    for (const { daemon } of this.#ears) await this.#lab.stop(daemon)
    return this.#ears.flatMap(({ namespace, monitor, daemon }) => {
      const text = readFileSync(daemon.logFile, 'utf8')
      const between = text.slice(text.lastIndexOf(monitor.mark('begin')), text.indexOf(monitor.mark('end')))
      const [, ...lines] = between.split('\n').slice(0, -1)
      const transactions: string[][] = [[]]
      // nft tells the generation at the end of its transaction.
      for (const line of lines)
        if (line.startsWith('# new generation')) transactions.push([])
        else if (!line.includes(monitor.mark('begin'))) {
          transactions.at(-1)!.push(`${namespace}: ${line}`)
          if (monitor.name !== 'nft') transactions.push([])
        }
      return transactions
    })
  }

  /** Repeats the change until it is heard: a monitor that was just started listens a moment later. */
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
