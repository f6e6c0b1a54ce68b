import { hostText, type ListenerTls, MOST_WILDCARD_LABELS } from '@spout/model'
import type { GatewayListener, RouteGroupKind } from '../../objects/gateway.ts'
import { GATEWAY_GROUP } from '../../objects/names.ts'
import type { ObjectRef } from '../../objects/references.ts'
import { kindsOfProtocol, LISTENER_PROTOCOLS } from '../../route-kinds/all.ts'
import { endsTls, passesTls } from '../fields/ends-tls.ts'
import { isWildcard, parentDomain } from '../fields/hostnames.ts'
import { type Objection, objection } from '../fields/objection.ts'
import type { ValidateClients } from './client-certificates.ts'

/** One listener of a Gateway or a ListenerSet, with the outcome of all checks. */
export interface JudgedListener {
  readonly listener: GatewayListener
  /** Unique among all listeners of a Gateway: the name; in a ListenerSet with the prefix `namespace/name/`. */
  readonly id: string
  /** Host name in lower case; empty for all names. */
  readonly host: string
  /** Kinds of routes that may attach. */
  readonly kinds: readonly RouteGroupKind[]
  /** Why it is not accepted. */
  readonly refused: Objection | null
  /** Why it conflicts with another listener on its port: by the protocol, or by the same host name. */
  readonly conflict: Objection | null
  /** Whether the other listener of the conflict has precedence. Then this one does not count in other conflicts. */
  readonly isExcluded: boolean
  /** Why a reference of the listener does not resolve, or why it allows a kind that cannot attach. */
  readonly unresolved: Objection | null
  /** Ids of its certificates; empty unless it ends TLS. */
  readonly certificateIds: readonly string[]
  /** Whether clients are asked for a certificate, and whether those without a valid one are admitted. */
  readonly clientCertificates: ListenerTls['clientCertificates']
}

/** Whether the listener can be served. */
export const isUsable = ({ refused, conflict, unresolved }: JudgedListener): boolean =>
  refused === null && conflict === null && unresolved === null

/** A certificate of the project. */
export interface FoundCertificate {
  readonly id: string
  /** The DNS names for which it is valid. */
  readonly names: readonly string[]
}

/** Finds the certificate that a reference of a listener names. */
export type ResolveCertificate = (
  ref: ObjectRef,
  listener: GatewayListener,
) => FoundCertificate | { readonly unresolved: Objection }

/** What judging the listeners of a ListenerSet needs to know beside them. */
export interface AboutSet {
  /** Listeners that have precedence: those of the Gateway and of earlier sets. */
  readonly earlier: readonly GatewayListener[]
  /** Prefix of the listeners' ids. */
  readonly prefix: string
}

/** How certificates are found. Left out where only attachment is decided. */
export interface ListenerCertificates {
  readonly certificate?: ResolveCertificate | undefined
  readonly clients?: ValidateClients | undefined
}

/** Checks the listeners of one object, each by itself and against the others. */
export function judgeListeners(
  listeners: readonly GatewayListener[],
  { certificate, clients }: ListenerCertificates = {},
  { earlier, prefix }: AboutSet = { earlier: [], prefix: '' },
): readonly JudgedListener[] {
  const excluded = new Map(
    listeners.flatMap((one) => {
      const conflict = conflictOf(one, hostOf(one), earlier)
      return conflict === null ? [] : [[one, withoutNames(conflict)] as const]
    }),
  )
  const remaining = listeners.filter((one) => !excluded.has(one))
  return listeners.map((listener): JudgedListener => {
    const host = hostOf(listener)
    const others = excluded.has(listener) ? earlier : remaining
    const supported = kindsOfProtocol(listener.protocol)
    const named = listener.allowedRoutes?.kinds ?? []
    const kinds =
      named.length === 0 ? supported : supported.filter((kind) => named.some((one) => isSameKind(one, kind)))
    const unknown = named.find((one) => !supported.some((kind) => isSameKind(one, kind)))
    const shown = certificate === undefined ? { ids: [], unresolved: null } : certificatesOf(listener, certificate)
    const validation = clients?.(listener) ?? null
    return {
      listener,
      id: `${prefix}${listener.name}`,
      host,
      kinds,
      refused: refusalOf(listener, host) ?? validation?.refused ?? null,
      conflict: excluded.get(listener) ?? conflictOf(listener, host, others),
      isExcluded: excluded.has(listener),
      unresolved:
        unknown === undefined
          ? (shown.unresolved ?? validation?.unresolved ?? null)
          : objection(
              'InvalidRouteKinds',
              `allowedRoutes.kinds: ${unknown.kind} cannot attach to ${listener.protocol}.`,
            ),
      certificateIds: shown.ids,
      clientCertificates: validation?.clientCertificates ?? null,
    }
  })
}

