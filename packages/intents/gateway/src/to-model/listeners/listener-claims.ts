import { MOST_LISTENER_CERTIFICATES } from '@spout/model'
import type { GatewayListener } from '../../objects/gateway.ts'
import { endsTls } from '../fields/ends-tls.ts'
import { ANY_HOST, hostRank, intersection } from '../fields/hostnames.ts'
import { type Objection, objection } from '../fields/objection.ts'
import { type FoundCertificate, isUsable, type JudgedListener } from './listeners.ts'

/**
 * Why a ListenerSet's listener may not show a certificate: clients choose one of a port by its names, so it would be
 * shown for those of a listener that has precedence. Extra names that no such listener has do no harm.
 * @param earlier those that have precedence
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
 * Listeners of a ListenerSet, of which those are refused that would bring more certificates to a port than it can have:
 * otherwise one set could keep the whole Gateway from being changed.
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

const isOfPort = (other: JudgedListener, { listener: { port } }: JudgedListener): boolean =>
  isUsable(other) && other.listener.port === port
