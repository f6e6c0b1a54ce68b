import { SpoutError } from '@spout/model'
import type { FastifyRequest } from 'fastify'
import { type ListAnswer, listAnswer } from '../http/list-answer.ts'
import { givenTwice, queryOf } from '../http/query.ts'

export type Shown = Readonly<Record<string, unknown>>

/** Query parameters that are not filters. */
const RESERVED = new Set(['fields', 'limit', 'marker', 'page_reverse', 'sort_key', 'sort_dir'])

/** A list as Neutron sends it: filters on any attribute (several values mean any of them), fields, sorting, paging. */
export function listing(request: FastifyRequest, plural: string, all: readonly Shown[]): ListAnswer {
  const query = queryOf(request)
  const filters = [...query].filter(([name]) => !RESERVED.has(name))
  const kept = all.filter((item) => filters.every(([name, values]) => matches(item, name, values)))
  const page = paged(sorted(kept, query), query)
  return listAnswer(
    plural,
    page.map((item) => narrowed(request, item)),
  )
}

/** The fields that the query asks for, or all. */
export function narrowed(request: FastifyRequest, item: Shown): Shown {
  const fields = queryOf(request).get('fields')
  if (fields === undefined) return item
  return Object.fromEntries(Object.entries(item).filter(([name]) => fields.includes(name)))
}

/** Each value is a comma-separated list. `not-…` is the opposite of the filter of the same name. */
const hasAll = (tags: readonly unknown[], wanted: readonly string[]): boolean =>
  wanted.flatMap((text) => text.split(',')).every((tag) => tags.includes(tag))
const hasAny = (tags: readonly unknown[], wanted: readonly string[]): boolean =>
  wanted.flatMap((text) => text.split(',')).some((tag) => tags.includes(tag))

const TAG_FILTERS: Readonly<Record<string, typeof hasAll>> = {
  tags: hasAll,
  'tags-any': hasAny,
  'not-tags': (tags, wanted) => !hasAll(tags, wanted),
  'not-tags-any': (tags, wanted) => !hasAny(tags, wanted),
}

function matches(item: Shown, name: string, values: readonly string[]): boolean {
  if (name === 'fixed_ips') return hasFixedIp(item[name], values)
  const tagFilter = TAG_FILTERS[name]
  if (tagFilter !== undefined) return tagFilter(Array.isArray(item['tags']) ? item['tags'] : [], values)
  if (!Object.hasOwn(item, name))
    throw new SpoutError('InvalidField', { field: name, reason: 'is not an attribute to filter by' })
  return values.some((value) => equals(item[name], value))
}

function equals(field: unknown, text: string): boolean {
  if (typeof field === 'boolean') return ['true', '1', 'yes'].includes(text.toLowerCase()) === field
  if (field === null) return text === '' || text === 'None' || text === 'null'
  return Array.isArray(field) ? field.map(String).includes(text) : String(field) === text
}

const FIXED_IP_KEYS: Readonly<Record<string, (ip: Shown, value: string) => boolean>> = {
  ip_address: (ip, value) => ip['ip_address'] === value,
  ip_address_substr: (ip, value) => String(ip['ip_address']).includes(value),
  subnet_id: (ip, value) => ip['subnet_id'] === value,
}

/** Each value is `KEY=…`. Values of one key are alternatives; one of each key must fit. */
function hasFixedIp(field: unknown, values: readonly string[]): boolean {
  const wanted = Object.groupBy(
    values.map((text) => text.split('=', 2) as [string, string?]),
    ([key]) => key,
  )
  return Object.entries(wanted).every(([key, alternatives = []]) => {
    const fits = FIXED_IP_KEYS[key]
    if (fits === undefined)
      throw new SpoutError('InvalidField', { field: 'fixed_ips', reason: `${key} is not an attribute to filter by` })
    return Array.isArray(field) && alternatives.some(([, value = '']) => field.some((ip: Shown) => fits(ip, value)))
  })
}

type Query = ReadonlyMap<string, readonly string[]>

function sorted(items: readonly Shown[], query: Query): readonly Shown[] {
  const keys = query.get('sort_key') ?? []
  const directions = query.get('sort_dir') ?? []
  if (keys.length === 0) return items
  return [...items].sort((a, b) => {
    for (const [at, name] of keys.entries()) {
      const order = String(a[name] ?? '').localeCompare(String(b[name] ?? ''), 'en')
      if (order !== 0) return directions[at] === 'desc' ? -order : order
    }
    return 0
  })
}

function paged(items: readonly Shown[], query: Query): readonly Shown[] {
  for (const name of ['limit', 'marker', 'page_reverse']) if ((query.get(name)?.length ?? 0) > 1) throw givenTwice(name)
  const marker = query.get('marker')?.[0]
  const limit = query.get('limit')?.[0]
  const start = marker === undefined ? 0 : items.findIndex((item) => item.id === marker) + 1
  if (marker !== undefined && start === 0)
    throw new SpoutError('InvalidField', { field: 'marker', reason: 'is not in the list' })
  if (limit === undefined) return items.slice(start)
  if (!/^\d{1,9}$/.test(limit)) throw new SpoutError('InvalidField', { field: 'limit', reason: 'is not a number' })
  return Number(limit) === 0 ? items.slice(start) : items.slice(start, start + Number(limit))
}
