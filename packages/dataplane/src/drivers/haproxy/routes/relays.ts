import { MOST_RETRIES } from '@spout/model/route-words'
import { isSet } from '../sections/is-set.ts'
import type { MapName } from '../sections/maps.ts'
import { IS_STREAM, relayedRules, type SourceBounds } from '../sections/source-share.ts'
import { countedRules, isCounted } from './body-limits.ts'

/**
 * A relay is a backend whose only server is a frontend of the same process. HAProxy 2.6 has some limits for a backend,
 * but not for a request: a relay's limits hold for everything behind it. Only requests that need them go there.
 *
 * - `deadline`: the time-out of its server ends all attempts, and connecting, for which a request has no time-out.
 * - `counted`: as `deadline`, and the frontend behind it counts the body (`body-limits.ts`).
 * - `retry-<n>`: tries its server again n times when the response is 425. The frontend behind it, `attempt`, answers so
 *   where the route wants another attempt, with the status as it was in a header.
 *
 * A relayed connection begins with a PROXY header (version 2), so that the frontend behind the relay knows the client's
 * address and port. A header of the request tells the further way; one of that name from the client is replaced:
 * `<backend>/<limit of an attempt>/<tls or nothing>/<retries>/<codes>/<back-off>/<number>/<limit of the body>`. The
 * random number makes it unique to the request.
 */
const DEADLINE = 'deadline'
const COUNTED = 'counted'
const ATTEMPT = 'attempt'
const retryName = (retries: number | string): string => `retry-${retries}`

/** The name that the client asked for by SNI, which members with TLS may be asked for. */
const SNI = 'x-spout-sni'
/** The header with the real status of a response whose status asks for another attempt. */
const STATUS = 'x-spout-status'
const ASK_AGAIN = 425

/** Counts the attempts of requests that wait between them. */
const ATTEMPTS = 'attempts'

const set = (name: string, expression: string, condition = ''): string =>
  `    http-request set-var(txn.${name}) ${expression}${condition}`
const passed = (field: number): string => `var(txn.passed),field(${field},/)`

/**
 * The header with the further way. Not the unique id of the PROXY header: HAProxy makes one for each request of a
 * frontend that has a format for it, relayed or not.
 */
const WAY = 'x-spout-way'
/** A rule of relays. */
const TELL_WAY = `    http-request set-header ${WAY} %[var(txn.passed)]`
/** Rules of the frontends behind relays. */
const KNOW_WAY = [
  set('passed', `req.fhdr(${WAY})`),
  `    http-request del-header ${WAY}`,
  set('target', passed(1)),
  set('attempt', passed(2)),
  set('secure', 'str(tls)', ` if { ${passed(3)} -m str tls }`),
]

/** The last rules of a frontend that clients reach. They turn `txn.target` to a relay. */
export function relayRules(mapPath: (map: MapName) => string): readonly string[] {
  const limit = (name: string, key: string, condition = ''): string =>
    set(name, `fe_name,concat(/,txn.limits,/${key}),map(${mapPath('limits')})`, condition)
  return [
    `    http-request allow unless ${isSet('limits')}`,
    limit('attempt', 'attempt'),
    limit('deadline', 'deadline'),
    // Idempotent ones: RFC 9110, 9.2.2.
    limit('retries', 'retries', ' if { method GET HEAD OPTIONS PUT DELETE TRACE }'),
    limit('codes', 'codes', ` if ${isSet('retries')}`),
    limit('back_off', 'back-off', ` if ${isSet('retries')}`),
    set('relay', `str(${retryName('')}),concat(,txn.retries)`, ` if ${isSet('retries')}`),
    set('relay', `str(${DEADLINE})`, ` if ${isSet('deadline')}`),
    set('relay', `str(${COUNTED})`, ` if ${isCounted}`),
    // Only requests that reach a member are relayed.
    `    http-request allow unless ${isSet('relay')} { var(txn.target) -m beg b }`,
    set('secure', 'str(tls)', ' if { ssl_fc }'),
    `    http-request set-var-fmt(txn.passed) ${['target', 'attempt', 'secure', 'retries', 'codes', 'back_off']
      .map((name) => `%[var(txn.${name})]/`)
      .join('')}%[rand]/%[var(txn.body)]`,
    set('target', 'var(txn.relay)'),
  ]
}

/** Rules of a backend of members. The limit of a response does not apply to an upgraded connection. */
export const attemptLimit = (tunnel: string): readonly string[] => [
  '    http-request set-timeout server var(txn.attempt) if { var(txn.attempt) -m len gt 0 }',
  `    http-request set-timeout tunnel ${tunnel} if { var(txn.attempt) -m len gt 0 }`,
]

