import { column, commaList, count, type Resource, wholeNumber, yesOrNo } from './resource.ts'

const range = (text: string): unknown =>
  text.split(',').map((part) => {
    const [first = '', last = first] = part.split('-').map((end) => end.trim())
    return { first, last }
  })

export const network: Resource = {
  noun: 'network',
  title: 'network',
  summary: 'tenant networks',
  path: '/networks',
  within: [],
  columns: [
    column('NAME', 'name'),
    { title: 'SUBNETS', value: (row) => (row.subnets as { cidr: string }[]).map((subnet) => subnet.cidr) },
    column('RETURN PATH', 'returnPath'),
    column('SEGMENT', 'segment.physicalNetwork'),
    column('VLAN', 'segment.vlan', true),
    column('NUMBER', 'number', true),
    column('PROJECT', 'projectId', true),
    column('ID', 'id', true),
  ],
  fields: [
    { flags: '--project <project>', description: 'owner (administrators)', field: 'project' },
    {
      flags: '--return-path <path>',
      description: 'gateway, dsr or node (client addresses kept), or snat',
      field: 'returnPath',
    },
    {
      flags: '--physical-network <name>',
      description: 'physical network of the segment on the nodes',
      field: 'segment.physicalNetwork',
    },
    { flags: '--vlan <id>', description: 'VLAN on that physical network', field: 'segment.vlan', parse: wholeNumber },
  ],
  verbs: ['list', 'show', 'create', 'delete'],
}

export const subnet: Resource = {
  noun: 'subnet',
  title: 'subnet',
  summary: 'subnets of a tenant network',
  path: '/networks/{network}/subnets',
  within: ['network'],
  columns: [
    column('NAME', 'name'),
    column('CIDR', 'cidr'),
    column('GATEWAY', 'gatewayIp'),
    { title: 'REACH', value: (row) => row.reach ?? 'segment' },
    column('ID', 'id', true),
  ],
  fields: [
    { flags: '--cidr <cidr>', description: 'such as 10.0.0.0/24', required: true, field: 'cidr' },
    { flags: '--gateway <ip>', description: "the members' gateway", field: 'gatewayIp' },
    {
      flags: '--reach <how>',
      description: 'segment (default), or tunnel for members behind routers with return path dsr',
      field: 'reach',
    },
  ],
  verbs: ['list', 'create', 'delete'],
}

export const addressPool: Resource = {
  noun: 'address-pool',
  title: 'address pool',
  summary: 'public addresses for load balancers',
  path: '/address-pools',
  within: [],
  columns: [
    column('NAME', 'name'),
    {
      title: 'RANGES',
      value: (row) =>
        (row.ranges as { first: string; last: string }[]).map(({ first, last }) =>
          first === last ? first : `${first}-${last}`,
        ),
    },
    column('CIDR', 'cidr'),
    column('DRAINING', 'draining'),
    column('QUARANTINE S', 'quarantineSeconds', true),
    column('PROJECTS', 'projectIds', true),
    column('ID', 'id', true),
  ],
  fields: [
    {
      flags: '--ranges <ranges>',
      description: 'such as 198.51.100.16-198.51.100.250, comma-separated',
      required: true,
      only: 'create',
      field: 'ranges',
      parse: range,
    },
    {
      flags: '--cidr <cidr>',
      description: 'the subnet of the ranges',
      required: true,
      only: 'create',
      field: 'cidr',
    },
    { flags: '--gateway <ip>', description: "that subnet's gateway", only: 'create', field: 'gatewayIp' },
    {
      flags: '--projects <ids>',
      description: 'only for these projects, comma-separated',
      only: 'create',
      field: 'projectIds',
      parse: commaList,
    },
    {
      flags: '--quarantine-seconds <s>',
      description: 'how long a released address rests',
      only: 'create',
      field: 'quarantineSeconds',
      parse: wholeNumber,
    },
    {
      flags: '--draining <yes|no>',
      description: 'yes: it gives no new addresses, those in use stay',
      field: 'draining',
      parse: yesOrNo,
    },
  ],
  verbs: ['list', 'show', 'create', 'set', 'delete'],
}

export const address: Resource = {
  noun: 'address',
  title: 'address',
  summary: 'addresses in use or resting',
  path: '/addresses',
  within: [],
  columns: [
    column('ADDRESS', 'address'),
    column('USE', 'use'),
    column('OWNER', 'ownerId'),
    column('RESTS UNTIL', 'quarantineUntil'),
    column('PROJECT', 'projectId', true),
    column('PORT', 'portId', true),
  ],
  fields: [],
  verbs: ['list'],
}

export const project: Resource = {
  noun: 'project',
  title: 'project',
  summary: 'tenants',
  path: '/projects',
  within: [],
  columns: [
    column('NAME', 'name'),
    column('ENABLED', 'enabled'),
    column('DOMAINS', 'domains', true),
    column('PROVEN DOMAINS', 'provenDomains', true),
    column('DESCRIPTION', 'description', true),
    column('ID', 'id', true),
  ],
  fields: [
    { flags: '--name <name>', description: 'a new name', field: 'name', only: 'set' },
    { flags: '--description <text>', description: 'free text', field: 'description' },
    {
      flags: '--enabled <yes|no>',
      description: 'no: its tokens are void; what it has goes on',
      field: 'enabled',
      only: 'set',
      parse: yesOrNo,
    },
    { flags: '--id <id>', description: 'the id that it has in another Keystone', field: 'id', only: 'create' },
    {
      flags: '--domains <domains>',
      description: "names that its load balancers may have, comma-separated: shop.example, '*.apps.example'",
      field: 'domains',
      only: 'set',
      parse: commaList,
    },
  ],
  verbs: ['list', 'show', 'create', 'set', 'delete'],
}

export const user: Resource = {
  noun: 'user',
  title: 'user',
  summary: 'users: people and programs',
  path: '/users',
  within: [],
  columns: [column('NAME', 'name'), column('ENABLED', 'enabled'), count('ROLES', 'roles'), column('ID', 'id', true)],
  shownOnce: [column('PASSWORD', 'password')],
  fields: [
    { flags: '--description <text>', description: 'free text', field: 'description' },
    { flags: '--project <project>', description: 'project in which the user has the role', field: 'project' },
    { flags: '--role <role>', description: 'reader, balancer, member (default) or admin', field: 'role' },
    {
      flags: '--password-file <file>',
      description: "file with the password, '-' for standard input; default: one is generated and shown once",
      field: 'passwordFile',
    },
  ],
  verbs: ['list', 'show', 'create', 'delete'],
}

export const token: Resource = {
  noun: 'token',
  title: 'enrolment token',
  summary: 'one-time tokens that enrol nodes',
  path: '/enrolment-tokens',
  within: [],
  columns: [
    column('NODE', 'nodeName'),
    column('EXPIRES', 'expiresAt'),
    column('USED', 'usedAt'),
    column('ID', 'id', true),
  ],
  shownOnce: [column('TOKEN', 'token')],
  fields: [
    { flags: '--node-group <group>', description: 'group that the node joins', field: 'nodeGroup' },
    { flags: '--ttl-seconds <s>', description: 'how long it is valid', field: 'ttlSeconds', parse: wholeNumber },
  ],
  verbs: ['list', 'create'],
}
