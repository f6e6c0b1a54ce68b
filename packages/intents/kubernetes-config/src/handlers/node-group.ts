import type { NodeGroupSpec } from '@spout/custom-resources'
import { DEFAULT_ANNOUNCER, hasShards } from '@spout/model'
import type { ApiObject, NativeObjects } from '../spout/native-objects.ts'
import type { DocumentKind } from './document-handler.ts'
import type { Brought } from './handler.ts'

type Group = ApiObject & { readonly vrrp: { readonly routerIds: readonly number[] } }
type Settings = Readonly<Record<string, unknown>>

const DEFAULTS = { profile: 'default', shards: 4, excludedRouterIds: [] } as const
const BGP_DEFAULTS = { policy: 'healthy', drainSeconds: 10 } as const

export const nodeGroupKind = (api: NativeObjects): DocumentKind<NodeGroupSpec> => ({
  kind: 'NodeGroup',
  path: '/node-groups',
  what: 'node group',
  fieldNames: { 'bgp.localAs': 'bgp.localASN' },
  wanted: async (spec) => wantedGroup(spec),
  settled: settledGroup,
  facts: (document) => factsOf(document as Group, api),
})

function wantedGroup({ announcer = DEFAULT_ANNOUNCER, vrrp = {}, bgp, ...rest }: NodeGroupSpec): Settings {
  // A group without shards has no router ids.
  const { routerIds, ...others } = vrrp
  return {
    announcer,
    vrrp: { ...DEFAULTS, ...others, ...(!hasShards({ announcer }) || routerIds === undefined ? {} : { routerIds }) },
    bgp: bgp === undefined ? null : { ...BGP_DEFAULTS, ...renamed(bgp) },
    secondChanceSeconds: rest.secondChanceSeconds ?? 300,
    rebalanceAfterSeconds: rest.rebalanceAfterSeconds ?? 0,
  }
}

const renamed = ({ localASN, ...bgp }: NonNullable<NodeGroupSpec['bgp']>) => ({ localAs: localASN, ...bgp })

/** Router ids that were not named have been assigned; a group without automatic rebalancing has no pause. */
function settledGroup(document: ApiObject, wanted: Settings): Settings {
  const vrrp = { ...(document as Group).vrrp } as Record<string, unknown>
  if (!Object.hasOwn(wanted['vrrp'] as object, 'routerIds')) delete vrrp['routerIds']
  return { ...document, vrrp, rebalanceAfterSeconds: document['rebalanceAfterSeconds'] ?? 0 }
}

async function factsOf({ id, vrrp }: Group, api: NativeObjects): Promise<Brought> {
  const nodes = (await api.list('/nodes')).filter(({ nodeGroupId }) => nodeGroupId === id)
  const connected = nodes.filter(({ status }) => (status as { connection: string }).connection === 'connected').length
  return {
    fields: { nodes: { total: nodes.length, connected }, routerIds: vrrp.routerIds },
    conditions: [],
  }
}
