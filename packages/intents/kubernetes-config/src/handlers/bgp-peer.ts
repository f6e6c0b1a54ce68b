import { type BgpPeerSpec, MOST_SESSIONS } from '@spout/custom-resources'
import { type BgpSessionReport, bgpPeer, parseAs } from '@spout/model'
import type { NativeObjects } from '../spout/native-objects.ts'
import type { DocumentKind } from './document-handler.ts'
import type { Brought, ConditionState } from './handler.ts'

type Session = BgpSessionReport & { readonly nodeName: string }

const FIELD_NAMES = {
  address: 'peerAddress',
  port: 'peerPort',
  as: 'peerASN',
  templateId: 'template',
  holdTimeS: 'holdTimeSeconds',
  keepaliveTimeS: 'keepaliveTimeSeconds',
  connectRetryS: 'connectTimeSeconds',
  gracefulRestartS: 'gracefulRestartSeconds',
  nodeSelection: 'nodeGroups, nodes',
  'nodeSelection.nodeGroupIds': 'nodeGroups',
  'nodeSelection.nodeIds': 'nodes',
} as const
const { id: _, name: _name, description: _description, createdAt: _at, updatedAt: _updated, ...own } = bgpPeer.shape
const FIELDS = bgpPeer.pick(
  Object.fromEntries(
    Object.keys(own)
      // Objects of this cluster must not contain the secret. A template, made through the native API, can.
      .filter((field) => field !== 'md5Secret' && field !== 'template')
      .map((field) => [field, true]),
  ) as { [K in Exclude<keyof typeof own, 'md5Secret' | 'template'>]: true },
)

export const bgpPeerKind: DocumentKind<BgpPeerSpec> = {
  kind: 'BgpPeer',
  path: '/bgp-peers',
  what: 'BGP peer',
  fieldNames: FIELD_NAMES,
  wanted: wantedPeer,
  facts: async (document) => factsOf((document['status'] as { sessions: readonly Session[] }).sessions),
}

async function wantedPeer(spec: BgpPeerSpec, api: NativeObjects): Promise<Readonly<Record<string, unknown>>> {
  const { nodeGroups, nodes, template, bfd } = spec
  const templateId = template === undefined ? null : await api.idOf('/bgp-peers', 'BGP peer', template, 'template')
  const nodeSelection =
    nodeGroups === undefined && nodes === undefined
      ? null
      : {
          nodeGroupIds: await idsOf(api, '/node-groups', 'node group', nodeGroups ?? [], 'nodeGroups'),
          nodeIds: await idsOf(api, '/nodes', 'node', nodes ?? [], 'nodes'),
        }
  return parseAs(FIELDS, {
    templateId,
    address: spec.peerAddress ?? null,
    port: spec.peerPort ?? null,
    as: spec.peerASN ?? null,
    hops: spec.hops ?? null,
    ttlSecurity: spec.ttlSecurity ?? null,
    holdTimeS: spec.holdTimeSeconds ?? null,
    keepaliveTimeS: spec.keepaliveTimeSeconds ?? null,
    connectRetryS: spec.connectTimeSeconds ?? null,
    families: spec.families ?? null,
    bfd: bfd === undefined ? null : (bfd.profile ?? bfd),
    gracefulRestartS: spec.gracefulRestartSeconds ?? null,
    prefixLimit: spec.prefixLimit ?? null,
    nodeSelection,
  })
}

export const idsOf = (
  api: NativeObjects,
  path: string,
  what: string,
  names: readonly string[],
  field: string,
): Promise<readonly string[]> =>
  Promise.all(names.map((name, index) => api.idOf(path, what, name, `${field}[${index}]`)))

export function factsOf(sessions: readonly Session[]): Brought {
  const up = ({ state }: Session) => state === 'established'
  const established = sessions.filter(up).length
  const sorted = [...sessions].sort(
    (a, b) => Number(up(a)) - Number(up(b)) || a.nodeName.localeCompare(b.nodeName, 'en'),
  )
  return {
    fields: {
      sessions: { total: sessions.length, established },
      nodes: sorted.slice(0, MOST_SESSIONS).map(({ nodeName, state, since, announced, bfd, lastError }) => ({
        node: nodeName,
        state,
        since,
        announced,
        ...(bfd === null ? {} : { bfd }),
        ...(lastError === null ? {} : { lastError: lastError.slice(0, 1024) }),
      })),
    },
    conditions: [
      established_(
        sessions,
        sorted.filter((one) => !up(one)),
      ),
    ],
  }
}

function established_(sessions: readonly Session[], down: readonly Session[]): ConditionState {
  const type = 'Established'
  if (sessions.length === 0)
    return { type, status: 'Unknown', reason: 'NoSession', message: 'No node has reported a session with it.' }
  if (down.length === 0)
    return { type, status: 'True', reason: 'AllSessionsUp', message: 'Every selected node has a session with it.' }
  const [first] = down
  return {
    type,
    status: 'False',
    reason: 'SessionsDown',
    message: `${down.length} of ${sessions.length} sessions are down; ${first?.nodeName} is ${first?.state}${first?.lastError ? `: ${first.lastError.slice(0, 512)}` : ''}`,
  }
}
