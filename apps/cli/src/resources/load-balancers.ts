import { INSERT_HEADERS, LISTENER_PROTOCOLS, SpoutError } from '@spout/model'
import { jsonIn } from '../json-file.ts'
import {
  at,
  cipherNames,
  column,
  commaList,
  count,
  type Field,
  oneOf,
  orNone,
  type Resource,
  type Row,
  wholeNumber,
  yesOrNo,
} from './resource.ts'

/** Fields of load balancers and their parts. */
export const OWN_FIELDS: readonly Field[] = [
  { flags: '--name <name>', description: 'a new name', field: 'name', only: 'set' },
  { flags: '--description <text>', description: 'free text', field: 'description' },
  { flags: '--enabled <yes|no>', description: 'no takes it out of service', field: 'enabled', parse: yesOrNo },
]

/** `3 of 4` for members that are probed, else their number. */
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

/** Each name with its state. */
const namesShown = (row: Row): unknown => {
  const states = (at(row, 'status.dns') ?? []) as readonly { name: string; state: string }[]
  return states.map(({ name, state }) => `${name} ${state}`)
}

/** Null admits everybody, an empty list nobody. */
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
    column('SERVING', 'status.serving.state'),
    { title: 'MEMBERS UP', value: membersUp },
    { title: 'NODE', wide: true, value: ownerName },
    column('REASON', 'status.reason', true),
    column('CLASS', 'classId', true),
    { title: 'DNS NAMES', wide: true, value: namesShown },
    column('PROJECT', 'projectId', true),
    column('ID', 'id', true),
    column('MESSAGE', 'status.message', true),
  ],
  fields: [
    ...OWN_FIELDS,
    {
      flags: '--pool <pool>',
      description: 'address pool that the VIP is taken from',
      field: 'addressPool',
      only: 'create',
    },
    {
      flags: '--subnet <subnet>',
      description: 'tenant subnet that the VIP is taken from',
      field: 'subnet',
      only: 'create',
    },
    { flags: '--address <ip>', description: 'this address and no other', field: 'address', only: 'create' },
    { flags: '--class <class>', description: 'class that it is of', field: 'classId', only: 'create' },
    { flags: '--project <project>', description: 'owner (administrators)', field: 'project', only: 'create' },
    { flags: '--tags <tags>', description: 'comma-separated', field: 'tags', parse: commaList },
    {
      flags: '--dns-names <names>',
      description: "names to publish with its public addresses, comma-separated; '' for none",
      field: 'dnsNames',
      parse: commaList,
    },
    {
      flags: '--dns-ttl <seconds>',
      description: "how long resolvers may keep the answer, or 'none' for the configured time",
      field: 'dnsTtlSeconds',
      parse: orNone(wholeNumber),
    },
  ],
  references: { classId: { path: '/load-balancer-classes', title: 'load balancer class' } },
  verbs: ['list', 'show', 'create', 'set', 'delete'],
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
    count('ROUTES', 'routes', true),
    count('CERTIFICATES', 'tls.certificateIds', true),
    column('TLS', 'tls.minVersion', true),
    column('LIMIT', 'connectionLimit', true),
    { title: 'ALLOWED', wide: true, value: allowed },
    column('HEADERS', 'insertHeaders', true),
    column('ID', 'id', true),
  ],
  fields: [
    ...OWN_FIELDS,
    { flags: '--protocol <protocol>', description: oneOf(LISTENER_PROTOCOLS), required: true, field: 'protocol' },
    { flags: '--port <port>', description: '1 to 65535', required: true, field: 'port', parse: wholeNumber },
    {
      flags: '--default-pool <pool>',
      description: "pool for connections, or 'none'",
      field: 'defaultPoolId',
      parse: orNone(),
    },
    {
      flags: '--connection-limit <count>',
      description: "limit of simultaneous connections, or 'none'",
      field: 'connectionLimit',
      parse: orNone(wholeNumber),
    },
    {
      flags: '--allowed-cidrs <cidrs>',
      description: "sources that may connect, comma-separated, or 'all'; '' admits nobody",
      field: 'allowedCidrs',
      parse: (text) => (text === 'all' ? null : commaList(text)),
    },
    {
      flags: '--routes <file>',
      description:
        "routes of an HTTP, HTTPS, TLS or TLS passthrough listener, in order, as a JSON list; '-' is the standard input",
      field: 'routes',
      parse: (file) => jsonIn(file, '--routes'),
    },
    {
      flags: '--certificates <certificates>',
      description: 'certificates of an HTTPS or TLS listener, comma-separated; the first is the default',
      field: 'tls.certificateIds',
      parse: commaList,
    },
    {
      flags: '--unknown-names <default|refuse>',
      description: 'what clients get that name no host of a certificate: the first certificate, or an alert',
      field: 'tls.unknownNames',
    },
    { flags: '--min-tls <version>', description: 'lowest version of TLS: 1.2 or 1.3', field: 'tls.minVersion' },
    {
      flags: '--ciphers <names>',
      description: "cipher suites by OpenSSL's names and by preference, separated by colons, or 'default'",
      field: 'tls.ciphers',
      parse: cipherNames,
    },
    {
      flags: '--alpn <protocols>',
      description: "application protocols to negotiate, by preference: h2,http/1.1; '' for none",
      field: 'tls.alpn',
      parse: commaList,
    },
    {
      flags: '--hsts <seconds>',
      description: "how long clients insist on TLS (Strict-Transport-Security), or 'none'",
      field: 'tls.hsts',
      parse: orNone((text) => ({ maxAgeSeconds: wholeNumber(text) })),
    },
    {
      flags: '--client-ca <certificate>',
      description: "authorities that clients' certificates must be from; clients are asked for one then. Or 'none'",
      field: 'tls.clientCertificates',
      parse: orNone((name) => ({ caCertificateId: name })),
    },
    {
      flags: '--client-crl <certificate>',
      description: "revocation lists of these authorities, with --client-ca; or 'none'",
      field: 'tls.clientCertificates.crlCertificateId',
      parse: orNone(),
    },
    {
      flags: '--client-certificates <required|optional>',
      description: 'whether clients without a certificate are refused; with --client-ca. Default required',
      field: 'tls.clientCertificates.required',
      parse: isRequired,
    },
    {
      flags: '--invalid-client-certificates <accept|refuse>',
      description: 'what becomes of clients whose certificate does not fit; with --client-certificates optional',
      field: 'tls.clientCertificates.acceptInvalid',
      parse: isAccepted,
    },
    {
      flags: '--separate-hosts <names>',
      description:
        'hosts, or *. and a domain, that are kept apart, comma-separated: requests for others than the one asked for get 421',
      field: 'tls.separateHosts',
      parse: commaList,
    },
    {
      flags: '--access-log <format>',
      description: "a line for each request: json, common, combined, or text with {fields}; or 'none'",
      field: 'accessLog',
      parse: orNone((format) => ({ format })),
    },
    {
      flags: '--access-log-to <target>',
      description:
        "who gets the lines by syslog: udp://10.0.0.5:514, tcp://[fd10::5]:601 or tls://10.0.0.5:6514; or 'none': a file has them",
      field: 'accessLog.syslog',
      parse: orNone(syslogTarget),
    },
    {
      flags: '--access-log-ca <certificate>',
      description:
        'authorities that the certificate of the receiver over TLS must be from; with tls:// in --access-log-to',
      field: 'accessLog.syslog.tls.caCertificateId',
    },
    {
      flags: '--access-log-server-name <name>',
      description: 'the name in that certificate; default the address',
      field: 'accessLog.syslog.tls.serverName',
    },
    {
      flags: '--access-log-certificate <certificate>',
      description: 'shown to a receiver over TLS that asks for one',
      field: 'accessLog.syslog.tls.clientCertificateId',
    },
    {
      flags: '--latencies <yes|no>',
      description: 'whether durations of requests are counted, for top, lb stats and listeners of protocol metrics',
      field: 'latencies',
      parse: yesOrNo,
    },
    {
      flags: '--route-figures <yes|no>',
      description: 'whether they are also counted for each route, for listeners of protocol metrics; with --latencies',
      field: 'routeFigures',
      parse: yesOrNo,
    },
    {
      flags: '--insert-headers <names>',
      description: INSERT_HEADERS.join(', '),
      field: 'insertHeaders',
      parse: commaList,
    },
  ],
  verbs: ['list', 'show', 'create', 'set', 'delete'],
}

