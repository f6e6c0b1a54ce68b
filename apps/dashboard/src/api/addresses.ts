import type { Address, PoolUsage } from '@spout/model'
import { ask } from './ask.ts'

/** Addresses in use, and for administrators those that rest. */
export const listAddresses = async (signal: AbortSignal): Promise<readonly Address[]> =>
  (await ask<{ readonly items: readonly Address[] }>('GET', '/addresses', { signal })).items

/** A pool as a map: what is free, taken and resting, and by whom. */
export const readPoolUsage = (poolId: string, signal: AbortSignal): Promise<PoolUsage> =>
  ask('GET', `/address-pools/${encodeURIComponent(poolId)}/usage`, { signal })
