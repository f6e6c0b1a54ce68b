import { z } from 'zod'
import { parseAs } from './parse.ts'

/** Shorter lists are validated without a yield. */
const LONG = 64

/**
 * Validates as `parseAs`, but yields before each item of a long list, because a document of thousands of members takes
 * tens of milliseconds. Everything outside of the long lists is validated first.
 * @throws SpoutError as `parseAs`, naming one of the wrong fields
 */
export function* parsingAs<S extends z.ZodType>(
  schema: S,
  value: unknown,
  prefix = '',
): Generator<undefined, z.output<S>> {
  const lists = longListsOf(schema, value)
  if (lists.length === 0) return parseAs(schema, value, prefix)
  const parsed = parseAs(
    withAnyLists(schema as z.ZodType as z.ZodObject, lists),
    emptied(value as object, lists),
    prefix,
  )
  for (const { name, items, list } of lists) {
    const path = prefix === '' ? name : `${prefix}.${name}`
    parseAs(list.clone({ ...list.def, element: z.unknown() }), items, path)
    const made: unknown[] = []
    for (const [at, item] of items.entries()) {
      yield
      made.push(yield* parsingAs(list.element, item, `${path}[${at}]`))
    }
    parsed[name] = made
  }
  return parsed as z.output<S>
}

interface LongList {
  readonly name: string
  readonly items: readonly unknown[]
  readonly list: z.ZodArray<z.ZodType>
}

const emptied = (value: object, lists: readonly LongList[]): object => ({
  ...value,
  ...Object.fromEntries(lists.map(({ name }) => [name, []])),
})

/** The schema with its long lists unrestricted, so that the emptied lists pass. The order of fields is kept. */
const withAnyLists = (schema: z.ZodObject, lists: readonly LongList[]): z.ZodType<Record<string, unknown>> =>
  schema.extend(Object.fromEntries(lists.map(({ name }) => [name, z.array(z.unknown())])))

/** The fields of an object that are long lists, or lists with an item that has one. */
function longListsOf(schema: z.ZodType, value: unknown): readonly LongList[] {
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return []
  // A rule between fields must see all of them at once.
  if ((schema.def.checks ?? []).length > 0) return []
  return Object.entries(value).flatMap(([name, items]: [string, unknown]) => {
    if (!Array.isArray(items) || !Object.hasOwn(schema.shape, name)) return []
    const list = withoutDefault(schema.shape[name] as z.ZodType)
    if (!(list instanceof z.ZodArray) || !(list.def.checks ?? []).every(isOfLength)) return []
    const element = list.element as z.ZodType
    const isLong = items.length >= LONG || items.some((item) => longListsOf(element, item).length > 0)
    return isLong ? [{ name, items, list: list as z.ZodArray<z.ZodType> }] : []
  })
}

const withoutDefault = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? withoutDefault(schema.def.innerType as z.ZodType)
    : schema

/** Rules on the length of a list need not see its items. Others must. */
const isOfLength = ({ _zod }: z.core.$ZodCheck): boolean => ['max_length', 'min_length'].includes(_zod.def.check)