/** Before those of a backend that has no rules but those for HTTP/2 and these. Other requests pay for one condition. */
export const ONLY_LIMITED = `    http-request allow unless ${IS_STREAM} || ${isSet('attempt')}`

interface RelayPlace {
  /** The directory of the sockets: no other user can enter it. */
  readonly chroot: string
  /** The user of the process, which alone connects. */
  readonly uid: number
}

/**
 * The relays of a process.
 * @param canRetry whether the proxy has `http-requests.lua`
 */
export function relays({ chroot, uid }: RelayPlace, canRetry: boolean): readonly string[] {
  const server = (name: string): readonly string[] => [TELL_WAY, `    server relay unix@/${name} send-proxy-v2`]
  const frontend = (name: string): readonly string[] => [
    `frontend ${name} from relay-frontend`,
    `    bind unix@${chroot}/${name} uid ${uid} mode 600 accept-proxy`,
    // For `source-port`. 2.6 evaluates no such rules of a defaults section.
    '    tcp-request session set-var(sess.port) src_port',
    ...KNOW_WAY,
  ]
  const further = '    use_backend %[var(txn.target)]'
  const whole = (name: string, rules: readonly string[]): readonly string[] => [
    `backend ${name} from relay-backend`,
    `    http-request set-timeout server var(txn.deadline) if ${isSet('deadline')}`,
    ...server(name),
    ...frontend(name),
    ...rules,
    set('retries', passed(4)),
    ...(canRetry ? [`    use_backend ${retryName('%[var(txn.retries)]')} if { var(txn.retries) -m len gt 0 }`] : []),
    further,
  ]
  const deadline = whole(DEADLINE, [])
  if (!canRetry) return deadline
  const unanswered = ` unless ${isSet('answered')}`
  return [
    ...deadline,
    ...whole(COUNTED, [set('body', passed(8)), ...countedRules]),
    ...Array.from({ length: MOST_RETRIES }, (_, at) => [
      `backend ${retryName(at + 1)} from relay-backend`,
      `    retries ${at + 1}`,
      `    retry-on ${ASK_AGAIN}`,
      // No further attempt once the client has gone or the deadline has passed.
      '    option abortonclose',
      `    http-response lua.restore_status if { res.hdr(${STATUS}) -m found }`,
      ...server(ATTEMPT),
    ]).flat(),
    ...frontend(ATTEMPT),
    set('codes', passed(5)),
    set('back_off', passed(6)),
    `    http-request track-sc0 var(txn.passed) table ${ATTEMPTS} if { var(txn.back_off) -m len gt 0 }`,
    '    http-request lua.back_off if { sc0_http_req_cnt gt 1 }',
    '    http-response set-var(txn.answered) bool(true)',
    `    http-response del-header ${STATUS}`,
    '    http-response lua.ask_again',
    // The proxy's own responses: the member gave none, a broken one, or none in time.
    `    http-after-response set-header ${STATUS} %[status]${unanswered}`,
    `    http-after-response set-status ${ASK_AGAIN}${unanswered}`,
    further,
  ]
}

/**
 * The table has room for as many requests as there are connections. An entry lasts while its attempt does and a little
 * longer, which is until the next one; `conn_cur` is stored because its change renews the time.
 * @param requests at once, at most
 */
export const attemptTable = (requests: number): readonly string[] => [
  `backend ${ATTEMPTS}`,
  `    stick-table type string len 127 size ${requests} expire 10s store http_req_cnt,conn_cur`,
]

/** The settings that all relays share. The limits of clients and members are set before and behind them. */
export const relayDefaults = (bounds: SourceBounds): readonly string[] => [
  'defaults relay-backend',
  '    mode http',
  ...relayedRules(bounds),
  '    retries 0',
  '    timeout connect 5s',
  '    timeout server 24d',
  '    timeout tunnel 24d',
  // Bytes from the client do not extend the time for the response, since a client may send its body slowly.
  '    option independent-streams',
  // Another client, with another address, could not use an idle connection.
  '    option http-server-close',
  `    http-request del-header ${SNI}`,
  `    http-request set-header ${SNI} %[var(sess.sni)] if { var(sess.sni) -m found }`,
  'defaults relay-frontend',
  '    mode http',
  '    timeout client 24d',
  `    http-request set-var(sess.sni) req.hdr(${SNI})`,
  `    http-request del-header ${SNI}`,
]
