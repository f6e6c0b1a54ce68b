import type { BfdProfile, BfdSettings, VrrpProfile, VrrpSettings } from '@spout/model'

type VrrpTiming = Pick<VrrpSettings, 'advertMs' | 'missedAdverts'>

/**
 * A silent master is given up after `advertMs * missedAdverts` and a skew below one interval. `default` bears a stall of
 * 80 ms; shorter intervals and more of them were no better at telling a stall from a death, and worse in the longest gap. `fast` holds where real-time scheduling can be relied on,
 * `relaxed` where machines or the network stall for long.
 */
export const VRRP_TIMING: Readonly<Record<VrrpProfile, VrrpTiming>> = {
  default: { advertMs: 20, missedAdverts: 4 },
  fast: { advertMs: 10, missedAdverts: 3 },
  relaxed: { advertMs: 100, missedAdverts: 5 },
}

const BFD_PROFILES: Readonly<Record<Exclude<BfdSettings, object>, BfdProfile | null>> = {
  none: null,
  default: { minTransmitMs: 80, minReceiveMs: 80, multiplier: 3 },
  fast: { minTransmitMs: 8, minReceiveMs: 8, multiplier: 3 },
}

export const bfdProfile = (settings: BfdSettings): BfdProfile | null =>
  typeof settings === 'string' ? BFD_PROFILES[settings] : settings
