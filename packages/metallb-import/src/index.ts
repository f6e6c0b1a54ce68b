/** MetalLB's configuration as objects of ours: what the command `spout import metallb` prints. Pure; reads no cluster. */
export * from './convert.ts'
export { METALLB_GROUP, METALLB_KINDS } from './kinds.ts'
export * from './manifest.ts'
export * from './print.ts'
export type { Note } from './source.ts'
