import { MOST_LISTENER_CERTIFICATES } from '@spout/model'
import type { GatewayListener } from '../../objects/gateway.ts'
import { endsTls } from '../fields/ends-tls.ts'
import { ANY_HOST, hostRank, intersection } from '../fields/hostnames.ts'
import { type Objection, objection } from '../fields/objection.ts'
import { type FoundCertificate, isUsable, type JudgedListener } from './listeners.ts'

/**
 * Why a listener of a ListenerSet may not use a certificate; null when it may. The certificate of a port is chosen by
 * the name that the client requests, so a certificate that is also valid for the host of a listener with precedence
 * would be shown to clients of that listener. Names that no such listener has do no harm.
 * @param earlier the listeners that have precedence
 */
export function claimOf(
  { id, names }: FoundCertificate,
  own: GatewayListener,
  earlier: readonly JudgedListener[],
): Objection | null {
  const others = earlier.filter(
    ({ listener, host, certificateIds }) =>
      listener.port === own.port && endsTls(listener) && host !== ANY_HOST && !certificateIds.includes(id),
  )
  const host = (own.hostname ?? '').toLowerCase()
  const claimed = names
    .map((name) => name.toLowerCase())
    .find((name) =>
      others.some((other) => has(other.host, name) && !(has(host, name) && isAsSpecific(host, other.host))),
    )
  if (claimed === undefined) return null
  const message = `certificateRefs: the certificate is also for ${claimed}, which a listener with precedence has.`
  return objection('InvalidCertificateRef', message)
}

/** Whether the host matches everything that the name matches. */
const has = (host: string, name: string): boolean => intersection(host, name) === name

function isAsSpecific(host: string, other: string): boolean {
  const [[kind, length], [otherKind, otherLength]] = [hostRank(host), hostRank(other)]
  return kind < otherKind || (kind === otherKind && length <= otherLength)
}

/**
 * Refuses the listeners of a ListenerSet that would exceed the number of certificates of a port. Otherwise the control
 * plane would refuse the whole load balancer, and one set could block every change of the Gateway.
 */
export function withinLimits(
  listeners: readonly JudgedListener[],
  earlier: readonly JudgedListener[],
): readonly JudgedListener[] {
  const before = [...earlier]
  return listeners.map((one) => {
    const beside = one.certificateIds.length === 0 ? [] : before.filter((other) => isOfPort(other, one))
    const certificates = new Set([...beside, one].flatMap(({ certificateIds }) => certificateIds))
    const isTooMany = certificates.size > MOST_LISTENER_CERTIFICATES
    const judged = isTooMany ? { ...one, refused: one.refused ?? TOO_MANY } : one
    before.push(judged)
    return judged
  })
}

const TOO_MANY = objection(
  'TooManyListeners',
  `certificateRefs: a port of a Gateway can have ${MOST_LISTENER_CERTIFICATES} certificates.`,
)

/** Whether a usable listener is on the same port. */
const isOfPort = (other: JudgedListener, { listener: { port } }: JudgedListener): boolean =>
  isUsable(other) && other.listener.port === port
