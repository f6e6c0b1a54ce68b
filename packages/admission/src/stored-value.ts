import { KINDS, type Kind, listener, parseStored, pool } from '@spout/model'
import type { Stored } from '@spout/store'
import type { ObjectOf } from './contract/view.ts'

/**
 * The model's object in a stored value. What has exactly its kind's fields and its own id was checked by admission
 * before it was written: parsing 30,000 documents again would be most of a start. Anything else is parsed, as another
 * version wrote it: what it lacks gets its default, and what this version does not know is left out.
 * @throws SpoutError when it does not fit its kind's schema
 */
export function readStored<K extends Kind>(kind: K, { id, value }: Stored): ObjectOf<K> {
  const fields = Object.keys(KINDS[kind].shape)
  const isWhole = hasFields(value, fields) && (kind !== 'loadBalancer' || hasWholeParts(value))
  const known = isWhole ? value : parseStored(KINDS[kind], value)
  if ((known as { readonly id: string }).id !== id)
    throw new Error(`the value names itself ${String((known as { readonly id: unknown }).id)}`)
  return known as ObjectOf<K>
}

const hasFields = (value: unknown, fields: readonly string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length === fields.length &&
  fields.every((field) => Object.hasOwn(value, field))

const PARTS = { pools: Object.keys(pool.shape), listeners: Object.keys(listener.shape) } as const

/** Fields come with versions and go with the way back: documents of another one lack some, or have some too many. */
const hasWholeParts = (value: unknown): boolean =>
  Object.entries(PARTS).every(([name, fields]) => {
    const parts = (value as Readonly<Record<string, unknown>>)[name]
    return Array.isArray(parts) && parts.every((one) => hasFields(one, fields))
  })
