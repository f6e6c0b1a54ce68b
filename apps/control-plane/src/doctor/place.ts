import type { ControlPlaneConfig } from '../config.ts'

/** The control plane that is looked at, by its settings. */
export interface ControlPlanePlace {
  readonly config: ControlPlaneConfig
  readonly now: () => Date
}
