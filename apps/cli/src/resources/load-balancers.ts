import { at, column, commaList, count, type Resource, type Row, wholeNumber } from './resource.ts'

/** `3 of 4` for members that are probed, else how many there are. */
function membersUp(row: Row): string {
  const members = (row.pools as { members: { id: string }[] }[]).flatMap((pool) => pool.members)
  const health = (at(row, 'status.members') ?? {}) as Readonly<Record<string, { health: string }>>
  const probed = members.filter(({ id }) => health[id] !== undefined)
  if (probed.length === 0) return members.length === 0 ? '-' : `${members.length} unprobed`
  return `${probed.filter(({ id }) => health[id]?.health === 'up').length} of ${members.length}`
}

/** The name of the node that carries it. */
const ownerName = (row: Row): unknown => {
  const nodes = (at(row, 'status.nodes') ?? []) as { nodeId: string; nodeName: string }[]
  const owner = at(row, 'status.ownerNodeId')
  return nodes.find(({ nodeId }) => nodeId === owner)?.nodeName ?? owner
}

/** No list admits everybody, an empty one nobody. */
const allowed = (row: Row): unknown => {
  const cidrs = row.allowedCidrs as readonly string[] | null
  return cidrs === null ? 'all' : cidrs.length === 0 ? 'nobody' : cidrs
}

export const loadBalancer: Resource = {
  noun: 'lb',
  title: 'load balancer',
  summary: 'load balancers',
  path: '/load-balancers',
  within: [],
  columns: [
    column('NAME', 'name'),
    { title: 'VIPS', value: (row) => (row.vips as { address: string }[]).map((vip) => vip.address) },
    count('LISTENERS', 'listeners'),
    count('POOLS', 'pools'),
    column('STATUS', 'status.provisioning'),
    { title: 'MEMBERS UP', value: membersUp },
    { title: 'NODE', wide: true, value: ownerName },
    column('REASON', 'status.reason', true),
    column('PROJECT', 'projectId', true),
    column('ID', 'id', true),
    column('MESSAGE', 'status.message', true),
  ],
  fields: [
    { flags: '--description <text>', description: 'free text', field: 'description' },
    { flags: '--pool <pool>', description: 'address pool that the VIP is taken from', field: 'addressPool' },
    { flags: '--subnet <subnet>', description: 'tenant subnet that the VIP is taken from', field: 'subnet' },
    { flags: '--address <ip>', description: 'this address and no other', field: 'address' },
    { flags: '--project <project>', description: 'owner (administrators)', field: 'project' },
    { flags: '--tags <tags>', description: 'comma-separated', field: 'tags', parse: commaList },
  ],
  verbs: ['list', 'show', 'create', 'delete'],
}

export const listener: Resource = {
  noun: 'listener',
  title: 'listener',
  summary: 'listeners of a load balancer',
  path: '/load-balancers/{lb}/listeners',
  within: ['lb'],
  columns: [
    column('NAME', 'name'),
    column('PROTOCOL', 'protocol'),
    column('PORT', 'port'),
    column('POOL', 'defaultPoolId'),
    column('ENABLED', 'enabled'),
    column('LIMIT', 'connectionLimit', true),
    { title: 'ALLOWED', wide: true, value: allowed },
    column('HEADERS', 'insertHeaders', true),
    column('ID', 'id', true),
  ],
  fields: [
    { flags: '--protocol <protocol>', description: 'tcp, udp, http or tcp-proxy', required: true, field: 'protocol' },
    { flags: '--port <port>', description: '1 to 65535', required: true, field: 'port', parse: wholeNumber },
    { flags: '--default-pool <pool>', description: 'where connections go', field: 'defaultPoolId' },
    {
      flags: '--connection-limit <count>',
      description: 'most simultaneous connections',
      field: 'connectionLimit',
      parse: wholeNumber,
    },
    {
      flags: '--allowed-cidrs <cidrs>',
      description: 'sources that may connect, comma-separated',
      field: 'allowedCidrs',
      parse: commaList,
    },
    {
      flags: '--insert-headers <names>',
      description: 'x-forwarded-for, x-forwarded-port, x-forwarded-proto',
      field: 'insertHeaders',
      parse: commaList,
    },
  ],
  verbs: ['list', 'show', 'create', 'delete'],
}

