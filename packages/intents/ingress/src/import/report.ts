import { keyOf, uidOf } from '@spout/connector'
import type { Ingress, IngressClass, Service } from '@spout/kube'
import { NGINX_ANNOTATIONS, NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { LEGACY_CLASS_ANNOTATION } from '../names.ts'
import { type Compiled, compile } from '../to-model/compile.ts'
import { assumedSurroundings } from './assumed-surroundings.ts'

/**
 * What would become of an annotation or field. `taken`: it works as before. `differs`: as the note says. `lost`: the
 * Ingress is served without it. `refused`: paths are answered with 503.
 */
export type Outcome = 'taken' | 'differs' | 'lost' | 'refused'

export interface Finding {
  readonly outcome: Outcome
  /** The annotation without its prefix, or a field such as `spec.rules[0].http.paths[1]`. */
  readonly about: string
  readonly note: string
}

export interface IngressReport {
  readonly ingress: Ingress
  readonly findings: readonly Finding[]
}

/** The Ingresses of one namespace and class: one load balancer. */
export interface UnitReport {
  readonly namespace: string
  readonly className: string
  readonly ingresses: readonly IngressReport[]
  readonly compiled: Compiled
}

/** The objects that were read from a cluster or from files. */
export interface ReadObjects {
  readonly ingresses: readonly Ingress[]
  readonly classes: readonly IngressClass[]
  /** Services that are missing here are assumed to exist. */
  readonly services: readonly Service[]
}

const NGINX_CONTROLLER = 'k8s.io/ingress-nginx'

/**
 * Reports how Ingresses of ingress-nginx would be served. They are compiled as the connector compiles them, with
 * assumed endpoints and certificates. Ingresses of other controllers' classes are left out. Pure.
 */
export function reportOf({ ingresses, classes, services }: ReadObjects): readonly UnitReport[] {
  const foreign = new Set(
    classes.filter(({ spec }) => spec?.controller !== NGINX_CONTROLLER).map(({ metadata }) => metadata.name),
  )
  // Ingresses from files have no UID, so each gets one.
  const whole = ingresses
    .filter((one) => !foreign.has(classNameOf(one)))
    .map((one, at) => ({
      ...one,
      metadata: { ...one.metadata, namespace: one.metadata.namespace ?? 'default', uid: `ingress-${at}` },
    }))
  const units = Map.groupBy(whole, (one) => `${one.metadata.namespace} ${classNameOf(one)}`)
  return [...units]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([unit, own]) => {
      const [namespace = '', className = ''] = unit.split(' ')
      const compiled = compile(own, assumedSurroundings(own, services))
      const sorted = own.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      return { namespace, className, compiled, ingresses: sorted.map((one) => ingressReport(one, compiled)) }
    })
}

const classNameOf = ({ metadata, spec }: Ingress): string =>
  spec?.ingressClassName ?? metadata.annotations?.[LEGACY_CLASS_ANNOTATION] ?? ''

const FIELD = `metadata.annotations[${NGINX_PREFIX}`

function ingressReport(ingress: Ingress, { problems }: Compiled): IngressReport {
  const own = (problems.get(uidOf(ingress)) ?? []).map(
    ({ reason, field, message }): Finding => ({
      outcome: REFUSING.has(reason) ? 'refused' : 'lost',
      about: field.startsWith(FIELD) ? field.slice(FIELD.length, -1) : field,
      note: message,
    }),
  )
  const told = new Set(own.map(({ about }) => about))
  const annotations = Object.keys(ingress.metadata.annotations ?? {})
    .filter((name) => name.startsWith(NGINX_PREFIX))
    .map((name) => name.slice(NGINX_PREFIX.length))
    .filter((name) => !told.has(name))
    .sort()
  const served = annotations.map((about): Finding => {
    const known = NGINX_ANNOTATIONS.get(about)
    return { outcome: known?.support === 'differs' ? 'differs' : 'taken', about, note: known?.note ?? '' }
  })
  return { ingress, findings: [...served, ...redirectNote(ingress), ...own] }
}

const REFUSING: ReadonlySet<string> = new Set([
  'AnnotationRefused',
  'InvalidRoute',
  'UnsupportedBackend',
  'BackendNotFound',
  'BackendPortNotFound',
])

/** A note that we do not redirect hosts with TLS to HTTPS by default, as ingress-nginx does. */
function redirectNote({ metadata, spec }: Ingress): readonly Finding[] {
  const names = ['ssl-redirect', 'force-ssl-redirect'].map((name) => `${NGINX_PREFIX}${name}`)
  const hasTls = (spec?.tls ?? []).some(({ hosts = [] }) => hosts.length > 0)
  if (!hasTls || names.some((name) => metadata.annotations?.[name] !== undefined)) return []
  const note = 'plain HTTP is served, too, and not redirected: add ssl-redirect: "true"'
  return [{ outcome: 'differs', about: 'spec.tls', note }]
}
