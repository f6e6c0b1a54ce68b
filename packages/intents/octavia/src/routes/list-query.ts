import { LongList } from '@spout/runtime'
import { OctaviaFault } from '../wire/fault.ts'
import { type Field, printObject } from '../wire/field.ts'

export const MAX_PAGE = 1000

type Fields<D, R> = readonly Field<D, R>[]

export interface ListQuery {
  readonly filters: readonly (readonly [name: string, value: string])[]
  readonly tags: readonly (readonly [rule: TagRule, tags: readonly string[]])[]
  readonly sort: readonly SortKey[]
  /** As sent, for the links. */
  readonly sortText: readonly (readonly [string, string])[]
  readonly limit: number
  readonly marker: string | null
  readonly reverse: boolean
  /** Attributes to print; all when undefined. */
  readonly fields: ReadonlySet<string> | undefined
}

export interface SortKey {
  readonly name: string
  readonly descending: boolean
}

const TAG_RULES = ['tags', 'tags-any', 'not-tags', 'not-tags-any'] as const
type TagRule = (typeof TAG_RULES)[number]
const NOT_FILTERS = new Set(['limit', 'marker', 'sort', 'sort_key', 'sort_dir', 'fields', 'page_reverse', ...TAG_RULES])

/**
 * openstacksdk filters by the names of Octavia's data model, which Octavia accepts too (`api/common/pagination.py`).
 */
const FILTER_NAMES: Readonly<Record<string, string>> = { load_balancer_id: 'loadbalancer_id' }

const badFilter = () => new OctaviaFault(400, 'One or more arguments are either duplicate or invalid')

/** Parameters that may occur only once. */
export const SINGLE = ['limit', 'marker', 'page_reverse', 'sort', 'sort_key', 'sort_dir'] as const

/** @throws OctaviaFault 400 when a parameter occurs more than once */
export function refuseTwice(query: URLSearchParams, names: readonly string[]): void {
  const name = names.find((one) => query.getAll(one).length > 1)
  if (name !== undefined) throw new OctaviaFault(400, `Parameter '${name}' is given more than once.`)
}

const NOTHING_ASKED: ListQuery = {
  ...{ filters: [], tags: [], sort: [], sortText: [], limit: MAX_PAGE, marker: null, reverse: false },
  fields: undefined,
}

/** @throws OctaviaFault 400 */
export function parseListQuery(query: URLSearchParams): ListQuery {
  if (query.size === 0) return NOTHING_ASKED
  const names = [...new Set(query.keys())]
  const filters = names
    .filter((name) => !NOT_FILTERS.has(name))
    .map((name) => {
      if (query.getAll(name).length > 1) throw badFilter()
      return [FILTER_NAMES[name] ?? name, query.get(name) ?? ''] as const
    })
  const fields = query.getAll('fields')
  return {
    filters,
    tags: TAG_RULES.filter((rule) => query.has(rule)).map((rule) => [
      rule,
      query.getAll(rule).flatMap((tags) => tags.split(',')),
    ]),
    sort: sortKeys(query),
    sortText: ['sort', 'sort_key', 'sort_dir'].flatMap((name) => {
      const text = query.get(name)
      return text === null ? [] : [[name, text] as const]
    }),
    limit: pageLimit(query.get('limit')),
    marker: query.get('marker'),
    reverse: query.get('page_reverse')?.toLowerCase() === 'true',
    fields: fields.length === 0 ? undefined : new Set(fields),
  }
}

function pageLimit(text: string | null): number {
  if (text === null || text === 'infinite') return MAX_PAGE
  if (!/^\s*[+-]?\d+\s*$/.test(text)) throw new OctaviaFault(400, `Supplied pagination limit '${text}' is not valid.`)
  const limit = Number(text)
  return limit < 1 ? MAX_PAGE : Math.min(limit, MAX_PAGE)
}

function sortKeys(query: URLSearchParams): readonly SortKey[] {
  const sort = query.get('sort')
  if (sort)
    return sort.split(',').map((part) => {
      const [name = '', direction, ...more] = part.split(':')
      if (more.length > 0) throw new OctaviaFault(400, `Supplied sort key '${part}' is not valid.`)
      return { name, descending: isDescending(direction) }
    })
  const directions = query.get('sort_dir')?.split(',') ?? []
  return (query.get('sort_key')?.split(',') ?? []).map((name, index) => ({
    name,
    descending: isDescending(directions[index]),
  }))
}

function isDescending(direction: string | undefined): boolean {
  const word = (direction ?? 'asc').toLowerCase()
  if (word !== 'asc' && word !== 'desc') throw new OctaviaFault(400, `Supplied sort direction '${word}' is not valid.`)
  return word === 'desc'
}

export interface Page<R> {
  readonly items: readonly R[]
  /** Query strings of the neighbouring pages. */
  readonly links: readonly { readonly rel: 'next' | 'previous'; readonly query: string }[]
}

/**
 * Filters, sorts and cuts out one page. The objects come in the default order.
 * @throws OctaviaFault 400 for unknown attributes and markers
 */
