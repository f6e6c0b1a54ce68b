import { readFile } from 'node:fs/promises'
import { call, type Session } from '@spout/client/api'
import {
  type BgpAdvertisementIntent,
  type DedicatedProxy,
  defaultGroupOf,
  type LoadBalancer,
  type LoadBalancerClass,
  type Network,
  type Node,
  type NodeGroup,
  type NodeStatus,
  parseAs,
  type RequestSizes,
  SpoutError,
  loadBalancer as schema,
} from '@spout/model'
import {
  type Announcing,
  announcingIn,
  carryingGroup,
  type LoadBalancerPlan,
  PlacementIndex,
  type PlannedNode,
  planLoadBalancer,
} from '@spout/plan'
import { parseDocument } from 'yaml'
import { listOf } from '../../lookup.ts'
import { UsageError } from '../connections/context.ts'
import { planText } from './plan-text.ts'

/**
 * What the planner decides for a load balancer that is not stored, and what this changes if it is stored.
 * @param file YAML or JSON in the format of `spout lb show NAME -o yaml`
 * @returns the text for people
 * @throws UsageError when the file cannot be read, with the line of a mistake
 */
export async function dryRun(session: Session, file: string): Promise<string> {
  const wanted = await readLoadBalancer(file)
  const stored = await storedLoadBalancer(session, wanted.id)
  const surroundings = await readSurroundings(session, wanted)
  const before = stored && plan(stored, surroundings, null)
  const nodeName = (id: string) => surroundings.group.nodes.find((node) => node.id === id)?.name ?? id
  return planText({ wanted, before, after: plan(wanted, surroundings, before), nodeName })
}

async function readLoadBalancer(file: string): Promise<LoadBalancer> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(error.message)
  })
  const document = parseDocument(text)
  const [mistake] = document.errors
  if (mistake) throw new UsageError(`${file}:${mistake.linePos?.[0].line ?? 1}: ${mistake.message.split('\n')[0]}`)
  const { status: _, ...fields } = (document.toJS() ?? {}) as Record<string, unknown>
  return parseAs(schema, fields)
}

const storedLoadBalancer = async (session: Session, id: string): Promise<LoadBalancer | null> =>
  ((await listOf(session, '/load-balancers')).find((row) => row.id === id) as LoadBalancer | undefined) ?? null

interface Surroundings {
  readonly network: Network | null
  readonly group: { readonly name: string; readonly nodes: readonly PlannedNode[] }
  readonly announcing: Announcing
  readonly connectionLimit: number | null
  readonly dedicatedProxy: DedicatedProxy | undefined
  readonly requestSizes: RequestSizes | undefined
}

async function readSurroundings(
  session: Session,
  { networkId, nodeGroupId, classId }: LoadBalancer,
): Promise<Surroundings> {
  const groups = (await listOf(session, '/node-groups')) as unknown as readonly NodeGroup[]
  const group = groups.find(({ id }) => id === nodeGroupId) ?? defaultGroupOf(groups)
  if (group === null) throw new SpoutError('NotFound', { what: 'Node group', id: nodeGroupId ?? '(default)' })
  const advertisements = (await listOf(session, '/bgp-advertisements')) as unknown as readonly BgpAdvertisementIntent[]
  const nodes = (await listOf(session, '/nodes')) as unknown as readonly (Node & { readonly status: NodeStatus })[]
  const ofClass =
    classId === undefined ? null : await call<LoadBalancerClass>(session, 'GET', `/load-balancer-classes/${classId}`)
  return {
    connectionLimit: ofClass?.connectionLimit ?? null,
    dedicatedProxy: ofClass?.dedicatedProxy,
    requestSizes: ofClass?.requestSizes,
    network: networkId === null ? null : await call<Network>(session, 'GET', `/networks/${networkId}`),
    group: {
      name: group.name,
      nodes: nodes
        .filter((node) => node.nodeGroupId === group.id)
        .map(({ id, name, scheduling, status }) => ({
          id,
          name,
          scheduling,
          connection: status.connection,
          features: status.features,
          loadBalancers: 0,
        })),
    },
    // As the control plane sees it, except for other projects' shards: the first shard stands for the one with most
    // room.
    announcing: announcingIn(carryingGroup(group.id, group, advertisements), new PlacementIndex(), networkId),
  }
}

function plan(
  loadBalancer: LoadBalancer,
  { network, group, announcing, connectionLimit, dedicatedProxy, requestSizes }: Surroundings,
  before: LoadBalancerPlan | null,
): LoadBalancerPlan {
  return planLoadBalancer({
    loadBalancer,
    network,
    group,
    announcing,
    previous: before?.placement ?? null,
    gatewayOwnerIds: [],
    freePoolNumber: (after) => after + 1,
    connectionLimit,
    dedicatedProxy,
    requestSizes,
    // A plan shows no contents of certificates, so each id stands for its own.
    certificateOf: (certificateId) => ({ contentId: certificateId.replaceAll('-', ''), names: [], keyType: '' }),
    now: loadBalancer.updatedAt ?? loadBalancer.createdAt,
  })
}
