import { KINDS, type Kind, listener, parseStored, pool } from '@spout/model'
import type { Stored } from '@spout/store'
import type { ObjectOf } from './contract/view.ts'

/**
 * Reads the model's object from a stored value. Admission has validated a value that has exactly its kind's fields and
 * its own id: parsing 30,000 documents again would take most of a start. Any other value was written by another version
 * and is parsed: missing fields get their defaults, unknown ones are dropped.
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

/** Versions add fields and downgrades remove them: a document of another version has missing or unknown fields. */
const hasWholeParts = (value: unknown): boolean =>
  Object.entries(PARTS).every(([name, fields]) => {
    const parts = (value as Readonly<Record<string, unknown>>)[name]
    return Array.isArray(parts) && parts.every((one) => hasFields(one, fields))
  })
