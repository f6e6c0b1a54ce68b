import { hash } from 'node:crypto'
import { stretchesOf } from '../diff/list-difference.ts'
import type { NodeStateEntry } from './index.ts'
import type { NodePool } from './pool.ts'

/** JSON with sorted object keys, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return listText(value)
  const fields = value as Readonly<Record<string, unknown>>
  return fieldsText(fields, Object.keys(fields).sort())
}

function listText(list: readonly unknown[]): string {
  const flat = namesOfFlat(list)
  // JSON.stringify writes fields in the order of this list. That is several times as fast as writing each field here.
  if (flat !== null) return JSON.stringify(list, flat.sort())
  let text = ''
  // Items of a list usually have the same fields, so the names are sorted once for thousands of members.
  let [names, sorted]: [readonly string[], readonly string[]] = [[], []]
  for (let at = 0; at < list.length; at++) {
    const item = list[at]
    if (at > 0) text += ','
    if (item === null || typeof item !== 'object' || Array.isArray(item)) {
      text += canonicalJson(item)
      continue
    }
    const own = Object.keys(item)
    if (!isSame(own, names)) [names, sorted] = [own, [...own].sort()]
    text += fieldsText(item as Readonly<Record<string, unknown>>, sorted)
  }
  return `[${text}]`
}

/**
 * The field names of a list of objects that all have the same fields in the same order, with primitive values. Null for
 * other lists.
 */
function namesOfFlat(list: readonly unknown[]): string[] | null {
  const [first] = list
  if (list.length < 2 || first === null || typeof first !== 'object' || Array.isArray(first)) return null
  const names = Object.keys(first)
  for (const item of list) {
    if (item === null || typeof item !== 'object' || Array.isArray(item)) return null
    let count = 0
    for (const name in item) {
      const field = (item as Readonly<Record<string, unknown>>)[name]
      if (name !== names[count++] || (typeof field === 'object' && field !== null)) return null
    }
    if (count !== names.length) return null
  }
  return names
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, at) => name === b[at])

function fieldsText(fields: Readonly<Record<string, unknown>>, sorted: readonly string[]): string {
  let text = ''
  for (const name of sorted) {
    const field = fields[name]
    if (field === undefined) continue
    text += `${text === '' ? '' : ','}${nameText(name)}:`
    text += typeof field === 'number' && Number.isSafeInteger(field) ? field : canonicalJson(field)
  }
  return `{${text}}`
}

const PLAIN = /^[A-Za-z0-9_]+$/
const nameText = (name: string): string => (PLAIN.test(name) ? `"${name}"` : JSON.stringify(name))

/** Members of a large pool are hashed in chunks of this size, so that an added member costs the hash of one chunk. */
const CHUNK = 64
/**
 * If a listener has more routes, each is hashed by itself: a route may be added anywhere, and would shift all chunks.
 */
const FEW_ROUTES = 64
/** If an entry has more pools, the text of each is kept: most changes leave all but one the same objects. */
const FEW_POOLS = 16

/** The hash of an entry, with the hashes of its parts, by which a changed version is hashed cheaply. */
export interface HashedParts {
  readonly hash: string
  readonly entry: NodeStateEntry
  /** Chunk hashes by member list. */
  readonly chunks: ReadonlyMap<readonly unknown[], readonly string[]>
  /** The concatenated hashes of routes, by list. */
  readonly routes: ReadonlyMap<readonly unknown[], string>
  /** The canonical JSON of pools. Bytes take a fraction of the memory of a text that was put together. */
  readonly pools: ReadonlyMap<NodePool, Uint8Array>
}

/** Entries are compared by this hash: the first 128 bits of SHA-256 over the canonical JSON, hex. */
export const entryHash = (entry: NodeStateEntry): string => hashEntry(entry).hash

/**
 * The hash of an entry. For a pool of more than 64 members it covers the hashes of chunks of 64 members, and for a
 * listener of more than 64 routes the hashes of the routes.
 * @param before an earlier entry. Objects that both share are not hashed again.
 */
