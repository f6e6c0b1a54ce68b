import type { LoadBalancerHealth } from '@spout/model'
import { Badge, type Tone } from './badge.tsx'

export const HEALTH_WORDS: Readonly<Record<LoadBalancerHealth, string>> = {
  ok: 'Serving',
  degraded: 'Degraded',
  failed: 'Failed',
  pending: 'Pending',
  off: 'Off',
}

export const HEALTH_TONES: Readonly<Record<LoadBalancerHealth, Tone>> = {
  ok: 'ok',
  degraded: 'warn',
  failed: 'bad',
  pending: 'quiet',
  off: 'quiet',
}

/** The health of a load balancer. */
export const HealthBadge = ({ health }: { readonly health: LoadBalancerHealth }) => (
  <Badge tone={HEALTH_TONES[health]}>{HEALTH_WORDS[health]}</Badge>
)
