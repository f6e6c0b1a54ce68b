import type { BfdProfile, BfdSettings } from '@spout/model'

const BFD_PROFILES: Readonly<Record<Exclude<BfdSettings, object>, BfdProfile | null>> = {
  none: null,
  default: { minTransmitMs: 80, minReceiveMs: 80, multiplier: 3 },
  fast: { minTransmitMs: 8, minReceiveMs: 8, multiplier: 3 },
}

export const bfdProfile = (settings: BfdSettings): BfdProfile | null =>
  typeof settings === 'string' ? BFD_PROFILES[settings] : settings
