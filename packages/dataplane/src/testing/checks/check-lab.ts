import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createNetns, deleteNetns, ensureVeth, NativeHelper, netnsPath, runIn } from '@spout/sys'
import { labPrefix } from '../lab-names.ts'
import { HELPER_PATH, silent } from '../lab-node.ts'
import { startServers } from '../server-process.ts'
import { PORTS } from './ports.ts'
import { sctpServers } from './sctp-servers.ts'

/** The domain of the lab, and one that is not there. */
export const DOMAIN = 7
export const NO_DOMAIN = 8

/** Where the host is, where nobody is, and where no route leads. */
export const ADDRESSES = {
  4: { host: '10.0.0.11', absent: '10.0.0.99', unroutable: '203.0.113.1' },
  6: { host: 'fd01::11', absent: 'fd01::99', unroutable: '2001:db8::1' },
} as const

const SEGMENT = 'segment'

/** A domain's namespace that the native helper probes from, and a host on its segment with something on each of `PORTS`. */
export class CheckLab {
  readonly #prefix = labPrefix()
  #helper: NativeHelper | null = null
  readonly #servers: ChildProcess[] = []

  private constructor() {}

  static async create(): Promise<CheckLab> {
    const lab = new CheckLab()
    try {
      await lab.#build()
      return lab
    } catch (error) {
      await lab.end()
      throw error
    }
  }

  get helper(): NativeHelper {
    if (this.#helper === null) throw new Error('the lab has ended')
    return this.#helper
  }

  readonly place = (domain: number): string => netnsPath(this.#domain(domain))

  async end(): Promise<void> {
    await this.#helper?.close()
    for (const server of this.#servers) if (server.kill('SIGKILL')) await once(server, 'exit')
    await deleteNetns(this.#domain(DOMAIN))
    await deleteNetns(this.#host)
  }

  #domain(number: number): string {
    return `${this.#prefix}-d${number}`
  }

  get #host(): string {
    return `${this.#prefix}-host`
  }

  async #build(): Promise<void> {
    const [domain, host] = [this.#domain(DOMAIN), this.#host]
    await createNetns(domain)
    await createNetns(host)
    await ensureVeth({ netns: domain, name: SEGMENT }, { netns: host, name: SEGMENT })
    for (const [netns, last] of [
      [domain, '1'],
      [host, '11'],
    ] as const) {
      await runIn(netns, ['ip', 'address', 'add', `10.0.0.${last}/24`, 'dev', SEGMENT])
      await runIn(netns, ['ip', 'address', 'add', `fd01::${last}/64`, 'dev', SEGMENT, 'nodad'])
    }
    // Else it gives an address that nobody has up after three seconds, and connections to it fail before their time is over.
    const patient = ['ipv4', 'ipv6'].map((family) => `net.${family}.neigh.${SEGMENT}.mcast_solicit=60`)
    await runIn(domain, ['sysctl', '-qw', ...patient])
    const program = fileURLToPath(new URL('./servers.ts', import.meta.url))
    // The same ports over SCTP: all take up associations but the one where nobody listens.
    const manners = Object.values(PORTS).map((port) => [port, port === PORTS.none ? 'refusing' : 'accepting'] as const)
    const programs = [[process.execPath, program], sctpServers(Object.fromEntries(manners))]
    for (const argv of programs)
      this.#servers.push(await startServers(['nsenter', `--net=${netnsPath(host)}`, '--', ...argv]))
    this.#helper = await NativeHelper.start({ path: HELPER_PATH, log: silent })
  }
}