export function selectPage<D, R>(fields: Fields<D, R>, items: readonly R[], query: ListQuery): Page<R> {
  const idName = fields.some(({ name }) => name === 'id') ? 'id' : 'name'
  const idOf = (item: R): string => String(reader(fields, idName)(item))
  const sorted = sortedBy(fields, items, query.sort)
  const matching = sorted.filter(matcher(fields, query))
  if (query.marker === null) return pageOf(matching.slice(0, query.limit), query, idOf)

  const place = sorted.findIndex((item) => idOf(item) === query.marker)
  if (place === -1) throw new OctaviaFault(400, `Supplied pagination marker '${query.marker}' is not valid.`)
  // The marker itself may not match the filters: its place in the order counts.
  const before = new Set(sorted.slice(0, query.reverse ? place : place + 1))
  const side = matching.filter((item) => before.has(item) === query.reverse)
  return pageOf(query.reverse ? side.slice(-query.limit) : side.slice(0, query.limit), query, idOf)
}

function pageOf<R>(items: readonly R[], query: ListQuery, idOf: (item: R) => string): Page<R> {
  const [first, last] = [items[0], items.at(-1)]
  if (first === undefined || last === undefined) return { items, links: [] }
  const link = (extra: readonly (readonly [string, string])[]): string =>
    new URLSearchParams(
      [
        ['limit', String(query.limit)],
        ...query.sortText,
        ...query.filters,
        ...query.tags.map(([rule, tags]) => [rule, tags.join(',')] as const),
        ...[...(query.fields ?? [])].map((name) => ['fields', name] as const),
        ...extra,
      ].map(([name, value]) => [name, value]),
    ).toString()
  const previous =
    query.marker === null
      ? []
      : [
          {
            rel: 'previous' as const,
            query: link([
              ['marker', idOf(first)],
              ['page_reverse', 'True'],
            ]),
          },
        ]
  const next = items.length < query.limit ? [] : [{ rel: 'next' as const, query: link([['marker', idOf(last)]]) }]
  return { items, links: [...previous, ...next] }
}

function reader<D, R>(fields: Fields<D, R>, name: string): (item: R) => unknown {
  const read = fields.find((field) => field.name === name)?.read ?? null
  if (read === null) throw new OctaviaFault(400, `Supplied sort key '${name}' is not valid.`)
  return read
}

function sortedBy<D, R>(fields: Fields<D, R>, items: readonly R[], keys: readonly SortKey[]): readonly R[] {
  if (keys.length === 0) return items
  const named = new Set(keys.map(({ name }) => name))
  const rest = ['created_at', 'id']
    .filter((name) => !named.has(name) && fields.some((field) => field.name === name))
    .map((name) => ({ name, descending: false }))
  const orders = [...keys, ...rest].map(({ name, descending }) => ({ read: reader(fields, name), descending }))
  return [...items].sort((a, b) => {
    for (const { read, descending } of orders) {
      const order = compare(read(a), read(b))
      if (order !== 0) return descending ? -order : order
    }
    return 0
  })
}

/** Nulls first, as Octavia's databases sort them. */
function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [left, right] = [String(a ?? ''), String(b ?? '')]
  return left < right ? -1 : left > right ? 1 : 0
}

function matcher<D, R>(fields: Fields<D, R>, query: ListQuery): (item: R) => boolean {
  const rules = query.filters.map(([name, wanted]) => {
    const selects = fields.find((field) => field.name === name)?.selects ?? null
    if (selects === null) throw badFilter()
    return selects(wanted)
  })
  const tagsOf = fields.find(({ name }) => name === 'tags')?.read ?? null
  const tagRules = query.tags.map(([rule, wanted]) => (item: R) => {
    const tags = tagsOf?.(item)
    const holds = (tag: string) => Array.isArray(tags) && tags.includes(tag)
    switch (rule) {
      case 'tags':
        return wanted.every(holds)
      case 'tags-any':
        return wanted.some(holds)
      case 'not-tags':
        return !wanted.every(holds)
      case 'not-tags-any':
        return !wanted.some(holds)
    }
  })
  return (item) => rules.every((rule) => rule(item)) && tagRules.every((rule) => rule(item))
}

interface PrintOptions {
  readonly links?: string
}

/**
 * Prints one page.
 * @param path absolute URL of the list, for the links
 * @param options.links the root attribute of the links
 */
export function printPage<D, R>(
  plural: string,
  fields: Fields<D, R>,
  items: readonly R[],
  query: ListQuery,
  path: string,
  { links = `${plural}_links` }: PrintOptions = {},
) {
  const page = selectPage(fields, items, query)
  return {
    [plural]: LongList.of(page.items, (item) => printObject(fields, item, query.fields)),
    [links]: hrefs(page, path),
  }
}

/** The links of a page, as answers show them. @param path absolute URL of the list */
export const hrefs = ({ links }: Pick<Page<unknown>, 'links'>, path: string) =>
  links.map(({ rel, query }) => ({ rel, href: `${path}?${query}` }))
