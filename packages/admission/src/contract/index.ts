/**
 * What surfaces and controllers know of admission: its interfaces and the shapes of what they are given. Which class
 * stands behind them is for the app to say.
 */
export * from './address-admission.ts'
export * from './admission.ts'
export * from './bgp-admission.ts'
export * from './load-balancer-admission.ts'
export * from './network-admission.ts'
export * from './node-address-admission.ts'
export * from './node-admission.ts'
export * from './node-group-admission.ts'
export * from './node-link.ts'
export * from './principal.ts'
export * from './project-admission.ts'
export * from './view.ts'
