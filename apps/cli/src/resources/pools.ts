import { ALGORITHMS, CHECK_TYPES, POOL_PROTOCOLS } from '@spout/model'
import { OWN_FIELDS } from './load-balancers.ts'
import {
  at,
  cipherNames,
  column,
  commaList,
  count,
  oneOf,
  orNone,
  type Resource,
  type Row,
  wholeNumber,
  yesOrNo,
} from './resource.ts'

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
    column('TLS', 'tls.minVersion', true),
    column('HTTP/2', 'http2', true),
    column('REFUSED %', 'refusedPercent', true),
    column('ID', 'id', true),
  ],
  fields: [
    ...OWN_FIELDS,
    {
      flags: '--protocol <protocol>',
      description: oneOf(POOL_PROTOCOLS),
      required: true,
      field: 'protocol',
    },
    {
      flags: '--algorithm <algorithm>',
      description: oneOf(ALGORITHMS),
      field: 'algorithm',
    },
    {
      flags: '--persistence <how>',
      description:
        'how clients keep their member: source-ip, source-ip:SECONDS, source-ip/IPV4-PREFIX,IPV6-PREFIX:SECONDS, cookie, cookie:KEY=VALUE,… (name, path, same-site, secure, max-age), application-cookie=NAME or none',
      field: 'persistence',
      parse: orNone(persistence),
    },
    {
      flags: '--listener <listener>',
      description: 'make it the default pool of this listener',
      field: 'listener',
      only: 'create',
    },
    {
      flags: '--check <type>',
      description: `probe members: ${oneOf([...CHECK_TYPES, 'none'])}`,
      field: 'monitor.type',
    },
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
      description: 'with fewer members up, health is ignored',
      field: 'panicThreshold',
      parse: wholeNumber,
    },
    {
      flags: '--slow-start <seconds>',
      description: 'time in which a recovered member grows to its whole share',
      field: 'slowStartSeconds',
      parse: wholeNumber,
    },
    {
      flags: '--drain <seconds>',
      description: 'after this time, connections of a removed member are cut',
      field: 'drainSeconds',
      parse: wholeNumber,
    },
    {
      flags: '--reset-on-down',
      description: 'reset TCP connections of a member that goes down',
      field: 'resetOnDown',
      only: 'create',
    },
    {
      flags: '--reset-on-down <yes|no>',
      description: 'reset TCP connections of a member that goes down',
      field: 'resetOnDown',
      only: 'set',
      parse: yesOrNo,
    },
    {
      flags: '--watch <signs>',
      description: 'eject members by failures in traffic: connection or response (proxied pools), or none',
      field: 'passiveCheck.on',
    },
    {
      flags: '--http2 <yes|no>',
      description: 'speak HTTP/2 without TLS with members, as gRPC needs (pools of protocol http)',
      field: 'http2',
      parse: yesOrNo,
    },
    {
      flags: '--refuse <percent>',
      description:
        'refuse this part of new connections (pools of protocols tcp, udp and sctp without proxy); 0 for none',
      field: 'refusedPercent',
      parse: wholeNumber,
    },
    {
      flags: '--tls <yes|no>',
      description: 'whether TLS is spoken with members; each option --tls-... implies yes',
      field: 'tls.speak',
      parse: yesOrNo,
    },
    {
      flags: '--tls-ca <certificate>',
      description: "certificate of the authorities that members' certificates must be from, or 'none'",
      field: 'tls.caCertificateId',
      parse: orNone(),
    },
    {
      flags: '--tls-crl <certificate>',
      description: "revocation lists of these authorities, with --tls-ca; or 'none'",
      field: 'tls.crlCertificateId',
      parse: orNone(),
    },
    {
      flags: '--tls-name <host>',
      description: "the name that members' certificates must have (SNI); 'none': the one that the client asked for",
      field: 'tls.serverName',
      parse: orNone(),
    },
    {
      flags: '--tls-certificate <certificate>',
      description: "certificate that is shown to members which ask for one, or 'none'",
      field: 'tls.clientCertificateId',
      parse: orNone(),
    },
    {
      flags: '--tls-min <version>',
      description: 'lowest version of TLS with members: 1.2 or 1.3',
      field: 'tls.minVersion',
    },
    {
      flags: '--tls-ciphers <names>',
      description: "cipher suites with members by OpenSSL's names, separated by colons, or 'default'",
      field: 'tls.ciphers',
      parse: cipherNames,
    },
    {
      flags: '--tls-alpn <protocols>',
      description: "application protocols that are offered to members, by preference: h2,http/1.1; '' for none",
      field: 'tls.alpn',
      parse: commaList,
    },
  ],
  body: (fields) => ({
    ...fields,
    ...(at(fields, 'monitor.type') === 'none' ? { monitor: null } : {}),
    ...(at(fields, 'passiveCheck.on') === 'none' ? { passiveCheck: null } : {}),
    ...tlsOf(fields),
  }),
  verbs: ['list', 'show', 'create', 'set', 'delete'],
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
    ...OWN_FIELDS,
    {
      flags: '--address <ip>',
      description: 'address in the tenant network',
      required: true,
      field: 'address',
    },
    { flags: '--port <port>', description: '1 to 65535', required: true, field: 'port', parse: wholeNumber },
    { flags: '--weight <weight>', description: '0 to 256', field: 'weight', parse: wholeNumber },
    { flags: '--backup', description: 'used only when every other member is down', field: 'backup', only: 'create' },
    {
      flags: '--backup <yes|no>',
      description: 'used only when every other member is down',
      field: 'backup',
      only: 'set',
      parse: yesOrNo,
    },
    {
      flags: '--check-address <ip>',
      description: "probe this address instead; 'none': its own",
      field: 'monitorAddress',
      parse: orNone(),
    },
    {
      flags: '--check-port <port>',
      description: "probe this port instead; 'none': its own",
      field: 'monitorPort',
      parse: orNone(wholeNumber),
    },
  ],
  verbs: ['list', 'show', 'create', 'set', 'delete'],
}