/**
 * All certificate references must resolve. Otherwise clients that request one name would get a certificate for another.
 */
function certificatesOf(
  listener: GatewayListener,
  certificate: ResolveCertificate,
): { readonly ids: readonly string[]; readonly unresolved: Objection | null } {
  if (!endsTls(listener)) return { ids: [], unresolved: null }
  const found = (listener.tls?.certificateRefs ?? []).map((ref) => certificate(ref, listener))
  const ids = [...new Set(found.flatMap((one) => ('id' in one ? [one.id] : [])))]
  const [wrong] = found.flatMap((one) => ('id' in one ? [] : [one.unresolved]))
  if (wrong !== undefined) return { ids, unresolved: wrong }
  const none = objection('InvalidCertificateRef', 'tls.certificateRefs: names no certificate.')
  return { ids, unresolved: ids.length === 0 ? none : null }
}

const isSameKind = (a: RouteGroupKind, b: RouteGroupKind): boolean =>
  (a.group ?? GATEWAY_GROUP) === (b.group ?? GATEWAY_GROUP) && a.kind === b.kind

function refusalOf({ protocol, tls }: GatewayListener, host: string): Objection | null {
  if (!LISTENER_PROTOCOLS.includes(protocol))
    return objection('UnsupportedProtocol', `protocol: ${protocol} is none of ${LISTENER_PROTOCOLS.join(', ')}.`)
  if (protocol === 'HTTPS' && tls?.mode === 'Passthrough')
    return objection('UnsupportedValue', 'tls.mode: an HTTPS listener ends TLS; Passthrough is for protocol TLS.')
  if (host !== '' && !hostText.safeParse(isWildcard(host) ? parentDomain(host) : host).success)
    return objection('UnsupportedValue', 'hostname: is not a host name.')
  if (isWildcard(host) && parentDomain(host).split('.').length > MOST_WILDCARD_LABELS)
    return objection('UnsupportedValue', `hostname: has more than ${MOST_WILDCARD_LABELS} labels behind the asterisk.`)
  return null
}

const hostOf = ({ hostname = '' }: GatewayListener): string => hostname.toLowerCase()

/**
 * Hides the name of the other listener: the owner of a ListenerSet may not be allowed to read the namespace that has
 * it.
 */
const withoutNames = ({ reason }: Objection): Objection =>
  objection(reason, 'It conflicts with another listener of the Gateway, which has precedence.')

/** Two conflicting listeners of one object are both not served: nothing says which of them was meant. */
function conflictOf(own: GatewayListener, host: string, all: readonly GatewayListener[]): Objection | null {
  const others = othersOf(own, all)
  const protocol = others.find((other) => !goTogether(own, other))
  if (protocol !== undefined)
    return objection(
      'ProtocolConflict',
      `Listener ${protocol.name} has port ${own.port} with protocol ${protocol.protocol}.`,
    )
  const same = others.find((other) => hostOf(other) === host)
  if (same === undefined) return null
  return objection('HostnameConflict', `Listener ${same.name} has port ${own.port} and the same host name.`)
}

/** The other listeners on the same port and transport. */
const othersOf = (own: GatewayListener, all: readonly GatewayListener[]): readonly GatewayListener[] =>
  all.filter((other) => other !== own && other.port === own.port && isTcp(other) === isTcp(own))

/**
 * Whether two listeners can share a port. One that passes TLS on can: its host names are told apart before TLS is
 * ended.
 */
const goTogether = (one: GatewayListener, other: GatewayListener): boolean =>
  one.protocol === other.protocol || (passesTls(one) && endsTls(other)) || (passesTls(other) && endsTls(one))

const isTcp = ({ protocol }: GatewayListener): boolean => protocol !== 'UDP'
