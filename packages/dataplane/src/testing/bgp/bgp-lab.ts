import { mkdtemp, rm } from 'node:fs/promises'
import type { BgpPeerSettings, BgpSettings } from '@spout/model/node-state'
import { systemClock } from '@spout/runtime'
import { NativeHelper } from '@spout/sys'
import { BgpAnnouncer } from '../../announcers/bgp/bgp-announcer.ts'
import type { Announcement } from '../../contracts/announcer.ts'
import { run } from '../../domain/run.ts'
import { addAddress } from '../arrangement.ts'
import { labPrefix } from '../lab-names.ts'
import { HELPER_PATH, silent } from '../lab-node.ts'
import { Peer } from '../peer-client.ts'
import { BgpRouter, type BgpRouterOptions, type RouterNeighbor } from './bgp-router.ts'

export const NODE_AS = 64_512
export const ROUTER_AS = 64_500
export const ROUTER = { address: '10.9.0.254', address6: 'fd09::fe' } as const
export const PEER_ID = '0b8f2f6e-7f0c-4c57-9d35-6c1c9a0f5d01'
export const VIP_PORT = 8080

/** The session with the router as the model would have it, but for what a test says. */
export const peerSettings = (own: Partial<BgpPeerSettings> = {}): BgpPeerSettings => ({
  id: PEER_ID,
  address: ROUTER.address,
  port: 179,
  as: ROUTER_AS,
  sourceAddress: null,
  hops: 1,
  md5Secret: null,
  holdTimeS: 9,
  keepaliveTimeS: 3,
  connectRetryS: 1,
  families: ['ipv4', 'ipv6'],
  bfd: null,
  gracefulRestartS: 30,
  prefixLimit: 10,
  ...own,
})

export const PLAIN = {
  number: 1,
  communities: [],
  localPreference: null,
  med: null,
  aggregateLength4: null,
  aggregateLength6: null,
  peerIds: null,
} as const

export const settingsOf = (node: number, own: Partial<BgpSettings> = {}): BgpSettings => ({
  routerId: `10.9.0.${node}`,
  localAs: NODE_AS,
  peers: [peerSettings()],
  advertisements: [PLAIN],
  drain: 'none',
  ...own,
})

export const announcement = (address: string, advertisement = 1): Announcement => ({
  address,
  scope: 'fabric',
  domain: 1,
  by: { via: 'bgp', advertisement, policy: 'always', shard: null },
})

/** The router's side of the session with a node. */
export const neighborOf = (node: number, own: Partial<RouterNeighbor> = {}): RouterNeighbor => ({
  name: `node${node}`,
  address: `10.9.0.${node}`,
  as: NODE_AS,
  ...own,
})

/**
 * Nodes behind a router:
 *
 *   client ──────── router ── fabric ─┬─ node1 10.9.0.1
 *   203.0.113.10    10.9.0.254        └─ node2 10.9.0.2, ...
 *
 * and the same in IPv6 under fd09::/64 and fd0c::/64. Each node serves on port 8080 of whatever address is its own.
 */
export class BgpLab implements AsyncDisposable {
  readonly prefix = labPrefix()
  readonly directory: string
  readonly helper: NativeHelper
  readonly nodes: readonly number[]
  readonly #announcers = new Map<number, BgpAnnouncer>()
  readonly #peers = new Map<string, Peer>()
  #router: BgpRouter | null = null

  private constructor(directory: string, helper: NativeHelper, nodes: number) {
    this.directory = directory
    this.helper = helper
    this.nodes = Array.from({ length: nodes }, (_, index) => index + 1)
  }

  static async create(nodes = 2): Promise<BgpLab> {
    const helper = await NativeHelper.start({ path: HELPER_PATH, log: silent })
    const directory = await mkdtemp('/run/spout-bgp-')
    // The daemons' user passes through.
    await run('chmod', ['711', directory])
    const lab = new BgpLab(directory, helper, nodes)
    try {
      await lab.#make()
    } catch (error) {
      await lab[Symbol.asyncDispose]()
      throw error
    }
    return lab
  }

  namespace(place: string): string {
    return `${this.prefix}-${place}`
  }

  run(place: string, command: string): Promise<string> {
    return run('ip', ['netns', 'exec', this.namespace(place), ...command.split(' ')])
  }

