import { type BgpAdvertisementIntent, PLAIN_ADVERTISEMENT } from '@spout/model'

/** Numbers of the advertisements that apply to addresses, by address pool. */
export interface AdvertisementsByPool {
  readonly byPool: Readonly<Record<string, number>>
  /** The number for pools that no advertisement names. */
  readonly otherwise: number
}

export function advertisementsByPool(all: readonly BgpAdvertisementIntent[]): AdvertisementsByPool {
  const byPool: Record<string, number> = {}
  let otherwise = PLAIN_ADVERTISEMENT
  // Admission allows only one per pool. The order makes the result deterministic even if there were two: the lowest
  // wins.
  for (const { number, addressPoolIds } of [...all].sort((a, b) => b.number - a.number)) {
    if (addressPoolIds === null) otherwise = number
    else for (const id of addressPoolIds) byPool[id] = number
  }
  return { byPool, otherwise }
}