export const pool: Resource = {
  noun: 'pool',
  title: 'pool',
  summary: 'pools of a load balancer',
  path: '/load-balancers/{lb}/pools',
  within: ['lb'],
  columns: [
    column('NAME', 'name'),
    column('PROTOCOL', 'protocol'),
    column('ALGORITHM', 'algorithm'),
    count('MEMBERS', 'members'),
    column('CHECK', 'monitor.type'),
    column('PERSISTENCE', 'persistence.type', true),
    column('PANIC %', 'panicThreshold', true),
    column('SLOW START S', 'slowStartSeconds', true),
    column('DRAIN S', 'drainSeconds', true),
    column('RESET ON DOWN', 'resetOnDown', true),
    column('WATCHED', 'passiveCheck.on', true),
    column('ID', 'id', true),
  ],
  fields: [
    {
      flags: '--protocol <protocol>',
      description: 'tcp, udp, http, tcp-proxy, tcp-proxy-v1 or tcp-proxy-v2',
      required: true,
      field: 'protocol',
    },
    {
      flags: '--algorithm <algorithm>',
      description: 'round-robin, least-connections, source-ip or source-ip-port',
      field: 'algorithm',
    },
    { flags: '--listener <listener>', description: 'make it the default pool of this listener', field: 'listener' },
    { flags: '--check <type>', description: 'probe members: tcp, http, tls-hello, ping or udp', field: 'monitor.type' },
    {
      flags: '--check-interval-ms <ms>',
      description: 'time between probes',
      field: 'monitor.intervalMs',
      parse: wholeNumber,
    },
    {
      flags: '--check-timeout-ms <ms>',
      description: 'time a probe may take',
      field: 'monitor.timeoutMs',
      parse: wholeNumber,
    },
    {
      flags: '--rise <count>',
      description: 'successes that bring a member up',
      field: 'monitor.rise',
      parse: wholeNumber,
    },
    {
      flags: '--fall <count>',
      description: 'failures that take a member down',
      field: 'monitor.fall',
      parse: wholeNumber,
    },
    { flags: '--check-path <path>', description: 'what an HTTP probe asks for', field: 'monitor.http.path' },
    {
      flags: '--panic-threshold <percent>',
      description: 'with fewer members up health is ignored',
      field: 'panicThreshold',
      parse: wholeNumber,
    },
    {
      flags: '--slow-start <seconds>',
      description: 'time in which a member that comes up grows to its whole share',
      field: 'slowStartSeconds',
      parse: wholeNumber,
    },
    {
      flags: '--drain <seconds>',
      description: 'after this time connections of a member that left are cut',
      field: 'drainSeconds',
      parse: wholeNumber,
    },
    { flags: '--reset-on-down', description: 'reset TCP connections of a member that goes down', field: 'resetOnDown' },
    {
      flags: '--watch <signs>',
      description: 'take members out by failures in traffic: connection or response (proxied pools)',
      field: 'passiveCheck.on',
    },
  ],
  verbs: ['list', 'show', 'create', 'delete'],
}

export const member: Resource = {
  noun: 'member',
  title: 'member',
  summary: 'members of a pool',
  path: '/load-balancers/{lb}/pools/{pool}/members',
  within: ['lb', 'pool'],
  columns: [
    column('NAME', 'name'),
    column('ADDRESS', 'address'),
    column('PORT', 'port'),
    column('WEIGHT', 'weight'),
    column('HEALTH', 'health'),
    column('REASON', 'healthReason'),
    column('BACKUP', 'backup', true),
    column('ENABLED', 'enabled', true),
    column('ID', 'id', true),
  ],
  fields: [
    {
      flags: '--address <ip>',
      description: 'where it is, inside the tenant network',
      required: true,
      field: 'address',
    },
    { flags: '--port <port>', description: '1 to 65535', required: true, field: 'port', parse: wholeNumber },
    { flags: '--weight <weight>', description: '0 to 256', field: 'weight', parse: wholeNumber },
    { flags: '--backup', description: 'used only when every other member is down', field: 'backup' },
    { flags: '--check-address <ip>', description: 'probe this address instead', field: 'monitorAddress' },
    { flags: '--check-port <port>', description: 'probe this port instead', field: 'monitorPort', parse: wholeNumber },
  ],
  verbs: ['list', 'show', 'create', 'delete'],
}
