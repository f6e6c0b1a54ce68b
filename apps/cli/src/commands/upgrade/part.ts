/** `due`: it is to be replaced. `too-old`, `newer`, `unknown`: nothing is promised of it beside the target. */
export type Standing = 'current' | 'due' | 'too-old' | 'newer' | 'unknown'

/** A program of the installation that has a version. */
export interface Part {
  readonly kind: 'control-plane' | 'node' | 'connector'
  readonly name: string
  readonly version: string | null
  readonly standing: Standing
}
