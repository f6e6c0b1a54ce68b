/**
 * Converts the configuration of MetalLB, keepalived-operator and kube-vip to our objects, for `spout import`. Pure; it
 * reads no cluster.
 */
export * from './convert.ts'
export { convertKeepalivedOperator } from './keepalived-operator/convert.ts'
export { METALLB_GROUP, METALLB_KINDS } from './kinds.ts'
export { convertKubeVip } from './kube-vip/convert.ts'
export * from './manifest.ts'
export * from './print.ts'
export type { Note } from './source.ts'
