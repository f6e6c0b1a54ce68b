import { certificateUse, defaultGroupOf, type LoadBalancer, SpoutError } from '@spout/model'
import {
  childIds,
  directReturnProblems,
  documentProblem,
  type FoundNetwork,
  findingNetwork,
  type ResolveContext,
  resolveLoadBalancer,
} from '@spout/plan'
import type { Pieces } from '@spout/runtime'
import { checkRevocations } from '../certificates/revocations.ts'
import type { AdmissionContext } from '../claims/context.ts'
import { childDifference } from '../view/child-index.ts'
import { classConnectionLimit } from './load-balancer-place.ts'
import { sameForNodes } from './same-for-nodes.ts'

type CheckedDocument = Pick<
  LoadBalancer,
  'id' | 'projectId' | 'vips' | 'listeners' | 'pools' | 'nodeGroupId' | 'classId' | 'networkId'
>

/** The network of a document's members, and the facts from which it was found. */
export interface KnownNetwork {
  readonly found: FoundNetwork
  readonly facts: number
  readonly networks: ResolveContext['networks']
}

/** Finds the network of a long document's members in pieces. Null where members need none. */
export function* findingNetworkOf(context: AdmissionContext, document: CheckedDocument): Pieces<KnownNetwork | null> {
  if (context.references === 'any') return null
  const facts = context.index.addressFacts
  const resolveContext = { ...resolveContextOf(context, document), resolved: resolvedVersion(context, document) }
  const vipNetworkId = document.vips.find(({ networkId }) => networkId !== null)?.networkId ?? null
  const found = yield* findingNetwork(document, vipNetworkId, resolveContext)
  return { found, facts, networks: resolveContext.networks }
}

/**
 * What was found, if no fact has changed since. Networks are compared, too, because the view shows one before the index
 * hears of it.
 */
const stillFound = (context: AdmissionContext, known: KnownNetwork | null, networks: ResolveContext['networks']) =>
  known !== null &&
  known.facts === context.index.addressFacts &&
  known.networks.length === networks.length &&
  networks.every((network, at) => network === known.networks[at])
    ? known.found
    : null

/** The stored version, if it was resolved to the network that the document has. */
function resolvedVersion({ view }: AdmissionContext, { id, networkId }: Pick<LoadBalancer, 'id' | 'networkId'>) {
  const stored = view.get('loadBalancer', id)?.value ?? null
  return stored?.networkId === networkId ? stored : null
}

/**
 * Checks a document's references and finds its network.
 * @param known what `findingNetworkOf` found for it before, from facts that may have changed since
 * @returns the network's id; null while nothing determines it
 * @throws SpoutError naming the first wrong field
 */
export function checkedNetworkId(
  context: AdmissionContext,
  loadBalancer: CheckedDocument,
  known: KnownNetwork | null = null,
): string | null {
  const { view } = context
  checkChildIds(view, loadBalancer)
  const limit = classConnectionLimit(context, loadBalancer)
  if (limit !== null) checkClassLimit(loadBalancer, limit)
  if (context.references === 'any') {
    const found = documentProblem(loadBalancer, { useOfCertificate: () => 'any', tables: context.index.routeTables })
    if (found !== null) throw new SpoutError(found.code, found.params)
    return null
  }
  const facts = resolveContextOf(context, loadBalancer)
  const resolution = resolveLoadBalancer(loadBalancer, {
    ...facts,
    resolved: resolvedVersion(context, loadBalancer),
    found: stillFound(context, known, facts.networks),
  })
  if ('problem' in resolution) {
    const { problem } = resolution
    throw new SpoutError(problem.code, problem.params, problem)
  }
  checkRevocations(loadBalancer, (id) => view.get('certificate', id)?.value ?? null)
  const { network } = resolution
  const ownVips = new Set(loadBalancer.vips.map((vip) => vip.address))
  loadBalancer.pools.forEach((pool, at) => {
    const index = pool.members.findIndex((member) => ownVips.has(member.address))
    if (index < 0) return
    const [field, address] = [`pools[${at}].members[${index}].address`, pool.members[index]!.address]
    throw new SpoutError('AddressForbidden', { field, address, reason: 'it is the address of this load balancer' })
  })
  loadBalancer.listeners.forEach(({ accessLog }, at) => {
    const address = accessLog?.syslog?.address
    if (address === undefined || !ownVips.has(address)) return
    const field = `listeners[${at}].accessLog.syslog.address`
    throw new SpoutError('AddressForbidden', { field, address, reason: 'it is the address of this load balancer' })
  })
  if (network?.returnPath === 'dsr' && limit !== null)
    throw new SpoutError('Unsupported', {
      field: 'classId',
      reason: "the class limits connections, and nodes do not see all packets of this network's connections",
    })
  if (network?.returnPath === 'dsr')
    for (const { code, params } of directReturnProblems(
      loadBalancer,
      view.get('loadBalancer', loadBalancer.id)?.value ?? null,
    ))
      throw new SpoutError(code, params)
  if (network?.returnPath === 'node') checkOnFabric(loadBalancer)
  if (network?.returnPath === 'gateway') checkOneGroup(context, loadBalancer, network.id)
  return network?.id ?? null
}

