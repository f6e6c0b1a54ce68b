import type { KubeObject } from './object-meta.ts'

/** core/v1 Secret. */
export interface Secret extends KubeObject {
  /** Such as `kubernetes.io/tls`. */
  readonly type?: string
  /** Values in base64. */
  readonly data?: Readonly<Record<string, string>>
}
