import { KINDS, type Kind, parseAs, pool } from '@spout/model'
import type { Stored } from '@spout/store'
import type { ObjectOf } from './view.ts'

/**
 * The model's object in a stored value. What has exactly its kind's fields and its own id was checked by admission
 * before it was written: parsing 30,000 documents again would be most of a start. Anything else is parsed.
 * @throws SpoutError when it does not fit its kind's schema
 */
export function readStored<K extends Kind>(kind: K, { id, value }: Stored): ObjectOf<K> {
  const fields = Object.keys(KINDS[kind].shape)
  const isWhole = hasFields(value, fields) && (kind !== 'loadBalancer' || hasWholePools(value))
  const known = isWhole ? value : parseAs(KINDS[kind], value)
  if ((known as { readonly id: string }).id !== id)
    throw new Error(`the value names itself ${String((known as { readonly id: unknown }).id)}`)
  return known as ObjectOf<K>
}

const hasFields = (value: unknown, fields: readonly string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length === fields.length &&
  fields.every((field) => Object.hasOwn(value, field))

const POOL_FIELDS = Object.keys(pool.shape)

/** Pools were given fields since: documents that were written before lack them. */
const hasWholePools = (value: unknown): boolean => {
  const { pools } = value as { readonly pools: unknown }
  return Array.isArray(pools) && pools.every((one) => hasFields(one, POOL_FIELDS))
}