/** @throws SpoutError Unsupported for an address inside a network whose members are on the nodes themselves */
function checkOnFabric({ vips }: Pick<LoadBalancer, 'vips'>): void {
  const at = vips.findIndex(({ scope }) => scope === 'tenant')
  if (at < 0) return
  const reason = 'nobody is inside a network with return path node: take an address of a pool'
  throw new SpoutError('Unsupported', { field: `vips[${at}]`, reason })
}

/**
 * @throws SpoutError InvalidField for an id that is in another load balancer. Those of the stored version are its own.
 */
function checkChildIds(
  view: AdmissionContext['view'],
  loadBalancer: Pick<LoadBalancer, 'id' | 'listeners' | 'pools'>,
): void {
  const stored = view.get('loadBalancer', loadBalancer.id)?.value ?? null
  for (const { id: taken } of childDifference(stored, loadBalancer).come) {
    if ((view.child(taken)?.loadBalancerId ?? loadBalancer.id) === loadBalancer.id) continue
    for (const [field, what, id] of childIds(loadBalancer))
      if (id === taken) throw new SpoutError('InvalidField', { field, reason: `another ${what} has this id` })
  }
}

/** @throws SpoutError InvalidField for a listener that may have more connections than its class allows */
function checkClassLimit({ listeners }: Pick<LoadBalancer, 'listeners'>, limit: number): void {
  const at = listeners.findIndex(({ connectionLimit }) => connectionLimit !== null && connectionLimit > limit)
  if (at < 0) return
  const reason = `its load balancer's class allows ${limit} connections`
  throw new SpoutError('InvalidField', { field: `listeners[${at}].connectionLimit`, reason })
}

/** The facts by which documents of this project are checked. */
export function resolveContextOf(
  { view, index, deny }: AdmissionContext,
  { projectId, networkId }: Pick<LoadBalancer, 'projectId' | 'networkId'>,
): ResolveContext {
  return {
    currentNetworkId: networkId,
    networks: view.list('network', { projectId }),
    useOfCertificate: (id) => {
      const found = view.get('certificate', id)?.value
      return found?.projectId === projectId ? certificateUse(found) : null
    },
    tables: index.routeTables,
    forbidden: (ip) => deny.whyForbidden(ip),
    occupant: (id, address) => {
      const found = index.addressIn(id, address)
      if (found?.use === 'node') return "a load-balancer node's own address"
      if (found?.use === 'gateway') return 'the gateway of its subnet'
      return found !== null && found.ownerId !== null ? 'the address of a load balancer' : null
    },
  }
}

/** One node has the members' gateway address, so one group carries all load balancers of such a network. */
function checkOneGroup(
  { index, view }: AdmissionContext,
  loadBalancer: Pick<LoadBalancer, 'id' | 'nodeGroupId'>,
  networkId: string,
): void {
  const other = index.neighbourIn(networkId, loadBalancer.id)
  if (other === null || other.nodeGroupId === loadBalancer.nodeGroupId) return
  const defaultId = defaultGroupOf(view.list('nodeGroup'))?.id ?? null
  if ((other.nodeGroupId ?? defaultId) === (loadBalancer.nodeGroupId ?? defaultId)) return
  const reason = `load balancer ${other.id} of the same network, whose members' gateway is on one node, is in another group`
  throw new SpoutError('InvalidField', { field: 'nodeGroupId', reason })
}

/** Whether the change makes a difference to nodes. Only then is it a new generation. */
export function mattersToNodes(before: LoadBalancer, after: LoadBalancer): boolean {
  const words = ({ enabled, vips, listeners, pools, networkId, nodeGroupId, ...others }: LoadBalancer) => [
    ...[enabled, vips, listeners, pools, networkId, nodeGroupId, others.leftNodeId, others.securityGroupIds],
  ]
  return !sameForNodes(words(before), words(after))
}
