import { type OrRefusal, refuse, shown } from '@spout/connector'
import type { Ingress, IngressClass } from '@spout/kube'
import { CONTROLLER_NAME, DEFAULT_CLASS_ANNOTATION, LEGACY_CLASS_ANNOTATION } from '../names.ts'

const isDefault = ({ metadata }: IngressClass): boolean => metadata.annotations?.[DEFAULT_CLASS_ANNOTATION] === 'true'

/** Whether an IngressClass is ours. */
export const isOurs = ({ spec }: IngressClass): boolean => spec?.controller === CONTROLLER_NAME

/**
 * The class of ours that an Ingress belongs to: the class it names, else the default class. Null when it belongs to
 * another controller, or names a class that does not exist; then it is left alone. If several controllers have a
 * default class, an Ingress without a class belongs to nobody.
 */
export function classOf({ metadata, spec }: Ingress, classes: readonly IngressClass[]): IngressClass | null {
  const named = spec?.ingressClassName ?? metadata.annotations?.[LEGACY_CLASS_ANNOTATION]
  if (named !== undefined) return classes.find((one) => one.metadata.name === named && isOurs(one)) ?? null
  const defaults = classes.filter(isDefault)
  if (defaults.length === 0 || !defaults.every(isOurs)) return null
  return defaults.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0] ?? null
}

/**
 * The class of load balancers that an IngressClass names in `spec.parameters`.
 * @returns null when it names none
 */
export function loadBalancerClassOf({ metadata, spec }: IngressClass): OrRefusal<string | null> {
  const parameters = spec?.parameters
  if (parameters === undefined) return { value: null }
  if (parameters.apiGroup === 'spout.dev' && parameters.kind === 'LoadBalancerClass') return { value: parameters.name }
  const what = `${shown(parameters.apiGroup ?? '')}/${shown(parameters.kind)}`
  return refuse(
    'InvalidParameters',
    'spec.ingressClassName',
    `IngressClass ${shown(metadata.name)} has parameters of ${what}; spout.dev/LoadBalancerClass is known.`,
  )
}
