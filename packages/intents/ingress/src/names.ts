/** `spec.controller` of our IngressClasses. */
export const CONTROLLER_NAME = 'spout.dev/ingress'
/** Annotation of an IngressClass: it is the class of Ingresses that name none. */
export const DEFAULT_CLASS_ANNOTATION = 'ingressclass.kubernetes.io/is-default-class'
/** Annotation of an Ingress that named its class before `spec.ingressClassName` existed. */
export const LEGACY_CLASS_ANNOTATION = 'kubernetes.io/ingress.class'
