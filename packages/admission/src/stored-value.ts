import { KINDS, type Kind, parseAs } from '@spout/model'
import type { Stored } from '@spout/store'
import type { ObjectOf } from './view.ts'

/**
 * The model's object in a stored value. What has exactly its kind's fields and its own id was checked by admission
 * before it was written: parsing 30,000 documents again would be most of a start. Anything else is parsed.
 * @throws SpoutError when it does not fit its kind's schema
 */
export function readStored<K extends Kind>(kind: K, { id, value }: Stored): ObjectOf<K> {
  const fields = Object.keys(KINDS[kind].shape)
  const known = hasFields(value, fields) ? value : parseAs(KINDS[kind], value)
  if ((known as { readonly id: string }).id !== id)
    throw new Error(`the value names itself ${String((known as { readonly id: unknown }).id)}`)
  return known as ObjectOf<K>
}

const hasFields = (value: unknown, fields: readonly string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length === fields.length &&
  fields.every((field) => Object.hasOwn(value, field))
