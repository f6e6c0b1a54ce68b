import { type BgpAdvertisementIntent, PLAIN_ADVERTISEMENT } from '@spout/model'

/** Which advertisement an address goes out with, by the pool it was taken from. */
export interface AdvertisementsByPool {
  readonly byPool: Readonly<Record<string, number>>
  /** For pools that none names. */
  readonly otherwise: number
}

export function advertisementsByPool(all: readonly BgpAdvertisementIntent[]): AdvertisementsByPool {
  const byPool: Record<string, number> = {}
  let otherwise = PLAIN_ADVERTISEMENT
  // Admission lets no two name a pool: the order only makes it certain.
  for (const { number, addressPoolIds } of [...all].sort((a, b) => b.number - a.number)) {
    if (addressPoolIds === null) otherwise = number
    else for (const id of addressPoolIds) byPool[id] = number
  }
  return { byPool, otherwise }
}
