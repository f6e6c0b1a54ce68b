import { type NodeGroupSpec, renamedSettings, settingsOfSpec } from '@spout/custom-resources'
import { DEFAULT_ANNOUNCER, DEFAULT_SECOND_CHANCE_S, hasShards } from '@spout/model'
import type { ApiObject, NativeObjects } from '../spout/native-objects.ts'
import type { DocumentKind } from './document-handler.ts'
import type { Brought } from './handler.ts'

type Group = ApiObject & { readonly vrrp: { readonly routerIds: readonly number[] } }
type Settings = Readonly<Record<string, unknown>>

export const nodeGroupKind = (api: NativeObjects): DocumentKind<NodeGroupSpec> => ({
  kind: 'NodeGroup',
  path: '/node-groups',
  what: 'node group',
  fieldNames: renamedSettings,
  wanted: async (spec) => wantedGroup(spec),
  settled: settledGroup,
  facts: (document) => factsOf(document as Group, api),
})

function wantedGroup({ announcer = DEFAULT_ANNOUNCER, ...spec }: NodeGroupSpec): Settings {
  const settings = settingsOfSpec(spec)
  const { routerIds, ...others } = settings.vrrp ?? {}
  // A group whose announcer has no shards has no router ids.
  const areNamed = spec.vrrp?.['routerIds'] !== undefined && hasShards({ announcer })
  return {
    announcer,
    ...settings,
    vrrp: areNamed ? { ...others, routerIds } : others,
    secondChanceSeconds: spec.secondChanceSeconds ?? DEFAULT_SECOND_CHANCE_S,
    rebalanceAfterSeconds: spec.rebalanceAfterSeconds ?? 0,
  }
}

/**
 * Ignores router ids that the control plane assigned because the spec names none. Null for `rebalanceAfterSeconds`
 * means 0.
 */
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
