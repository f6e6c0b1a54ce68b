import { execOk } from '@spout/sys'
import { run } from '../domain/run.ts'
import { labInstance, labPrefix } from './lab-names.ts'
import { Peer } from './peer-client.ts'

/** Ports the members of the lab serve, over TCP and UDP. */
export const MEMBER_PORTS = [8080, 8081]

/** A quarter of a million packets take a while on a busy machine. */
const LONGEST_COMMAND_MS = 240_000

/** Of an `ip -batch`. Without `nodad` the kernel has an IPv6 address for use only some time after the command. */
export const addAddress = (address: string, link: string): string =>
  `address add ${address} dev ${link}${address.includes(':') ? ' nodad' : ''}`

/**
 * Two nodes between a fabric and two tenant segments whose members have the same addresses:
 *
 *   client ── fabric ─┬─ node1 ─┬─ red:  red1 10.0.0.11, red2 10.0.0.12, red9 10.0.0.99 (serves nothing)
 *    10.9.0.9         └─ node2 ─┴─ blue: blue1 10.0.0.11
 *
 * and the same in IPv6 under fd09::/64 and fd01::/64. Every switch is a bridge in one namespace.
 */
export class Arrangement implements AsyncDisposable {
  readonly prefix = labPrefix()
  readonly #peers = new Map<string, Peer>()
  readonly #instances = new Map<string, string>()

  private constructor() {}

  static async create(): Promise<Arrangement> {
    const arrangement = new Arrangement()
    try {
      await arrangement.#make()
    } catch (error) {
      await arrangement[Symbol.asyncDispose]()
      throw error
    }
    return arrangement
  }

  namespace(place: string): string {
    return `${this.prefix}-${place}`
  }

  /** Of the agents on a place: each new one finds what the one before left. */
  instanceOf(place: string): string {
    const instance = this.#instances.get(place) ?? labInstance()
    this.#instances.set(place, instance)
    return instance
  }

  peer(place: string): Peer {
    const peer = this.#peers.get(place)
    if (peer === undefined) throw new Error(`no peer ${place}`)
    return peer
  }

  /** A peer in a namespace that is not the arrangement's. */
  adopt(place: string, namespace: string): Peer {
    const peer = new Peer(namespace, place)
    this.#peers.set(place, peer)
    return peer
  }

  /** Runs a command in a place. */
  run(place: string, command: string): Promise<string> {
    const argv = ['ip', 'netns', 'exec', this.namespace(place), ...command.split(' ')] as const
    return execOk(argv, { timeoutMs: LONGEST_COMMAND_MS })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Array.from(this.#peers.values(), (peer) => peer.stop()))
    const names = (await run('ip', ['netns', 'list'])).split('\n').map((line) => line.split(' ')[0] ?? '')
    for (const name of names.filter((name) => name.startsWith(`${this.prefix}-`)))
      await run('ip', ['netns', 'delete', name])
  }

  async #make(): Promise<void> {
    const hosts = ['switch', 'client', 'node1', 'node2', 'red1', 'red2', 'red9', 'blue1']
    for (const host of hosts) {
      await run('ip', ['netns', 'add', this.namespace(host)])
      await this.run(host, 'sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.dad_transmits=0')
    }
    const bridges = ['fabric', 'red', 'blue'].flatMap((name) => [
      `link add name ${name} type bridge`,
      `link set dev ${name} up`,
    ])
    await run('ip', ['-n', this.namespace('switch'), '-batch', '-'], bridges.join('\n'))
    await this.#join('client', 'eth0', 'fabric', '10.9.0.9/24', 'fd09::9/64')
    await run('ip', ['-n', this.namespace('client'), 'address', 'add', '10.9.0.10/24', 'dev', 'eth0'])
    for (const [node, last] of [
      ['node1', 1],
      ['node2', 2],
    ] as const) {
      await this.#join(node, 'fab0', 'fabric', `10.9.0.${last}/24`, `fd09::${last}/64`)
      await this.#join(node, 'red0', 'red')
      await this.#join(node, 'blue0', 'blue')
    }
    for (const [member, last] of [
      ['red1', 11],
      ['red2', 12],
      ['red9', 99],
      ['blue1', 11],
    ] as const) {
      const segment = member.startsWith('red') ? 'red' : 'blue'
      await this.#join(member, 'eth0', segment, `10.0.0.${last}/24`, `fd01::${last}/64`)
      const routes = 'route add 0.0.0.0/0 via 10.0.0.1\nroute add ::/0 via fd01::1'
      await run('ip', ['-n', this.namespace(member), '-batch', '-'], routes)
    }
    for (const host of hosts.filter((host) => !/switch|node/.test(host)))
      this.#peers.set(host, new Peer(this.namespace(host), host))
    for (const member of ['red1', 'red2', 'blue1']) for (const port of MEMBER_PORTS) await this.peer(member).serve(port)
  }

  async #join(host: string, link: string, bridge: string, ...addresses: readonly string[]): Promise<void> {
    const port = `${host}-${link}`
    const lines = [
      `link add name ${port} type veth peer name ${link} netns ${this.namespace(host)}`,
      `link set dev ${port} master ${bridge}`,
      `link set dev ${port} up`,
    ]
    await run('ip', ['-n', this.namespace('switch'), '-batch', '-'], lines.join('\n'))
    const inside = ['link set dev lo up', `link set dev ${link} up`, ...addresses.map((each) => addAddress(each, link))]
    await run('ip', ['-n', this.namespace(host), '-batch', '-'], inside.join('\n'))
  }
}
