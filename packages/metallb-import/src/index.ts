/** Converts MetalLB's configuration to our objects, for `spout import metallb`. Pure; it reads no cluster. */
export * from './convert.ts'
export { METALLB_GROUP, METALLB_KINDS } from './kinds.ts'
export * from './manifest.ts'
export * from './print.ts'
export type { Note } from './source.ts'