/** `udp://10.0.0.5:514`, `tls://10.0.0.5`. The server checks the parts. @throws SpoutError InvalidField */
function syslogTarget(text: string): object {
  const [, transport, address6, address4, port] =
    /^([a-z]+):\/\/(?:\[([^\]]+)\]|([^:/]+))(?::([0-9]+))?$/.exec(text) ?? []
  if (transport === undefined)
    throw new SpoutError('InvalidField', { field: '--access-log-to', reason: 'must be like udp://10.0.0.5:514' })
  return {
    transport,
    address: address6 ?? address4,
    ...(port === undefined ? usualPort(transport) : { port: Number(port) }),
  }
}

/** The usual port of syslog over TLS (RFC 5425 section 4.1). The server knows the others. */
const usualPort = (transport: string): { readonly port?: number } => (transport === 'tls' ? { port: 6514 } : {})

/** @throws SpoutError InvalidField */
function isRequired(text: string): boolean {
  if (text === 'required' || text === 'optional') return text === 'required'
  throw new SpoutError('InvalidField', { field: '--client-certificates', reason: 'must be required or optional' })
}

/** @throws SpoutError InvalidField */
function isAccepted(text: string): boolean {
  if (text === 'accept' || text === 'refuse') return text === 'accept'
  throw new SpoutError('InvalidField', { field: '--invalid-client-certificates', reason: 'must be accept or refuse' })
}
