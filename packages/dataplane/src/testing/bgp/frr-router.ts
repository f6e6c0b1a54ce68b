import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pause, systemClock } from '@spout/runtime'
import { runIn } from '@spout/sys'
import { run } from '../../domain/run.ts'

const DIRECTORY = '/usr/lib/frr'
const READY_WITHIN_MS = 20_000

/** Whether Debian's package `frr` is there. Nothing else needs it, so the workbench does not install it. */
export const frrIsInstalled = (): boolean => existsSync(join(DIRECTORY, 'bgpd'))

export interface FrrRouterOptions {
  /** Network namespace by name; its links and addresses are somebody else's. Forwarding is switched on in it. */
  readonly namespace: string
  /** Made, and removed by `stop`. */
  readonly directory: string
  readonly as: number
  readonly routerId: string
  readonly neighbors: readonly { readonly address: string; readonly as: number }[]
  readonly bfd: { readonly intervalMs: number; readonly multiplier: number }
}

interface KernelRoute {
  readonly gateway?: string
  readonly nexthops?: readonly { readonly gateway?: string }[]
}

/** A router by FRR instead of BIRD: zebra, bfdd and bgpd in a namespace, with ECMP in the kernel. IPv4 alone. */
export class FrrRouter {
  readonly #options: FrrRouterOptions
  readonly #daemons: readonly ChildProcess[]

  private constructor(options: FrrRouterOptions, daemons: readonly ChildProcess[]) {
    this.#options = options
    this.#daemons = daemons
  }

  static async start(options: FrrRouterOptions): Promise<FrrRouter> {
    const { namespace, directory } = options
    const settings = ['net.ipv4.ip_forward=1', 'net.ipv4.fib_multipath_hash_policy=1', 'net.ipv4.conf.all.rp_filter=0']
    await runIn(namespace, ['sysctl', '-qw', ...settings])
    await mkdir(directory, { recursive: true })
    await run('chown', ['frr:frr', directory])
    const daemons: ChildProcess[] = []
    const router = new FrrRouter(options, daemons)
    for (const [name, text] of [
      ['zebra', ''],
      ['bfdd', renderBfdd(options)],
      ['bgpd', renderBgpd(options)],
    ] as const) {
      const config = join(directory, `${name}.conf`)
      await writeFile(config, text, { mode: 0o644 })
      const words = [
        ...['-f', config, '-i', join(directory, `${name}.pid`), '-z', join(directory, 'zserv.api')],
        ...['--vty_socket', directory, '-P', '0', '--log', `file:${join(directory, 'log')}`],
        ...(name === 'bfdd' ? ['--bfdctl', join(directory, 'bfdd.sock')] : []),
      ]
      const argv = ['netns', 'exec', namespace, join(DIRECTORY, name), ...words]
      daemons.push(spawn('ip', argv, { stdio: 'ignore' }))
      // What asks bfdd for a session before it is there is not heard.
      const files = [`${name}.vty`, ...(name === 'zebra' ? ['zserv.api'] : [])]
      for (const file of files) await appears(join(directory, file)).catch((error) => router.#fail(error))
    }
    return router
  }

  /** Next hops of the prefix in the kernel, sorted; empty when it has no such route. */
  async nextHops(prefix: string): Promise<readonly string[]> {
    const text = await runIn(this.#options.namespace, ['ip', '-json', 'route', 'show', prefix])
    const rows = JSON.parse(text || '[]') as readonly KernelRoute[]
    return rows.flatMap((row) => (row.nexthops ?? [row]).flatMap(({ gateway }) => gateway ?? [])).toSorted()
  }

  async #fail(error: unknown): Promise<never> {
    await this.stop()
    throw error
  }

  async stop(): Promise<void> {
    for (const daemon of this.#daemons.toReversed()) {
      if (daemon.exitCode !== null || daemon.signalCode !== null) continue
      const gone = once(daemon, 'exit')
      daemon.kill('SIGTERM')
      await gone
    }
    await rm(this.#options.directory, { recursive: true, force: true })
  }
}

async function appears(file: string): Promise<void> {
  const deadline = systemClock.monotonicMs() + READY_WITHIN_MS
  while (!existsSync(file)) {
    if (systemClock.monotonicMs() >= deadline) throw new Error(`FRR does not begin: there is no ${file}`)
    await pause(systemClock, 20)
  }
}

const renderBfdd = ({ bfd }: FrrRouterOptions): string =>
  [
    'bfd',
    ' profile lab',
    `  detect-multiplier ${bfd.multiplier}`,
    `  transmit-interval ${bfd.intervalMs}`,
    `  receive-interval ${bfd.intervalMs}`,
    '',
  ].join('\n')

const renderBgpd = ({ as, routerId, neighbors }: FrrRouterOptions): string =>
  [
    `router bgp ${as}`,
    ` bgp router-id ${routerId}`,
    // RFC 8212 would have it take nothing without a policy.
    ' no bgp ebgp-requires-policy',
    ' timers bgp 3 9',
    ...neighbors.flatMap((neighbor) => [
      ` neighbor ${neighbor.address} remote-as ${neighbor.as}`,
      ` neighbor ${neighbor.address} timers connect 1`,
      ` neighbor ${neighbor.address} graceful-restart-helper`,
      ` neighbor ${neighbor.address} bfd profile lab`,
    ]),
    ' address-family ipv4 unicast',
    '  maximum-paths 16',
    ' exit-address-family',
    '',
  ].join('\n')
