import { at, column, commaList, type Resource, type Row, wholeNumber } from './resource.ts'

interface PeerSession {
  readonly nodeName: string
  readonly state: string
  readonly lastError: string | null
  readonly bfd: string | null
}

const sessions = (row: Row): readonly PeerSession[] => (at(row, 'status.sessions') ?? []) as readonly PeerSession[]

/** A BFD profile's name, or its numbers. */
const bfd = (row: Row): unknown => {
  const settings = at(row, 'effective.bfd')
  if (settings === null || typeof settings !== 'object') return settings
  const { minTransmitMs, minReceiveMs, multiplier } = settings as Record<string, number>
  return `${minTransmitMs}/${minReceiveMs} ms x ${multiplier}`
}

const selection = (row: Row): unknown => (row.nodeSelection === null ? 'all' : row.selected)

export const bgpPeer: Resource = {
  noun: 'bgp-peer',
  title: 'BGP peer',
  summary: 'routers that nodes speak BGP with',
  path: '/bgp-peers',
  within: [],
  columns: [
    column('NAME', 'name'),
    { title: 'ADDRESS', value: (row) => (row.template ? 'template' : (row.address ?? 'unnumbered')) },
    column('AS', 'effective.as'),
    {
      title: 'UP',
      value: (row) => {
        const all = sessions(row)
        return all.length === 0 ? null : `${all.filter(({ state }) => state === 'established').length} of ${all.length}`
      },
    },
    {
      title: 'TROUBLE',
      value: (row) =>
        sessions(row)
          .filter(({ state }) => state !== 'established')
          .map(({ nodeName, state, lastError }) => `${nodeName}: ${state}${lastError ? ` (${lastError})` : ''}`),
    },
    { title: 'BFD', wide: true, value: bfd },
    column('HOPS', 'effective.hops', true),
    column('HOLD S', 'effective.holdTimeS', true),
    column('KEEPALIVE S', 'effective.keepaliveTimeS', true),
    column('FAMILIES', 'effective.families', true),
    column('MD5', 'effective.md5', true),
    column('RESTART S', 'effective.gracefulRestartS', true),
    column('PREFIX LIMIT', 'effective.prefixLimit', true),
    { title: 'NODES', wide: true, value: selection },
    column('TEMPLATE', 'effective.templateName', true),
    column('ID', 'id', true),
  ],
  fields: [
    { flags: '--description <text>', description: 'free text', field: 'description' },
    { flags: '--address <ip>', description: "the router's address; unnumbered without", field: 'address' },
    { flags: '--as <as>', description: "the router's AS", field: 'as', parse: wholeNumber },
    { flags: '--port <port>', description: '179 unless named', field: 'port', parse: wholeNumber },
    { flags: '--hops <hops>', description: 'more than 1 is a multihop session', field: 'hops', parse: wholeNumber },
    { flags: '--ttl-security', description: 'drop packets from further away (RFC 5082)', field: 'ttlSecurity' },
    { flags: '--md5-secret <secret>', description: 'TCP MD5 signature; never shown again', field: 'md5Secret' },
    { flags: '--hold-time-s <s>', description: '3 or more', field: 'holdTimeS', parse: wholeNumber },
    {
      flags: '--keepalive-time-s <s>',
      description: 'at most a third of the hold time',
      field: 'keepaliveTimeS',
      parse: wholeNumber,
    },
    {
      flags: '--families <families>',
      description: 'ipv4, ipv6, or both, comma-separated',
      field: 'families',
      parse: commaList,
    },
    { flags: '--bfd <profile>', description: 'none, default or fast', field: 'bfd' },
    {
      flags: '--graceful-restart-s <s>',
      description: 'how long the router keeps our routes after a restart; 0 is off',
      field: 'gracefulRestartS',
      parse: wholeNumber,
    },
    {
      flags: '--prefix-limit <count>',
      description: 'prefixes beyond this number are dropped',
      field: 'prefixLimit',
      parse: wholeNumber,
    },
    {
      flags: '--node-groups <groups>',
      description: 'groups whose nodes peer with it, comma-separated',
      field: 'nodeSelection.nodeGroupIds',
      parse: commaList,
    },
    {
      flags: '--nodes <nodes>',
      description: 'nodes that peer with it, comma-separated',
      field: 'nodeSelection.nodeIds',
      parse: commaList,
    },
    { flags: '--template', description: 'make it a template for others', field: 'template' },
    { flags: '--from <template>', description: 'template for the other fields', field: 'templateId' },
  ],
  references: {
    templateId: { path: '/bgp-peers', title: 'BGP peer' },
    nodeGroupIds: { path: '/node-groups', title: 'node group' },
    nodeIds: { path: '/nodes', title: 'node' },
  },
  verbs: ['list', 'show', 'create', 'set', 'delete'],
}

export const bgpAdvertisement: Resource = {
  noun: 'bgp-advertisement',
  title: 'BGP advertisement',
  summary: 'attributes of the BGP routes for addresses of some pools',
  path: '/bgp-advertisements',
  within: [],
  columns: [
    column('NAME', 'name'),
    { title: 'POOLS', value: (row) => (row.addressPools === null ? 'the rest' : row.addressPools) },
    column('COMMUNITIES', 'communities'),
    column('LOCAL PREF', 'localPreference'),
    column('MED', 'med'),
    { title: 'PEERS', wide: true, value: (row) => (row.peers === null ? 'all' : row.peers) },
    column('AGGREGATE IPV4', 'aggregateLength4', true),
    column('AGGREGATE IPV6', 'aggregateLength6', true),
    column('NUMBER', 'number', true),
    column('ID', 'id', true),
  ],
  fields: [
    { flags: '--description <text>', description: 'free text', field: 'description' },
    {
      flags: '--pools <pools>',
      description: 'address pools it applies to, comma-separated; default: all that no other one names',
      field: 'addressPoolIds',
      parse: commaList,
    },
    {
      flags: '--communities <communities>',
      description: 'AS:VALUE or AS:VALUE:VALUE, comma-separated',
      field: 'communities',
      parse: commaList,
    },
    {
      flags: '--local-preference <number>',
      description: 'for peers in our own AS',
      field: 'localPreference',
      parse: wholeNumber,
    },
    { flags: '--med <number>', description: 'lower is preferred', field: 'med', parse: wholeNumber },
    {
      flags: '--aggregate-length4 <bits>',
      description: 'announce the prefix of this length instead of a /32',
      field: 'aggregateLength4',
      parse: wholeNumber,
    },
    {
      flags: '--aggregate-length6 <bits>',
      description: 'announce the prefix of this length instead of a /128',
      field: 'aggregateLength6',
      parse: wholeNumber,
    },
    {
      flags: '--peers <peers>',
      description: 'only to these peers, comma-separated',
      field: 'peerIds',
      parse: commaList,
    },
  ],
  references: {
    addressPoolIds: { path: '/address-pools', title: 'address pool' },
    peerIds: { path: '/bgp-peers', title: 'BGP peer' },
  },
  verbs: ['list', 'show', 'create', 'set', 'delete'],
}
