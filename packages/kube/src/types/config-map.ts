import type { KubeObject } from './object-meta.ts'

/** core/v1 ConfigMap. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}
