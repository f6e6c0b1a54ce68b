import type {
  AddressConflictReport,
  BgpSessionReport,
  EntryReport,
  FlowsReport,
  LocalReport,
  LogTroubleReport,
  MemberHealth,
  OverShareReport,
  ProxyDrainReport,
  ShardReport,
  Sight,
} from '@spout/model'

/** What a node reports of itself when there is nothing to report. */
export const NOTHING_REPORTED = {
  shards: [],
  bgpSessions: [],
  flows: null,
  departure: null,
  addressConflicts: [],
  sights: [],
  overShares: [],
  logTroubles: [],
  local: null,
} satisfies Partial<NodeView>
export type SelfField = keyof typeof NOTHING_REPORTED
export const SELF_FIELDS = Object.keys(NOTHING_REPORTED) as readonly SelfField[]

/** The merged reports of one node. */
export interface NodeView {
  session: string
  sequence: number
  inSync: boolean
  features: readonly string[]
  lastReportAt: string
  shards: readonly ShardReport[]
  bgpSessions: readonly BgpSessionReport[]
  flows: FlowsReport | null
  departure: ProxyDrainReport | null
  addressConflicts: readonly AddressConflictReport[]
  fabricAddress: string | null
  sights: readonly Sight[]
  overShares: readonly OverShareReport[]
  logTroubles: readonly LogTroubleReport[]
  /** Null: the agent says nothing about its own settings. */
  local: readonly LocalReport[] | null
  /** Null for an agent that does not report it. */
  version: string | null
  /** Whether the node reported that it has no fabric address. */
  lacksFabricAddress: boolean
  /** What is from an earlier session of the agent. It is dropped once the node is in sync. */
  readonly staleFields: Set<SelfField>
  readonly entries: Map<string, EntryReport>
  /** Keys reported in an earlier session and not yet in this one. They are dropped once the node is in sync. */
  stale: Set<string>
  /** load balancer id -> member id */
  readonly members: Map<string, Map<string, MemberHealth>>
}

/** The view of a node that has not reported yet. */
export const newNode = (): NodeView => ({
  ...NOTHING_REPORTED,
  session: '',
  sequence: 0,
  inSync: false,
  features: [],
  lastReportAt: '',
  fabricAddress: null,
  version: null,
  lacksFabricAddress: false,
  staleFields: new Set(),
  entries: new Map(),
  stale: new Set(),
  members: new Map(),
})

/** The node's report on itself, as a text to compare. Counters are left out, because they change all the time. */
export const comparableText = ({ flows, ...view }: NodeView): string =>
  JSON.stringify([
    ...[
      view.inSync,
      view.features,
      view.shards,
      view.bgpSessions,
      view.addressConflicts,
      view.fabricAddress,
      view.lacksFabricAddress,
      view.sights,
      view.version,
      localText(view.local),
    ],
    ...[flows?.silentPeers, flows?.lastMiss, flows?.error, view.departure],
  ])

/** Its load balancers without their counters, as a text to compare. */
export const localText = (local: NodeView['local']): string =>
  local === null ? '' : JSON.stringify(local.map(({ counters: _, ...one }) => one))