const APPLICATION = 'application-cookie='
const COOKIE = 'cookie:'
/** `source-ip/24,56:600`: networks of IPv4 and IPv6, and the time-out, each if it is there. */
const SOURCE = /^source-ip(?:\/([^,:]*)(?:,([^:]*))?)?(?::(.*))?$/
const YES_NO: ReadonlySet<string> = new Set(['yes', 'no'])

/** The server says what is wrong with it. */
function persistence(text: string): object {
  if (text.startsWith(APPLICATION)) return { type: 'application-cookie', cookieName: text.slice(APPLICATION.length) }
  if (text.startsWith(COOKIE)) return { type: 'cookie', cookie: cookieOf(text.slice(COOKIE.length)) }
  const source = SOURCE.exec(text)
  if (source === null) return { type: text }
  const [, ipv4, ipv6, seconds] = source
  const networks = { ...(ipv4 && { ipv4Prefix: wholeNumber(ipv4) }), ...(ipv6 && { ipv6Prefix: wholeNumber(ipv6) }) }
  return {
    type: 'source-ip',
    ...(seconds !== undefined && { timeoutSeconds: wholeNumber(seconds) }),
    ...(Object.keys(networks).length > 0 && { networks }),
  }
}

/** Words of the option, as fields of the API. */
const COOKIE_FIELDS: Readonly<Record<string, string>> = { 'same-site': 'sameSite', 'max-age': 'maxAgeSeconds' }

const cookieOf = (text: string): object =>
  Object.fromEntries(
    text.split(',').map((part) => {
      const [, key = part, value = ''] = /^([^=]*)=(.*)$/.exec(part) ?? []
      const typed =
        key === 'max-age' ? wholeNumber(value) : key === 'secure' && YES_NO.has(value) ? value === 'yes' : value
      return [COOKIE_FIELDS[key] ?? key, typed]
    }),
  )

/** `--tls yes` alone keeps the settings that the pool has, or takes the defaults. */
function tlsOf({ tls }: Row): Row {
  if (tls === undefined) return {}
  const { speak, ...settings } = tls as Row
  return { tls: speak === false ? null : settings }
}
