import type { KubeObject, Reflector } from '@spout/kube'

/** A reflector with the name of its kind, for callers that need no objects: metrics, readiness, deletion guards. */
export interface KindReflector {
  readonly kind: string
  readonly reflector: Pick<
    Reflector<KubeObject, unknown>,
    'hasSynced' | 'size' | 'deletionGuard' | 'counters' | 'confirm' | 'close'
  > & { start(): unknown }
}
