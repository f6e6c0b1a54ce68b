import type { BfdProfile, BfdSettings, VrrpProfile, VrrpSettings } from '@spout/model'

type VrrpTiming = Pick<VrrpSettings, 'advertMs' | 'missedAdverts'>

/**
 * A silent master is replaced after `advertMs * missedAdverts` and a skew below one interval. `default` tolerates a
 * stall of 80 ms; shorter intervals and more of them told a stall from a death no better, and had a worse longest gap.
 * `fast` needs reliable real-time scheduling. `relaxed` is for machines or networks with long stalls.
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
