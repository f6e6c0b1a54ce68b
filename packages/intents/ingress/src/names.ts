/** `spec.controller` of the IngressClasses that are ours. */
export const CONTROLLER_NAME = 'spout.dev/ingress'
/** On an IngressClass: Ingresses without a class are of it. */
export const DEFAULT_CLASS_ANNOTATION = 'ingressclass.kubernetes.io/is-default-class'
/** On an Ingress: what named its class before `spec.ingressClassName`. */
export const LEGACY_CLASS_ANNOTATION = 'kubernetes.io/ingress.class'
