import type { Address } from '@spout/model'
import { ask } from './ask.ts'

/** Addresses in use, and for administrators those that rest. */
export const listAddresses = async (signal: AbortSignal): Promise<readonly Address[]> =>
  (await ask<{ readonly items: readonly Address[] }>('GET', '/addresses', { signal })).items
