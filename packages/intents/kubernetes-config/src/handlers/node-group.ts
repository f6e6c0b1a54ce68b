import { type NodeGroupSpec, renamedSettings, settingsOfSpec } from '@spout/custom-resources'
import { DEFAULT_ANNOUNCER, DEFAULT_SECOND_CHANCE_S, fabricChoice, hasShards } from '@spout/model'
import type { NodeSelection, NodeSelections } from '../nodes/node-selections.ts'
import type { ApiObject, NativeObjects } from '../spout/native-objects.ts'
import type { DocumentKind } from './document-handler.ts'
import type { Brought, ConditionState } from './handler.ts'

type Group = ApiObject & { readonly vrrp: { readonly routerIds: readonly number[] } }
/** A node of the group, as the native API shows it. */
type Member = ApiObject & {
  readonly status: {
    readonly connection: string
    readonly problems: readonly { readonly code: string; readonly message: string }[]
  }
}
type Settings = Readonly<Record<string, unknown>>

/** @param selections what the groups' selectors do; null: nobody follows the nodes of the cluster */
export const nodeGroupKind = (api: NativeObjects, selections: NodeSelections | null): DocumentKind<NodeGroupSpec> => ({
  kind: 'NodeGroup',
  path: '/node-groups',
  what: 'node group',
  fieldNames: renamedSettings,
  wanted: async (spec) => wantedGroup(spec),
  settled: settledGroup,
  facts: async (document, { nodeSelector, fabric }) => {
    const all = (await api.list('/nodes')) as readonly unknown[] as readonly Member[]
    const nodes = all.filter(({ nodeGroupId }) => nodeGroupId === document.id)
    return {
      fields: fieldsOf(document as Group, nodes),
      conditions: [
        ...(nodeSelector === undefined ? [] : conditionsOf(document.name, selections)),
        ...(fabric === undefined ? [] : [fabricFound(nodes)]),
      ],
    }
  },
})

/** The selector is not among the settings: only the cluster knows its labels. */
function wantedGroup({ announcer = DEFAULT_ANNOUNCER, ...spec }: NodeGroupSpec): Settings {
  const settings = settingsOfSpec(spec)
  const { routerIds, ...others } = settings.vrrp ?? {}
  // A group whose announcer has no shards has no router ids.
  const areNamed = spec.vrrp?.['routerIds'] !== undefined && hasShards({ announcer })
  return {
    announcer,
    ...settings,
    vrrp: areNamed ? { ...others, routerIds } : others,
    fabric: fabricOf(spec.fabric),
    secondChanceSeconds: spec.secondChanceSeconds ?? DEFAULT_SECOND_CHANCE_S,
    rebalanceAfterSeconds: spec.rebalanceAfterSeconds ?? 0,
  }
}

/** As the API shows it. It refuses an address that is none. */
const fabricOf = (fabric: NodeGroupSpec['fabric']): unknown => fabricChoice.safeParse(fabric).data ?? fabric ?? null

/**
 * Ignores router ids that the control plane assigned because the spec names none. Null for `rebalanceAfterSeconds`
 * means 0.
 */
function settledGroup(document: ApiObject, wanted: Settings): Settings {
  const vrrp = { ...(document as Group).vrrp } as Record<string, unknown>
  if (!Object.hasOwn(wanted['vrrp'] as object, 'routerIds')) delete vrrp['routerIds']
  return {
    ...document,
    vrrp,
    fabric: document['fabric'] ?? null,
    rebalanceAfterSeconds: document['rebalanceAfterSeconds'] ?? 0,
  }
}

function fieldsOf({ vrrp }: Group, nodes: readonly Member[]): Brought['fields'] {
  const connected = nodes.filter(({ status }) => status.connection === 'connected').length
  return { nodes: { total: nodes.length, connected }, routerIds: vrrp.routerIds }
}

/** Whether the group's nodes have the interface that it names. The last reason is the agent's own. */
export function fabricFound(nodes: readonly Member[]): ConditionState {
  const lacking = nodes.flatMap(({ name, status: { problems } }) => {
    const why = problems.findLast(({ code }) => code === 'FabricMissing')
    return why === undefined ? [] : [`${name}: ${why.message}`]
  })
  return lacking.length === 0
    ? { type: 'FabricFound', status: 'True', reason: 'Found', message: 'No node lacks the interface.' }
    : { type: 'FabricFound', status: 'False', reason: 'FabricMissing', message: lacking.join('; ') }
}

export function conditionsOf(group: string, selections: NodeSelections | null): readonly ConditionState[] {
  if (selections === null)
    return [selected('False', 'NotFollowed', 'Nodes of this cluster do not carry traffic: the selector has no effect.')]
  const selection = selections.of(group)
  return selection === null ? [] : [conditionOf(selection)]
}

function conditionOf({ here, coming, refused }: NodeSelection): ConditionState {
  if (refused.length > 0) return selected('False', 'SelectedTwice', refused.join(' '))
  if (coming.length > 0)
    return selected('False', 'NodesMove', `Coming once others have their addresses: ${coming.join(', ')}.`)
  return selected('True', 'Selected', here.length === 0 ? 'It selects no node.' : `It selects ${here.join(', ')}.`)
}

const selected = (status: ConditionState['status'], reason: string, message: string): ConditionState => ({
  ...{ type: 'NodesSelected', status, reason, message },
})
