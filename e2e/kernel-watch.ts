import { readFileSync } from 'node:fs'
import { type Daemon, type Lab, must, NODES, waitFor } from '@spout/testkit'
import { domainNamespaces } from './node-processes.ts'

interface Ear {
  readonly namespace: string
  readonly what: 'nft' | 'ip'
  readonly daemon: Daemon
}

/**
 * Listens to everything that is changed in the kernel on all nodes: nftables transactions, addresses, routes, rules and
 * links, in root namespaces and domains. Changes of its own before and after are the fence, so that silence means that
 * nothing was changed and not that nothing was heard.
 */
export class KernelWatch {
  readonly #lab: Lab
  readonly #ears: readonly Ear[]

  private constructor(lab: Lab, ears: readonly Ear[]) {
    this.#lab = lab
    this.#ears = ears
  }

  static async start(lab: Lab): Promise<KernelWatch> {
    const namespaces = NODES.flatMap((node) => [lab.namespace(node), ...domainNamespaces(lab, node)])
    const ears: Ear[] = []
    for (const namespace of namespaces)
      for (const what of ['nft', 'ip'] as const) {
        const command = what === 'nft' ? ['nft', 'monitor'] : ['ip', 'monitor', 'address', 'route', 'rule', 'link']
        const argv = ['nsenter', `--net=/run/netns/${namespace}`, '--', 'stdbuf', '-oL', ...command]
        ears.push({ namespace, what, daemon: await lab.start('host', `${what}-monitor-${namespace}`, argv) })
      }
    const watch = new KernelWatch(lab, ears)
    await watch.#fence('begin')
    return watch
  }

  /** Ends the listening; what was changed meanwhile, a line each. */
  async stop(): Promise<readonly string[]> {
    await this.#fence('end')
    for (const { daemon } of this.#ears) await this.#lab.stop(daemon)
    return this.#ears.flatMap(({ namespace, daemon }) => {
      const text = readFileSync(daemon.logFile, 'utf8')
      const between = text.slice(text.lastIndexOf('spout-begin'), text.lastIndexOf(FENCE.end))
      return between
        .split('\n')
        .filter((line) => line !== '' && !/spout-(begin|end)|# new generation|192\.0\.2\.25[45]/.test(line))
        .map((line) => `${namespace}: ${line}`)
    })
  }

  /** Repeats the change until it is heard: a monitor that just started listens a moment later. */
  async #fence(side: keyof typeof FENCE): Promise<void> {
    for (const { namespace, what, daemon } of this.#ears)
      await waitFor(
        async () => {
          await must(what === 'nft' ? nftFence(namespace, side) : ipFence(namespace, side))
          return readFileSync(daemon.logFile, 'utf8').includes(what === 'nft' ? `spout-${side}` : FENCE[side])
        },
        { what: `the ${what} monitor of ${namespace} to hear its fence` },
      )
  }
}
