import type { KubeObject, Reflector } from '@spout/kube'

/** A reflector with the name of its kind, for callers that do not look at the objects. */
export interface KindReflector {
  readonly kind: string
  readonly reflector: Pick<
    Reflector<KubeObject, unknown>,
    'hasSynced' | 'size' | 'deletionGuard' | 'counters' | 'confirm' | 'close'
  > & { start(): unknown }
}
