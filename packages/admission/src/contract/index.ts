/**
 * The interfaces of admission and their data types, for surfaces and controllers. The app chooses the classes that
 * implement them.
 */
export * from './address-admission.ts'
export * from './admission.ts'
export * from './bgp-admission.ts'
export * from './certificate-admission.ts'
export * from './domain-admission.ts'
export * from './load-balancer-admission.ts'
export * from './local-admission.ts'
export * from './network-admission.ts'
export * from './node-address-admission.ts'
export * from './node-admission.ts'
export * from './node-group-admission.ts'
export * from './node-link.ts'
export * from './offer-admission.ts'
export * from './placing.ts'
export * from './planned-move-admission.ts'
export * from './principal.ts'
export * from './project-admission.ts'
export * from './secret-admission.ts'
export * from './security-group-admission.ts'
export * from './view.ts'