export function hashEntry(entry: NodeStateEntry, before?: HashedParts): HashedParts {
  const chunks = new Map<readonly unknown[], readonly string[]>()
  const routes = new Map<readonly unknown[], string>()
  const texts = new Map<NodePool, Uint8Array>()
  const parts = { entry, chunks, routes, pools: texts }
  if (entry.kind !== 'load-balancer') return { hash: digest(canonicalJson(entry)), ...parts }
  const poolsBefore = before?.entry.kind === 'load-balancer' ? before.entry.pools : []
  const hashed = (pool: NodePool): object => {
    if (pool.members.length <= CHUNK) return pool
    const known = poolsBefore.find(({ id }) => id === pool.id)?.members ?? []
    const members = chunkHashes(pool.members, known, before?.chunks.get(known) ?? [])
    chunks.set(pool.members, members)
    return { ...pool, members }
  }
  const servicesBefore = before?.entry.kind === 'load-balancer' ? before.entry.services : []
  const services = entry.services.map((service) => {
    if (service.routes === undefined || service.routes.length <= FEW_ROUTES) return service
    const known = servicesBefore.find(({ id }) => id === service.id)?.routes ?? []
    const hashes = routeHashes(service.routes, known, before?.routes.get(known))
    routes.set(service.routes, hashes)
    return { ...service, routes: digest(hashes) }
  })
  if (entry.pools.length <= FEW_POOLS)
    return { hash: digest(canonicalJson({ ...entry, services, pools: entry.pools.map(hashed) })), ...parts }
  const written = entry.pools.map((pool) => {
    const known = before?.pools.get(pool)
    const chunksBefore = known && before?.chunks.get(pool.members)
    if (chunksBefore !== undefined) chunks.set(pool.members, chunksBefore)
    const text = known ?? Buffer.from(canonicalJson(hashed(pool)))
    texts.set(pool, text)
    return text
  })
  return { hash: digest(withPools({ ...entry, services }, written)), ...parts }
}

const COMMA = Buffer.from(',')

/** The canonical JSON of an entry whose pools have these texts. */
function withPools(entry: object, pools: readonly Uint8Array[]): Uint8Array {
  const fields = entry as Readonly<Record<string, unknown>>
  const names = Object.keys(fields).sort()
  const at = names.indexOf('pools')
  // Neither is empty: every entry has `kind` and `services`.
  const [head, tail] = [fieldsText(fields, names.slice(0, at)), fieldsText(fields, names.slice(at + 1))]
  const list = pools.flatMap((pool) => [COMMA, pool]).slice(1)
  return Buffer.concat([Buffer.from(`${head.slice(0, -1)},"pools":[`), ...list, Buffer.from(`],${tail.slice(1)}`)])
}

/** The concatenated hashes of a list. Those of items that an earlier list has are taken from there. */
function routeHashes(list: readonly unknown[], before: readonly unknown[], hashesBefore: string | undefined): string {
  if (hashesBefore === undefined) return hashesOf(list)
  const takenFrom = (from: number, count: number): string =>
    hashesBefore.slice(from * HASH_LENGTH, (from + count) * HASH_LENGTH)
  const stretches = stretchesOf(before, list)
  if (stretches === null) {
    const places = new Map(before.map((item, at) => [item, at]))
    return list.map((item) => (places.has(item) ? takenFrom(places.get(item)!, 1) : hashesOf([item]))).join('')
  }
  let hashes = ''
  for (const { at, count, from } of stretches)
    hashes += from === null ? hashesOf(list.slice(at, at + count)) : takenFrom(from, count)
  return hashes
}

const hashesOf = (items: readonly unknown[]): string => items.map((item) => digest(canonicalJson(item))).join('')

function chunkHashes(
  list: readonly unknown[],
  before: readonly unknown[],
  hashesBefore: readonly string[],
): readonly string[] {
  const hashes: string[] = []
  for (let from = 0; from < list.length; from += CHUNK) {
    const to = Math.min(from + CHUNK, list.length)
    const known = hashesBefore[from / CHUNK]
    let same = known !== undefined && Math.min(from + CHUNK, before.length) === to
    for (let at = from; same && at < to; at++) same = list[at] === before[at]
    hashes.push(same ? known! : digest(canonicalJson(list.slice(from, to))))
  }
  return hashes
}

/** Characters of a hash. */
const HASH_LENGTH = 32
const digest = (text: string | Uint8Array): string => hash('sha256', text, 'hex').slice(0, HASH_LENGTH)
