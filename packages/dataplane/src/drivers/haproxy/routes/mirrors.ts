import type { MapName } from '../sections/maps.ts'

/**
 * The frontend for copies of requests. `mirrors.lua` sends them here, and a header of each names the backend that gets
 * it. So members are chosen, checked and connected to as for any request. Responses are discarded.
 */
const MIRRORS = 'mirrors'

/** The header that names the backend of a copy. */
const BACKEND = 'x-spout-mirror'

/** In milliseconds. `mirrors.lua` waits this long for a copy. */
const MOST_MS = 10_000

const found = (name: string): string => `{ var(txn.${name}) -m found }`

/**
 * Rules of a frontend that clients reach, after the rules that change requests: a mirror gets what a member gets. No
 * rule of HAProxy sends a body twice, so a request that is copied is buffered: it continues once the client has sent
 * all of it, or has been silent for its time-out. Other requests never wait.
 */
export const mirrorRules = (mapPath: (map: MapName) => string): readonly string[] => [
  '    http-request set-var(txn.mirrors) var(txn.target) if { var(txn.target) -m beg k }',
  `    http-request set-var(txn.target) fe_name,concat(/,txn.mirrors,/to),map(${mapPath('mirrors')}) if ${found('mirrors')}`,
]

export const copyRules: readonly string[] = [
  `    http-request lua.choose_mirrors if ${found('mirrors')}`,
  `    http-request wait-for-body time 24d if ${found('copies')} { req.fhdr(content-length) -m found }`,
  `    http-request lua.copy_request if ${found('copies')}`,
]

/** @param chroot as of relays. @param uid of the process, which alone connects */
export const mirrorFrontend = ({ chroot, uid }: { readonly chroot: string; readonly uid: number }) => [
  `frontend ${MIRRORS} from relay-frontend`,
  `    bind unix@${chroot}/${MIRRORS} uid ${uid} mode 600 accept-proxy`,
  '    tcp-request session set-var(sess.port) src_port',
  `    timeout client ${MOST_MS}ms`,
  `    http-request set-var(txn.target) req.fhdr(${BACKEND},-1)`,
  `    http-request del-header ${BACKEND}`,
  // The time-out of a member that has the copy.
  `    http-request set-var(txn.attempt) str(${MOST_MS})`,
  '    use_backend %[var(txn.target)]',
]
