import type { NativeHelper, NftElements, NftTableRef } from '@spout/sys'

/**
 * A map of one element that names the last applied generation. It changes in the same transaction as everything else.
 */
export const GENERATION_MAP = 'generation'
export const DECLARE_GENERATION = `  map ${GENERATION_MAP} { type mark : ipv6_addr; }`
/** Mark 1, in host order as in the kernel's registers. */
const KEY = Buffer.from(Uint32Array.of(1).buffer)

const bytesOf = (generation: bigint): Buffer => Buffer.from(generation.toString(16).padStart(32, '0'), 'hex')

/** For a map without an element. @param generation of 128 bits */
export const addGeneration = (generation: bigint): NftElements => ({
  do: 'add',
  set: GENERATION_MAP,
  keyBytes: 4,
  dataBytes: 16,
  elements: Buffer.concat([KEY, bytesOf(generation)]),
})

export const removeGeneration: NftElements = { do: 'delete', set: GENERATION_MAP, keyBytes: 4, elements: KEY }

/** Whether this generation was applied last, according to the table. @throws HelperError if the table does not exist */
export async function isAtGeneration(helper: NativeHelper, table: NftTableRef, generation: bigint): Promise<boolean> {
  const bytes = await helper.nftGet({ ...table, set: GENERATION_MAP, key: KEY })
  return bytes !== null && bytesOf(generation).equals(bytes)
}
