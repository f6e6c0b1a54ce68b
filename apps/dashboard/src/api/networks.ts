import type { AddressPool, Network } from '@spout/model'
import { ask } from './ask.ts'

interface List<T> {
  readonly items: readonly T[]
}

export const listNetworks = async (signal: AbortSignal): Promise<readonly Network[]> =>
  (await ask<List<Network>>('GET', '/networks', { signal })).items

export const listAddressPools = async (signal: AbortSignal): Promise<readonly AddressPool[]> =>
  (await ask<List<AddressPool>>('GET', '/address-pools', { signal })).items
