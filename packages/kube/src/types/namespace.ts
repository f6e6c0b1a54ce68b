import type { KubeObject } from './object-meta.ts'

/** core/v1 Namespace. */
export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: 'Active' | 'Terminating' }
}