  get router(): BgpRouter {
    if (this.#router === null) throw new Error('no router runs')
    return this.#router
  }

  get client(): Peer {
    return this.peer('client')
  }

  peer(place: string): Peer {
    const peer = this.#peers.get(place)
    if (peer === undefined) throw new Error(`no peer ${place}`)
    return peer
  }

  async startRouter(
    neighbors: readonly RouterNeighbor[],
    own: Partial<Pick<BgpRouterOptions, 'ecmp' | 'announces' | 'as'>> = {},
  ): Promise<BgpRouter> {
    await this.#router?.stop()
    this.#router = await BgpRouter.start({
      namespace: this.namespace('router'),
      directory: `${this.directory}/router`,
      as: ROUTER_AS,
      routerId: ROUTER.address,
      ecmp: 'multipath',
      neighbors,
      ...own,
    })
    return this.#router
  }

  /** The announcer of a node as an agent that has just started has it. The one before lets go of everything. */
  async announcer(node: number, own: { readonly executable?: string } = {}): Promise<BgpAnnouncer> {
    await this.#announcers.get(node)?.close()
    const announcer = new BgpAnnouncer({
      config: {
        instance: 'bgp',
        fabricInterface: 'fab0',
        segments: {},
        rootNamespace: this.namespace(`node${node}`),
      },
      helper: this.helper,
      log: silent,
      clock: systemClock,
      runDirectory: `${this.directory}/n${node}`,
      leftoversGraceMs: 0,
      ...own,
    })
    this.#announcers.set(node, announcer)
    return announcer
  }

  /** Cuts or mends the cable between a place and the fabric's switch. */
  async cable(place: string, state: 'down' | 'up'): Promise<void> {
    await run('ip', ['-n', this.namespace('switch'), 'link', 'set', 'dev', `${place}-fab0`, state])
  }

  /** A `disabled` port of the fabric's switch drops all frames. Both ends of its cable still have a carrier. */
  async port(place: string, state: 'disabled' | 'forwarding'): Promise<void> {
    await this.run('switch', `bridge link set dev ${place}-fab0 state ${state}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#router?.stop()
    for (const announcer of this.#announcers.values()) {
      await announcer.configure(null, new AbortController().signal).catch(() => undefined)
      await announcer.close()
    }
    await Promise.all(Array.from(this.#peers.values(), (peer) => peer.stop()))
    await this.helper.close()
    const names = (await run('ip', ['netns', 'list'])).split('\n').map((line) => line.split(' ')[0] ?? '')
    for (const name of names.filter((name) => name.startsWith(`${this.prefix}-`)))
      await run('ip', ['netns', 'delete', name])
    await rm(this.directory, { recursive: true, force: true })
  }

  async #make(): Promise<void> {
    const nodes = this.nodes.map((node) => `node${node}`)
    for (const host of ['switch', 'router', 'client', ...nodes]) {
      await run('ip', ['netns', 'add', this.namespace(host)])
      await this.run(host, 'sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.dad_transmits=0')
      await run('ip', ['-n', this.namespace(host), 'link', 'set', 'dev', 'lo', 'up'])
    }
    await this.#batch('switch', ['link add name fabric type bridge forward_delay 0', 'link set dev fabric up'])
    await this.#join('router', '10.9.0.254/24', 'fd09::fe/64')
    for (const node of this.nodes) await this.#join(`node${node}`, `10.9.0.${node}/24`, `fd09::${node}/64`)
    await this.#batch('router', [
      `link add name cl0 type veth peer name eth0 netns ${this.namespace('client')}`,
      'address add 203.0.113.1/24 dev cl0',
      'address add fd0c::1/64 dev cl0 nodad',
      'link set dev cl0 up',
    ])
    await this.#batch('client', [
      'address add 203.0.113.10/24 dev eth0',
      'address add fd0c::10/64 dev eth0 nodad',
      'link set dev eth0 up',
      'route add default via 203.0.113.1',
      'route add ::/0 via fd0c::1',
    ])
    for (const node of nodes)
      await this.#batch(node, ['route add default via 10.9.0.254', 'route add ::/0 via fd09::fe'])
    for (const host of ['client', ...nodes]) this.#peers.set(host, new Peer(this.namespace(host), host))
    for (const node of nodes) await this.peer(node).serve(VIP_PORT)
  }

  async #join(host: string, ...addresses: readonly string[]): Promise<void> {
    await this.#batch('switch', [
      `link add name ${host}-fab0 type veth peer name fab0 netns ${this.namespace(host)}`,
      `link set dev ${host}-fab0 master fabric`,
      `link set dev ${host}-fab0 up`,
    ])
    await this.#batch(host, ['link set dev fab0 up', ...addresses.map((address) => addAddress(address, 'fab0'))])
  }

  async #batch(host: string, lines: readonly string[]): Promise<void> {
    await run('ip', ['-n', this.namespace(host), '-batch', '-'], lines.join('\n'))
  }
}
