import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { VrrpSettings } from '@spout/model/node-state'
import { netnsPath } from '@spout/sys'
import type { ShardReport } from '../../announcers/vrrp/shard-report.ts'
import type { Announcement } from '../../contracts/announcer.ts'
import { run } from '../../domain/run.ts'
import { Arrangement } from '../arrangement.ts'
import { neighboursStay } from './neighbours-stay.ts'
import { areSpread } from './spread.ts'
import { pairSettings, VrrpNode } from './vrrp-node.ts'

const ADVERTISE = fileURLToPath(new URL('advertise.py', import.meta.url))
const signal = new AbortController().signal

/** Of shard 1, which node1 is the first of, and of shard 2, which node2 is. */
export const PAIR_ADDRESSES = ['10.9.0.201', '10.9.0.202'] as const
const WANTED = PAIR_ADDRESSES.map(
  (address, index): Announcement => ({ address, scope: 'fabric', domain: 1, by: { via: 'vrrp', shard: index + 1 } }),
)

/**
 * With priorities as they are dealt: next to each other. Patient: a machine that is shared with others may stand still for
 * half a second, and then a node that says that nothing moved would be wrong.
 */
export const closeSettings = (node: 1 | 2, fields: Partial<VrrpSettings> = {}): VrrpSettings => {
  const settings = pairSettings(node)
  const shards = settings.shards.map((shard) => ({ ...shard, priority: shard.number === node ? 254 : 253 }))
  return { ...settings, shards, missedAdverts: 50, ...fields }
}

/** Two nodes with two shards, and a client beside them, for what goes wrong between them. */
export class VrrpPair implements AsyncDisposable {
  readonly lab: Arrangement
  readonly first: VrrpNode
  readonly second: VrrpNode

  private constructor(lab: Arrangement, first: VrrpNode, second: VrrpNode) {
    this.lab = lab
    this.first = first
    this.second = second
  }

  static async create(): Promise<VrrpPair> {
    const lab = await Arrangement.create()
    await neighboursStay(lab, 'client')
    return new VrrpPair(lab, new VrrpNode(lab, 'node1'), new VrrpNode(lab, 'node2'))
  }

  get nodes(): readonly [VrrpNode, VrrpNode] {
    return [this.first, this.second]
  }

  /** New agents on both nodes, with the same settings and addresses. Wait until they are `spread`. */
  async begin(): Promise<void> {
    await Promise.all(
      this.nodes.map(async (node, index) => {
        await node.startAgent()
        await node.announcer.configure(closeSettings(index === 0 ? 1 : 2), signal)
        node.announcer.setHealthy(true, '')
        await node.announcer.apply(WANTED, signal)
      }),
    )
  }

  spread(): Promise<boolean> {
    return areSpread(this.nodes)
  }

  states(node: VrrpNode): readonly ShardReport['state'][] {
    return node.announcer.shards().map(({ state }) => state)
  }

  shard(node: VrrpNode, number: number): ShardReport {
    return node.announcer.shards().find(({ shard }) => shard === number)!
  }

  /** How often the nodes became master of a shard, all together. */
  takeovers(number: number): number {
    return this.nodes.reduce((sum, node) => sum + this.shard(node, number).takeovers, 0)
  }

  /** What each node says of a shard, for whoever wants to know why it moved. */
  account(number: number): Readonly<Record<'first' | 'second', ShardReport>> {
    return { first: this.shard(this.first, number), second: this.shard(this.second, number) }
  }

  /** Each shard's state on each node, since when and why: the same text says that nothing moved. */
  moves(): string {
    const told = ({ state, since, lastMove }: ShardReport) => [state, since, lastMove?.reason]
    return JSON.stringify(this.nodes.map((node) => node.announcer.shards().map(told)))
  }

  reach(address: string): Promise<string> {
    return this.lab.run('client', `ping -c 1 -W 2 ${address}`)
  }

  mac(node: VrrpNode): Promise<string> {
    return this.lab.run(node.place, 'cat /sys/class/net/fab0/address').then((text) => text.trim())
  }

  /** The MAC that the client turns to for an address. */
  async neighbour(address: string): Promise<string> {
    const shown = await this.lab.run('client', `ip -j neigh show to ${address}`)
    return /"lladdr":"([0-9a-f:]+)"/.exec(shown)?.[1] ?? ''
  }

  /** Sends an advert (RFC 5798 section 5.1) as a node's keepalived would. */
  advertise(from: VrrpNode, advert: { readonly routerId: number; readonly priority: number; readonly to: string }) {
    const words = [advert.to, advert.routerId, advert.priority].map(String)
    return run('nsenter', [`--net=${netnsPath(this.lab.namespace(from.place))}`, 'python3', ADVERTISE, ...words])
  }

  /** The cable between a node and the fabric. */
  cable(node: VrrpNode, state: 'down' | 'up'): Promise<string> {
    return run('ip', ['-n', this.lab.namespace('switch'), 'link', 'set', 'dev', `${node.place}-fab0`, state])
  }

  /** Whether the switch passes frames of a port: spanning tree makes one that just came up wait. */
  forward(node: VrrpNode, passes: boolean): Promise<string> {
    const words = passes ? ['master', 'fabric'] : ['nomaster']
    return run('ip', ['-n', this.lab.namespace('switch'), 'link', 'set', 'dev', `${node.place}-fab0`, ...words])
  }

  async pid(node: VrrpNode, file: 'keepalived.pid' | 'vrrp.pid'): Promise<number> {
    return Number(await readFile(`${node.directory}/${file}`, 'utf8'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.nodes) await node.end()
    await this.lab[Symbol.asyncDispose]()
  }
}
