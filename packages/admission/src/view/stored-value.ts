import { KINDS, type Kind, listener, listenerTls, parseStored, pool, poolTls } from '@spout/model'
import type { Stored } from '@spout/store'
import { z } from 'zod'
import type { ObjectOf } from '../contract/view.ts'

/**
 * Reads the model's object from a stored value. Admission has validated a value that has exactly its kind's fields and
 * its own id: parsing 30,000 documents again would take most of a start. Any other value was written by another version
 * and is parsed: missing fields get their defaults, unknown ones are dropped.
 * @throws SpoutError when it does not fit its kind's schema
 */
export function readStored<K extends Kind>(kind: K, { id, value }: Stored): ObjectOf<K> {
  const isWhole = hasFields(value, FIELDS[kind]) && (kind !== 'loadBalancer' || hasWholeParts(value))
  const known = isWhole ? value : parseStored(KINDS[kind], value)
  if ((known as { readonly id: string }).id !== id)
    throw new Error(`the value names itself ${String((known as { readonly id: unknown }).id)}`)
  return known as ObjectOf<K>
}

/** The fields that a value must have, and those that it may have. */
interface Fields {
  readonly required: readonly string[]
  readonly known: ReadonlySet<string>
}

const fieldsOf = ({ shape }: { readonly shape: Readonly<Record<string, unknown>> }): Fields => ({
  required: Object.keys(shape).filter((name) => !(shape[name] instanceof z.ZodOptional)),
  known: new Set(Object.keys(shape)),
})

const hasFields = (value: unknown, { required, known }: Fields): boolean =>
  typeof value === 'object' &&
  value !== null &&
  required.every((field) => Object.hasOwn(value, field)) &&
  Object.keys(value).every((field) => known.has(field))

const FIELDS = Object.fromEntries(Object.entries(KINDS).map(([kind, schema]) => [kind, fieldsOf(schema)])) as Readonly<
  Record<Kind, Fields>
>
const PARTS = {
  pools: { own: fieldsOf(pool), tls: fieldsOf(poolTls) },
  listeners: { own: fieldsOf(listener), tls: fieldsOf(listenerTls) },
} as const

/** Versions add fields and downgrades remove them: a document of another version has missing or unknown fields. */
const hasWholeParts = (value: unknown): boolean =>
  Object.entries(PARTS).every(([name, { own, tls }]) => {
    const parts = (value as Readonly<Record<string, unknown>>)[name]
    return (
      Array.isArray(parts) &&
      parts.every((one) => hasFields(one, own) && ((one.tls ?? null) === null || hasFields(one.tls, tls)))
    )
  })
