import { isIP } from 'node:net'
import { announcerNamesInWords, DEFAULT_ANNOUNCER } from '@spout/model'
import { announcerColumns, announcerFields } from './announcer-settings.ts'
import {
  at,
  column,
  type Field,
  orNone,
  projectList,
  projectsColumn,
  type Resource,
  type Row,
  wholeNumber,
} from './resource.ts'

interface Shard {
  readonly number: number
  readonly state: string
}
interface Session {
  readonly state: string
}

const listOf = <T>(row: Row, path: string): readonly T[] => (at(row, path) ?? []) as readonly T[]

/** Numbers of the shards that it is master of; `-` for a node outside VRRP. */
function shardsOwned(row: Row): unknown {
  const shards = listOf<Shard>(row, 'status.shards')
  if (shards.length === 0) return null
  const owned = shards.filter(({ state }) => state === 'master').map(({ number }) => number)
  return owned.length === 0 ? `0 of ${shards.length}` : `${owned.join(' ')} of ${shards.length}`
}

/** `2 of 2 up`. */
function sessionsUp(row: Row): unknown {
  const sessions = listOf<Session>(row, 'status.bgpSessions')
  if (sessions.length === 0) return null
  return `${sessions.filter(({ state }) => state === 'established').length} of ${sessions.length} up`
}

/** A reason why a node does not announce as its group should. */
export interface Problem {
  readonly code: string
  readonly message: string
}

/** The message for people, and the code of the runbook's section. */
export const problemText = ({ code, message }: Problem): string => `${message} (${code})`

interface Flows {
  readonly carried: number
  readonly ready: number
  readonly peers: number
  readonly silent: number
}

/** `12 carried, 4 held ready, 1 of 2 peers heard`. */
function flowsShared(row: Row): unknown {
  const flows = at(row, 'status.flows') as Flows | null | undefined
  if (flows == null) return null
  const heard = `${flows.peers - flows.silent} of ${flows.peers} peers heard`
  return `${flows.carried} carried, ${flows.ready} held ready, ${heard}`
}

export const node: Resource = {
  noun: 'node',
  title: 'node',
  summary: 'machines that carry load balancers',
  path: '/nodes',
  within: [],
  columns: [
    column('NAME', 'name'),
    column('CONNECTION', 'status.connection'),
    column('IN SYNC', 'status.inSync'),
    column('SCHEDULING', 'scheduling'),
    column('ANNOUNCER', 'announcer'),
    { title: 'SHARDS', value: shardsOwned },
    { title: 'BGP', value: sessionsUp },
    column('VIPS', 'status.announced'),
    { title: 'FLOWS', wide: true, value: flowsShared },
    column('BUSY PROXIES', 'status.departure.busyProxies', true),
    {
      title: 'PROBLEM',
      wide: true,
      value: (row) => listOf<Problem>(row, 'status.problems').map(problemText),
    },
    column('VERSION', 'status.version', true),
    column('CLUSTER SAYS', 'clusterScheduling.reason', true),
    column('LAST REPORT', 'status.lastReportAt', true),
    { title: 'ADDRESS', wide: true, value: (row) => row.fabricAddress ?? row.seenFabricAddress },
    column('FEATURES', 'status.features', true),
    column('GROUP', 'nodeGroupName', true),
    column('ID', 'id', true),
  ],
  fields: [
    { flags: '--description <text>', description: 'free text', field: 'description' },
    {
      flags: '--fabric-address <ip>',
      description: "address for its neighbours, instead of the one that the agent sees; 'none': the agent's",
      field: 'fabricAddress',
      parse: (text) => (text === 'none' ? null : text),
    },
    {
      flags: '--cluster-scheduling <none>',
      description: "'none': forgets what its Kubernetes cluster asked for, when nothing follows that cluster any more",
      field: 'clusterScheduling',
      parse: orNone(),
    },
  ],
  verbs: ['list', 'show', 'set', 'delete'],
}

/** `bond0`, or an address in the network of the interface. */
const fabricText = (row: Row): unknown => at(row, 'fabric.interface') ?? at(row, 'fabric.reaches')

const fabricOf = (text: string): unknown => {
  if (text === 'agent') return null
  return isIP(text) === 0 ? { interface: text } : { reaches: text }
}

const groupFields: readonly Field[] = [
  { flags: '--description <text>', description: 'free text', field: 'description' },
  {
    flags: '--announcer <announcer>',
    description: `${announcerNamesInWords()}; ${DEFAULT_ANNOUNCER} unless named`,
    field: 'announcer',
  },
  ...announcerFields,
  {
    flags: '--fabric <interface>',
    description:
      "interface towards clients, or an address in its network such as the router's; 'agent' (default): by the agents' settings",
    field: 'fabric',
    parse: fabricOf,
  },
  {
    flags: '--second-chance-seconds <s>',
    description: "how long a drained node goes on with its proxies' connections (default 300, 0 for not at all)",
    field: 'secondChanceSeconds',
    parse: wholeNumber,
  },
  {
    flags: '--rebalance-after <s>',
    description: 'rebalances automatically once nothing has changed for this long (default 0, never)',
    field: 'rebalanceAfterSeconds',
    parse: wholeNumber,
  },
  {
    flags: '--projects <projects>',
    description: "projects whose load balancers may use it, comma-separated; 'all' or 'none' (default)",
    field: 'projectIds',
    parse: projectList,
  },
]

export const nodeGroup: Resource = {
  noun: 'node-group',
  title: 'node group',
  summary: 'groups of nodes that stand in for each other',
  path: '/node-groups',
  within: [],
  columns: [
    column('NAME', 'name'),
    column('ANNOUNCER', 'announcer'),
    ...announcerColumns(false),
    ...announcerColumns(true),
    { title: 'FABRIC', wide: true, value: fabricText },
    column('CHANCE S', 'secondChanceSeconds', true),
    column('REBALANCE S', 'rebalanceAfterSeconds', true),
    projectsColumn,
    column('ID', 'id', true),
  ],
  fields: groupFields,
  references: { projectIds: { path: '/projects', title: 'project' } },
  verbs: ['list', 'show', 'create', 'set', 'delete'],
}
