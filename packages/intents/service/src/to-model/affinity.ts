import type { Service } from '@spout/kube'
import type { Pool } from '@spout/model'

/** Kubernetes' default. */
const DEFAULT_TIMEOUT_S = 10_800
const LONGEST_S = 86_400

/** `sessionAffinity: ClientIP` keeps a client with its endpoint. Each connection restarts the timeout. */
export function persistenceOf({ spec }: Service): Pool['persistence'] {
  if (spec.sessionAffinity !== 'ClientIP') return null
  const wanted = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_TIMEOUT_S
  return { type: 'source-ip', timeoutSeconds: Math.min(LONGEST_S, Math.max(1, Math.trunc(wanted))) }
}
