import type { MapName } from './maps.ts'

/**
 * A relay is a backend of the process with a frontend of the process as its only server. The time-out of its server is a
 * limit for everything behind it: connecting, which has no time-out of a request's own in 2.6, and each attempt. Only
 * requests that have such a limit go there.
 *
 * A relayed connection begins with a PROXY header (version 2), so that behind it the client's address and port are those
 * of the client. Its unique id, which no client can write, says where the request goes on and how:
 * `<backend>/<limit of an attempt>/<tls or nothing>`.
 */
const DEADLINE = 'deadline'

/** The name that the client asked for by SNI, which members with TLS may be asked for. */
const SNI = 'x-spout-sni'

const found = (name: string): string => `{ var(txn.${name}) -m found }`

/** In a frontend: what a relay says of a request. */
export const PASSED_ON = '    unique-id-format %[var(txn.passed)]'

/** The last rules of a frontend that clients reach. They turn `txn.target` to a relay. */
export function relayRules(mapPath: (map: MapName) => string): readonly string[] {
  const limit = (name: string): string =>
    `    http-request set-var(txn.${name}) fe_name,concat(/,txn.limits,/${name}),map(${mapPath('limits')})`
  return [
    `    http-request allow unless ${found('limits')}`,
    limit('attempt'),
    limit('deadline'),
    // Only what a member gets is relayed.
    `    http-request allow unless ${found('deadline')} { var(txn.target) -m beg b }`,
    '    http-request set-var(txn.secure) str(tls) if { ssl_fc }',
    '    http-request set-var-fmt(txn.passed) %[var(txn.target)]/%[var(txn.attempt)]/%[var(txn.secure)]',
    `    http-request set-var(txn.target) str(${DEADLINE})`,
  ]
}

/** Rules of a backend of members. Once a connection is upgraded, the limit of an answer is none of its own. */
export const attemptLimit = (tunnel: string): readonly string[] => [
  `    http-request set-timeout server var(txn.attempt) if ${found('attempt')}`,
  `    http-request set-timeout tunnel ${tunnel} if ${found('attempt')}`,
]

/** The relays of a process. @param chroot has their sockets: nobody else comes into this directory */
export const relays = (chroot: string): readonly string[] => [
  `backend ${DEADLINE} from relay-backend`,
  '    http-request set-timeout server var(txn.deadline)',
  `    server relay unix@/${DEADLINE} send-proxy-v2 proxy-v2-options unique-id`,
  `frontend ${DEADLINE} from relay-frontend`,
  `    bind unix@${chroot}/${DEADLINE} mode 666 accept-proxy`,
  // For `source-port`. 2.6 evaluates no such rules of a defaults section.
  '    tcp-request session set-var(sess.port) src_port',
  '    use_backend %[var(txn.target)]',
]

/** What the relays have in common. The limits of clients and members are set before and behind them. */
export const relayDefaults = (): readonly string[] => [
  'defaults relay-backend',
  '    mode http',
  '    retries 0',
  '    timeout connect 5s',
  '    timeout server 24d',
  '    timeout tunnel 24d',
  // An idle connection would be of no use to another client, whose address differs.
  '    option http-server-close',
  `    http-request del-header ${SNI}`,
  `    http-request set-header ${SNI} %[var(sess.sni)] if { var(sess.sni) -m found }`,
  'defaults relay-frontend',
  '    mode http',
  '    timeout client 24d',
  `    http-request set-var(sess.sni) req.hdr(${SNI})`,
  `    http-request del-header ${SNI}`,
  '    http-request set-var(txn.target) fc_pp_unique_id,field(1,/)',
  '    http-request set-var(txn.attempt) fc_pp_unique_id,field(2,/)',
  '    http-request set-var(txn.secure) str(tls) if { fc_pp_unique_id,field(3,/) -m str tls }',
]
