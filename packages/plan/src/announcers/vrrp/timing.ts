import type { VrrpProfile, VrrpSettings } from '@spout/model'

type VrrpTiming = Pick<VrrpSettings, 'advertMs' | 'missedAdverts'>

/**
 * A silent master is replaced after `advertMs * missedAdverts` and a skew of less than one interval. `default`
 * tolerates a stall of 80 ms. We measured shorter intervals with more missed adverts: they did not distinguish a stall
 * from a death any better, and the longest gap was worse. `fast` needs reliable real-time scheduling. `relaxed` is for
 * machines or networks with long stalls.
 */
export const VRRP_TIMING: Readonly<Record<VrrpProfile, VrrpTiming>> = {
  default: { advertMs: 20, missedAdverts: 4 },
  fast: { advertMs: 10, missedAdverts: 3 },
  relaxed: { advertMs: 100, missedAdverts: 5 },
}
