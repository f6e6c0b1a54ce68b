import type { Announcement } from '../../contracts/announcer.ts'
import type { WantedEntry } from '../../contracts/driver.ts'
import { Arrangement } from '../arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../entries.ts'
import { LabNode } from '../lab-node.ts'
import type { Peer } from '../peer-client.ts'

const signal = new AbortController().signal

const red = domainEntry(1)
const onOther = domainEntry(1, {
  subnets: red.subnets.map((each) => ({ ...each, nodeAddress: each.nodeAddress.replace('250', '251') })),
})

export interface OpenFlow {
  readonly address: string
  readonly sourcePort: number
  readonly connection: number
}

/**
 * Two nodes that serve a VIP of each family to members red1 and red2 with return path `gateway`: requests and replies
 * move between them, together or apart, so that a test says whose packet a node sees first.
 */
export class TwoNodes implements AsyncDisposable {
  readonly lab: Arrangement
  readonly first: LabNode
  readonly second: LabNode
  readonly entry: WantedEntry
  readonly #addresses: readonly Announcement[]

  private constructor(lab: Arrangement, first: LabNode, second: LabNode, entry: WantedEntry) {
    this.lab = lab
    this.first = first
    this.second = second
    this.entry = entry
    this.#addresses = entry.entry.vips.map(({ address }) => {
      return { address, scope: 'fabric', domain: 1, by: { via: 'l2' } }
    })
  }

  static async create(): Promise<TwoNodes> {
    const lab = await Arrangement.create()
    const first = await LabNode.start(lab, 'node1')
    const second = await LabNode.start(lab, 'node2')
    const members = ['10.0.0.11', '10.0.0.12', 'fd01::11', 'fd01::12'].map((address, at) => member(`m${at}`, address))
    const entry = wanted('t', red, {
      vips: [vip('10.9.0.140'), vip('fd09::140')],
      services: [service('l1', 80, 5)],
      pools: [pool(5, members)],
    })
    const both = new TwoNodes(lab, first, second, entry)
    try {
      for (const node of [first, second]) {
        await node.domains.adopt([])
        await both.#hold(node, false)
        await both.put(node, entry)
      }
      return both
    } catch (error) {
      await both[Symbol.asyncDispose]()
      throw error
    }
  }

  get client(): Peer {
    return this.lab.peer('client')
  }

  async put(node: LabNode, entry: WantedEntry): Promise<void> {
    const [applied] = await node.driver.apply({ put: [entry], remove: [] }, signal)
    if (applied?.state !== 'programmed') throw new Error(`not programmed: ${applied?.message}`)
  }

  /** Replies first: what a member says meets the new node before any request does. */
  async moveReplies(to: LabNode): Promise<void> {
    await this.#hold(this.#other(to), false)
    await this.#hold(to, true)
  }

  async moveRequests(to: LabNode): Promise<void> {
    await this.#announce(this.#other(to), false)
    await this.#announce(to, true)
  }

  /** A connection to each address, each from a port of its own. */
  openFrom(port: number): Promise<readonly OpenFlow[]> {
    return Promise.all(
      this.#addresses.map(async ({ address }, at) => {
        const sourcePort = port + at
        const { connection, line } = await this.client.open(address, 80, { sourcePort })
        if (!/^red[12] /.test(line)) throw new Error(`${address} from port ${sourcePort}: ${line}`)
        return { address, sourcePort, connection }
      }),
    )
  }

  /** Who began the TCP flows of these ports that the node tracks, in this state or any: their sources. */
  async trackedBy(node: LabNode, opened: readonly OpenFlow[], state?: 'SYN_SENT'): Promise<readonly string[]> {
    const inState = state === undefined ? '' : ` --state ${state}`
    const lists = ['ipv4', 'ipv6'].map((family) => this.inDomain(node, `conntrack -L -p tcp -f ${family}${inState}`))
    const ports = new Set(opened.map(({ sourcePort }) => String(sourcePort)))
    return (await Promise.all(lists))
      .flatMap((list) => list.split('\n'))
      .filter((line) => Array.from(line.matchAll(/port=(\d+)/g)).some(([, port]) => ports.has(port!)))
      .map((line) => / src=(\S+)/.exec(line)![1]!)
      .sort()
  }

  inDomain(node: LabNode, command: string): Promise<string> {
    const place = node === this.first ? 'node1' : 'node2'
    return this.lab.run(place, `nsenter --net=${node.domains.netns(red.number)} ${command}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of [this.first, this.second]) await node.end([red.number])
    await this.lab[Symbol.asyncDispose]()
  }

  #other(node: LabNode): LabNode {
    return node === this.first ? this.second : this.first
  }

  /** Members reply through the node that holds their gateway. */
  async #hold(node: LabNode, isHeld: boolean): Promise<void> {
    const domain = node === this.first ? red : onOther
    const put = [{ ...domain, gateway: isHeld ? ({ via: 'l2' } as const) : null }]
    const [applied] = await node.domains.apply({ put, remove: [] }, signal)
    if (applied?.state !== 'programmed') throw new Error(`not programmed: ${applied?.message}`)
  }

  async #announce(node: LabNode, isAnnounced: boolean): Promise<void> {
    const outcomes = await node.announcer.apply(isAnnounced ? this.#addresses : [], signal)
    const refused = outcomes.find(({ error }) => error !== null)
    if (refused !== undefined) throw new Error(`not announced: ${refused.error}`)
  }
}
