import {
  endsTls,
  FABRIC_OF_GROUP,
  type GroupBgp,
  isProxied,
  type Kind,
  type ListenerProtocol,
  type ListenerTls,
  type LoadBalancer,
  type Network,
  type Node,
  type NodeGroup,
  type NodeReport,
  type ShardReport,
} from '@spout/model'
import { type ControlPlane, FEATURES } from './control-plane.ts'
import {
  advertisement,
  certificate,
  loadBalancer,
  network,
  node,
  pool,
  poolProtocolFor,
  securityGroup,
  uuid,
  vrrpGroup,
} from './model.ts'

export const NODES = [1, 2, 3] as const
export const GROUPS = [1, 2] as const
type GroupNumber = (typeof GROUPS)[number]
const GROUP_NAMES = { 1: 'default', 2: 'edge' }
export const EVERYTHING = [...FEATURES, 'dsr', FABRIC_OF_GROUP, 'l4.member-nodes']
export const SHARDS = [1, 2, 3] as const
export const SECURITY_GROUPS = [1] as const

/** Less than the silence after which a node counts as disconnected. */
const REPORT_EVERY_MS = 2000

export const NODE_IDS = NODES.map((number) => uuid('node', number))

/** A change in a cluster of two groups, three networks and up to three nodes. */
export type Change =
  | {
      readonly do: 'put load balancer'
      readonly number: number
      readonly network: number
      /** Used only when the load balancer is created: it never changes. */
      readonly group: GroupNumber | null
      readonly protocol: ListenerProtocol
      readonly connectionLimit: number | null
      readonly scope: 'fabric' | 'tenant'
      readonly addressPool: number
      readonly members: readonly string[]
      readonly securityGroups: readonly number[]
    }
  | { readonly do: 'delete load balancer'; readonly number: number }
  | { readonly do: 'put certificate'; readonly number: number; readonly version: number }
  | { readonly do: 'put security group'; readonly number: number; readonly sources: readonly string[] }
  | {
      readonly do: 'put node'
      readonly number: number
      readonly group: GroupNumber
      readonly scheduling: Node['scheduling']
    }
  | { readonly do: 'delete node'; readonly number: number }
  | { readonly do: 'put network'; readonly number: number; readonly returnPath: Network['returnPath'] }
  | {
      readonly do: 'put group'
      readonly number: GroupNumber
      readonly announcer: NodeGroup['announcer']
      readonly shards: number
      readonly policy: GroupBgp['policy']
      readonly fabric?: NodeGroup['fabric']
    }
  | { readonly do: 'put advertisement'; readonly number: number; readonly addressPools: readonly number[] | null }
  | { readonly do: 'delete advertisement'; readonly number: number }
  | { readonly do: 'report features'; readonly number: number; readonly features: readonly string[] }
  | { readonly do: 'report shards'; readonly number: number; readonly masterOf: readonly number[] }
  | {
      readonly do: 'rebalance'
      readonly group: GroupNumber
      readonly shard: number
      readonly from: number
      readonly to: number
    }

type ChangeTo<D extends Change['do']> = Extract<Change, { readonly do: D }>

type Told = Pick<NodeReport, 'features' | 'shards'>

/** A cluster whose users, operators and nodes make changes to a control plane. */
export class ChangingCluster {
  readonly plane: ControlPlane
  /** By node number: what the node last reported. It reports the same to a control plane that starts. */
  readonly #told: Map<number, Told>
  #generation = 1

  private constructor(plane: ControlPlane, told: Map<number, Told>) {
    this.plane = plane
    this.#told = told
  }

  static async begin(plane: ControlPlane): Promise<ChangingCluster> {
    for (const number of GROUPS) await plane.put(['nodeGroup', group(number)])
    for (const number of [1, 2, 3]) await plane.put(['network', network(number)])
    for (const number of SECURITY_GROUPS) await plane.put(['securityGroup', securityGroup(number, [])])
    const told = new Map<number, Told>()
    for (const number of [1, 2]) {
      await plane.put(['node', node(number)])
      told.set(number, { features: EVERYTHING })
    }
    const cluster = new ChangingCluster(plane, told)
    await cluster.tell()
    return cluster
  }

