import { keyOf } from '@spout/connector'
import { selects } from '@spout/kube'
import type { FromNamespaces, Gateway } from '../../objects/gateway.ts'
import type { ListenerSet } from '../../objects/listener-set.ts'
import { GATEWAY_GROUP } from '../../objects/names.ts'
import type { ReferenceGrant } from '../../objects/reference-grant.ts'
import type { ObjectRef } from '../../objects/references.ts'
import { type CertificateOf, certificateResolver } from './certificates.ts'
import { clientValidation } from './client-certificates.ts'
import { claimOf, withinLimits } from './listener-claims.ts'
import { type JudgedListener, judgeListeners, type ListenerCertificates, type ResolveCertificate } from './listeners.ts'

export type Labels = Readonly<Record<string, string>>

/** An object with listeners that a route can name as its parent: a Gateway or a ListenerSet. */
export interface ListenerParent {
  readonly kind: 'Gateway' | 'ListenerSet'
  /** `namespace/name` */
  readonly key: string
  readonly namespace: string
  readonly listeners: readonly JudgedListener[]
}

/** A ListenerSet that names a Gateway. */
export interface JudgedSet extends ListenerParent {
  readonly set: ListenerSet
  /** Whether `allowedListeners` of the Gateway allows its namespace. If not, `listeners` is empty. */
  readonly isAllowed: boolean
}

/** A Gateway and the ListenerSets that name it, in the API's order of precedence. */
export interface JudgedParents {
  readonly own: ListenerParent
  readonly sets: readonly JudgedSet[]
}

/** The facts by which listeners are judged. */
export interface ListenerSurroundings {
  /** A namespace's labels; null until it has been seen. */
  readonly labelsOf: (namespace: string) => Labels | null
  /** The ListenerSets that name a Gateway, in any order. */
  readonly listenerSetsOf: (gateway: string) => readonly ListenerSet[]
}

/** How the certificates of listeners are found. */
interface Certificates {
  readonly grants: readonly ReferenceGrant[]
  readonly certificateOf: CertificateOf
}

/** `namespace/name` of the Gateway that a ListenerSet names; null when it names something else. */
export const gatewayOfSet = ({ metadata, spec }: ListenerSet): string | null =>
  keyOfKind('Gateway', spec.parentRef, metadata.namespace ?? '')

/**
 * `namespace/name` of the Gateway that a route's reference names, directly or through a ListenerSet; null when it names
 * neither.
 * @param listenerSet finds a ListenerSet by `namespace/name`
 */
export function gatewayOf(
  ref: ObjectRef,
  namespace: string,
  listenerSet: (key: string) => ListenerSet | undefined,
): string | null {
  const key = keyOfKind('Gateway', ref, namespace)
  if (key !== null) return key
  const set = listenerSet(listenerSetOf(ref, namespace) ?? '')
  return set === undefined ? null : gatewayOfSet(set)
}

/** `namespace/name` of the ListenerSet that a route's reference names; null when it names something else. */
export const listenerSetOf = (ref: ObjectRef, namespace: string): string | null =>
  keyOfKind('ListenerSet', ref, namespace)

/** The parent that a route's reference names. */
export const parentOf = (ref: ObjectRef, namespace: string, { own, sets }: JudgedParents): ListenerParent | undefined =>
  [own, ...sets].find(({ kind, key }) => keyOfKind(kind, ref, namespace) === key)

const keyOfKind = (wanted: ListenerParent['kind'], ref: ObjectRef, namespace: string): string | null => {
  const { group = GATEWAY_GROUP, kind = 'Gateway' } = ref
  return group === GATEWAY_GROUP && kind === wanted ? `${ref.namespace ?? namespace}/${ref.name}` : null
}

/** All listeners of a Gateway and its ListenerSets, its own first. */
export const allListeners = ({ own, sets }: JudgedParents): readonly JudgedListener[] =>
  [own, ...sets].flatMap(({ listeners }) => listeners)

/**
 * Judges the listeners of a Gateway and of the ListenerSets that name it. The API's precedence decides conflicts: the
 * Gateway's own listeners first, then the sets by age and `namespace/name`. A listener that conflicts with an earlier
 * one does not count in conflicts with later ones.
 * @param certificates left out where only the attachment of routes matters: then certificates are not judged
 */
export function judgeParents(
  gateway: Gateway,
  { labelsOf, listenerSetsOf }: ListenerSurroundings,
  certificates?: Certificates,
): JudgedParents {
  const { grants, certificateOf } = certificates ?? {}
  // The Gateway's settings for client certificates apply to the listeners of its ListenerSets, too.
  const clients = grants && certificateOf && clientValidation(gateway, grants, certificateOf)
  const found = (object: Gateway | ListenerSet, kind: ListenerParent['kind']): ListenerCertificates =>
    grants && certificateOf ? { certificate: certificateResolver(object, grants, certificateOf, kind), clients } : {}
  const key = keyOf(gateway)
  const own: ListenerParent = {
    kind: 'Gateway',
    key,
    namespace: gateway.metadata.namespace ?? '',
    listeners: judgeListeners(gateway.spec.listeners ?? [], found(gateway, 'Gateway')),
  }
  const earlier = [...own.listeners]
  const sets = [...listenerSetsOf(key)].sort(byAge).map((set): JudgedSet => {
    const isAllowed = allowsSet(gateway, set, labelsOf)
    const about = { earlier: earlier.map(({ listener }) => listener), prefix: `${keyOf(set)}/` }
    const shown = { certificate: unclaimed(found(set, 'ListenerSet').certificate, earlier), clients }
    const listeners = isAllowed ? withinLimits(judgeListeners(set.spec.listeners, shown, about), earlier) : []
    earlier.push(...listeners.filter(({ isExcluded }) => !isExcluded))
    return { kind: 'ListenerSet', key: keyOf(set), namespace: set.metadata.namespace ?? '', listeners, set, isAllowed }
  })
  return { own, sets }
}

/** Resolves certificates, and refuses those that are also valid for a listener with precedence. */
const unclaimed = (
  resolve: ResolveCertificate | undefined,
  all: readonly JudgedListener[],
): ResolveCertificate | undefined => {
  if (resolve === undefined) return undefined
  const earlier = [...all]
  return (ref, listener) => {
    const found = resolve(ref, listener)
    const unresolved = 'unresolved' in found ? null : claimOf(found, listener, earlier)
    return unresolved === null ? found : { unresolved }
  }
}

/** Whether a Gateway allows a ListenerSet to attach. By default it allows none. */
export function allowsSet(
  { metadata, spec }: Gateway,
  set: ListenerSet,
  labelsOf: ListenerSurroundings['labelsOf'],
): boolean {
  const { from = 'None', selector } = spec.allowedListeners?.namespaces ?? {}
  return isFrom({ from, selector }, set.metadata.namespace ?? '', metadata.namespace ?? '', labelsOf)
}

/** Whether a Gateway or listener allows a namespace. @param own the namespace of the Gateway or listener */
export function isFrom(
  { from, selector }: FromNamespaces,
  namespace: string,
  own: string,
  labelsOf: ListenerSurroundings['labelsOf'],
): boolean {
  switch (from) {
    case 'All':
      return true
    case 'Same':
      return namespace === own
    case 'Selector': {
      const labels = labelsOf(namespace)
      return labels !== null && selects(selector, labels)
    }
    default:
      return false
  }
}

function byAge(a: ListenerSet, b: ListenerSet): number {
  const [own = '', other = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  return own === other ? compare(keyOf(a), keyOf(b)) : compare(own, other)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