  /** The same cluster under another control plane. */
  under(plane: ControlPlane): ChangingCluster {
    return new ChangingCluster(plane, this.#told)
  }

  /** Nodes apply and confirm their entries, until these change no more. */
  async settle(): Promise<void> {
    let before = ''
    for (let round = 0; round < 10; round++) {
      for (const [number, told] of this.#told) await this.plane.confirmAll(uuid('node', number), told)
      const now = JSON.stringify(this.plane.published(NODE_IDS))
      if (now === before) return
      before = now
    }
    throw new Error('the published node states did not settle within 10 rounds')
  }

  /** Lets time pass while the nodes go on reporting. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += REPORT_EVERY_MS) {
      await this.plane.clock.advance(REPORT_EVERY_MS)
      await this.tell()
    }
  }

  /** All nodes report their features and shards. */
  async tell(): Promise<void> {
    for (const [number, told] of this.#told) await this.plane.report(uuid('node', number), told)
  }

  async change(change: Change): Promise<void> {
    const { plane } = this
    switch (change.do) {
      case 'put load balancer':
        return this.#putLoadBalancer(change)
      case 'delete load balancer':
        return this.#delete('loadBalancer', uuid('lb', change.number))
      case 'put certificate':
        return plane.put(['certificate', certificate(change.number, change.version)])
      case 'put security group':
        return plane.put(['securityGroup', securityGroup(change.number, change.sources)])
      case 'put node':
        return this.#putNode(change)
      case 'delete node':
        this.#told.delete(change.number)
        return this.#delete('node', uuid('node', change.number))
      case 'put network':
        return this.#putNetwork(change)
      case 'put group':
        return plane.put(['nodeGroup', group(change.number, change)])
      case 'put advertisement': {
        const addressPoolIds = change.addressPools?.map((number) => uuid('other', number)) ?? null
        return plane.put(['bgpAdvertisement', advertisement(change.number, { addressPoolIds })])
      }
      case 'delete advertisement':
        return this.#delete('bgpAdvertisement', advertisement(change.number).id)
      case 'report features':
        return this.#say(change.number, { features: change.features })
      case 'report shards':
        return this.#say(change.number, { shards: SHARDS.map((number) => shard(number, change.masterOf)) })
      case 'rebalance':
        return this.#rebalance(change)
    }
  }

  async #putLoadBalancer(change: ChangeTo<'put load balancer'>): Promise<void> {
    const { view } = this.plane
    const base = loadBalancer(change.number, { network: change.network, generation: ++this.#generation })
    const stored = view.get('loadBalancer', base.id)?.value
    const isDirect = view.get('network', base.networkId ?? '')?.value.returnPath === 'dsr'
    // With return path dsr, admission refuses proxied listeners and connection limits.
    const protocol = isDirect && isProxied(change.protocol) ? 'tcp' : change.protocol
    const connectionLimit = isDirect ? null : change.connectionLimit
    const named = change.group === null ? null : uuid('group', change.group)
    const next: LoadBalancer = {
      ...base,
      nodeGroupId: stored === undefined ? named : stored.nodeGroupId,
      securityGroupIds: change.securityGroups.map((number) => securityGroup(number, []).id),
      vips: base.vips.map((vip) => ({ ...vip, scope: change.scope, poolId: uuid('other', change.addressPool) })),
      listeners: base.listeners.map((listener) => ({ ...listener, protocol, connectionLimit, tls: tlsOf(protocol) })),
      pools: [{ ...pool(change.number, change.members), protocol: poolProtocolFor(protocol) }],
    }
    if (stored === undefined && change.number % 2 === 1) await this.plane.create(next)
    else await this.plane.put(['loadBalancer', next])
  }

  async #putNode({ number, scheduling, group: groupNumber }: ChangeTo<'put node'>): Promise<void> {
    const { view, clock } = this.plane
    const now = clock.now().toISOString()
    const before = view.get('node', uuid('node', number))?.value
    const isOther = before?.scheduling !== scheduling
    const isNewDrain = isOther && scheduling === 'draining'
    const drainBegunAt = isNewDrain ? null : before?.drainBegunAt
    await this.plane.put([
      'node',
      node(number, {
        scheduling,
        nodeGroupId: uuid('group', groupNumber),
        schedulingSince: isOther ? now : before.schedulingSince,
        drainedSince: isNewDrain ? now : (before?.drainedSince ?? null),
        ...(drainBegunAt !== undefined && { drainBegunAt }),
      }),
    ])
    // In another group it takes part in no shard yet.
    const isMoved = before !== undefined && before.nodeGroupId !== uuid('group', groupNumber)
    await this.#say(number, isMoved && this.#told.get(number)?.shards !== undefined ? { shards: [] } : {})
  }

  async #putNetwork({ number, returnPath }: ChangeTo<'put network'>): Promise<void> {
    const { view } = this.plane
    const isProxying = view
      .list('loadBalancer')
      .some((one) => one.networkId === uuid('network', number) && one.listeners.some((l) => isProxied(l.protocol)))
    // Admission refuses dsr for a network with proxied listeners.
    if (returnPath === 'dsr' && isProxying) return
    await this.plane.put(['network', network(number, { returnPath })])
  }

  async #rebalance(change: ChangeTo<'rebalance'>): Promise<void> {
    const { view, clock } = this.plane
    const stored = view.get('nodeGroup', uuid('group', change.group))!.value
    const [fromNodeId, toNodeId] = [uuid('node', change.from), uuid('node', change.to)]
    if (view.get('node', fromNodeId) === null || view.get('node', toNodeId) === null) return
    const askedAt = clock.now().toISOString()
    const next: NodeGroup = {
      ...stored,
      rebalance: { askedAt, moves: [{ shard: change.shard, fromNodeId, toNodeId }] },
    }
    await this.plane.put(['nodeGroup', next])
  }

  async #say(number: number, told: Partial<Told>): Promise<void> {
    const id = uuid('node', number)
    if (this.plane.view.get('node', id) === null) return
    const before = this.#told.get(number) ?? { features: EVERYTHING }
    this.#told.set(number, { ...before, ...told })
    await this.plane.report(id, this.#told.get(number))
  }

  async #delete(kind: Kind, id: string): Promise<void> {
    if (this.plane.view.get(kind, id) !== null) await this.plane.delete(kind, id)
  }
}

function group(
  number: GroupNumber,
  { announcer = 'l2', shards = 2, policy = 'always', fabric }: Partial<ChangeTo<'put group'>> = {},
): NodeGroup {
  const bgp = { localAs: 64_500, policy, drainSeconds: 0 }
  return vrrpGroup(number, shards, { name: GROUP_NAMES[number], announcer, bgp, ...(fabric && { fabric }) })
}

const shard = (number: number, masterOf: readonly number[]): ShardReport => ({
  number,
  state: masterOf.includes(number) ? 'master' : 'backup',
  since: '2026-01-01T00:00:00.000Z',
  takeovers: 0,
  lastMove: null,
})

const tlsOf = (protocol: ListenerProtocol): ListenerTls | null =>
  endsTls(protocol)
    ? {
        unknownNames: 'default',
        minVersion: '1.2',
        ciphers: null,
        alpn: [],
        hsts: null,
        clientCertificates: null,
        certificateIds: [1, 2].map((number) => certificate(number, 0).id),
      }
    : null
