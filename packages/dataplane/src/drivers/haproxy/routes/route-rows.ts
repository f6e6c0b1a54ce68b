import type { NodeForward, NodeRoute } from '@spout/model'
import { isFiltered } from '@spout/model/route-keys'
import { SharedMap } from '@spout/model/shared-map'
import {
  type CompiledHost,
  type CompiledRoutes,
  compileRoutes,
  type HostClass,
  lookupText,
  type Outcome,
  type Test,
} from '@spout/plan/http-routes'
import type { RowMap } from '../sections/maps.ts'
import { authorizerText, satisfyText } from './authorizers.ts'
import { filterText, prefixText } from './filter-text.ts'
import { limitsOf } from './route-limits.ts'
import { automatonRows, contentName, testText } from './test-rows.ts'
import { USERS_BACKEND, usersText } from './users-backend.ts'

/** A backend by its owner; `none`: no backend, which answers 503; `default`: the frontend's default. */
export type RowTarget = { readonly backend: string } | { readonly text: string }

/** A row of a map, under the frontend's name. */
export interface RouteRow {
  readonly map: RowMap
  /** Letters, digits and `-._:/`. */
  readonly key: string
  readonly to: RowTarget
}

/** Rows that come and go together: those of one class of hosts, or of one thing that has a name. */
export interface RowGroup {
  readonly rows: readonly RouteRow[]
  /** The class of hosts of these rows. */
  readonly of?: HostGroup
}

interface HostGroup {
  readonly paths: CompiledHost<NodeRoute>['paths']
  /** Groups of rows that its rows refer to, by name. */
  readonly leadsTo: ReadonlyMap<string, RowGroup>
}

export interface RenderedRoutes {
  /** How many classes of hosts are found only by looking up their last labels. */
  readonly wildcards: number
  /** Groups by class of hosts, and by name. A group that is the same object as before has the same rows. */
  readonly groups: SharedMap<RowGroup>
  /** How many classes of hosts lead to what has this name. */
  readonly users: SharedMap<number>
  readonly compiled: CompiledRoutes<NodeRoute>
}

/** All rows, in any order. */
export function* rowsOfGroups({ groups }: Pick<RenderedRoutes, 'groups'>): Generator<RouteRow> {
  for (const { rows } of groups.values()) yield* rows
}

/** The prefix of keys for a host class. No host name contains `:`. */
export const KIND_PREFIXES: Readonly<Record<HostClass['is'], string>> = {
  exact: '',
  'one-label': '1:',
  'any-labels': 'n:',
  any: ':',
}

/** Choices between pools are made among this many buckets at most. */
const MOST_BUCKETS = 256

const MILLIONTHS_OF_A_PERCENT = 10_000

/**
 * The rows of a listener's routes. Texts of tenants are in them only as host names of their small alphabet, hexadecimal
 * and base64. Choices, shares and answers have a hash of their content as their name, so the rows of a name never
 * change.
 * @param backendOf the owner of the backend for a pool's number; null if the pool does not exist
 * @param before the last result with the same backends and `named`; its unchanged parts are reused
 * @param named whether the proxy knows which route a request took
 * @throws RangeError for a table that is too large, which the control plane refuses
 */
export function renderRoutes(
  routes: readonly NodeRoute[],
  backendOf: (pool: number) => string | null,
  before: RenderedRoutes | null = null,
  named = false,
): RenderedRoutes {
  const compiled = compileRoutes(routes, before?.compiled)
  if (compiled === null) throw new RangeError('the table of routes is too large')
  const groups = (before?.groups ?? SharedMap.empty<RowGroup>()).draft()
  const users = (before?.users ?? SharedMap.empty<number>()).draft()
  const release = ({ of }: RowGroup): void => {
    for (const name of of?.leadsTo.keys() ?? []) {
      const left = (users.get(name) ?? 0) - 1
      if (left > 0) users.set(name, left)
      else {
        users.delete(name)
        groups.delete(name)
      }
    }
  }
  let wildcards = before?.wildcards ?? 0
  const hostsBefore = before?.compiled.hosts ?? SharedMap.empty<CompiledHost<NodeRoute>>()
  for (const [key, host] of compiled.hosts.differing(hostsBefore)) {
    const known = groups.get(key)
    if (known === undefined && isWildcard(host)) wildcards++
    if (known?.of?.paths === host.paths) continue
    const group = renderHost(host, backendOf, named)
    for (const [name, led] of group.of.leadsTo) {
      users.set(name, (users.get(name) ?? 0) + 1)
      if (!groups.has(name)) groups.set(name, led)
    }
    if (known !== undefined) release(known)
    groups.set(key, group)
  }
  for (const [key, host] of hostsBefore.differing(compiled.hosts)) {
    const gone = compiled.hosts.has(key) ? undefined : groups.get(key)
    if (gone === undefined) continue
    if (isWildcard(host)) wildcards--
    release(gone)
    groups.delete(key)
  }
  return { wildcards, groups: groups.done(), users: users.done(), compiled }
}

const isWildcard = ({ host: { is } }: CompiledHost<NodeRoute>): boolean => is === 'one-label' || is === 'any-labels'

function renderHost(
  { host, paths }: CompiledHost<NodeRoute>,
  backendOf: (pool: number) => string | null,
  named: boolean,
): RowGroup & { readonly of: HostGroup } {
  const targets = new Targets(backendOf, named)
  const rows = paths.map(({ path, outcome }): RouteRow => {
    const { text, ends } = lookupText(path)
    const hex = Buffer.from(text, 'latin1').toString('hex').toUpperCase()
    const key = `${KIND_PREFIXES[host.is]}${host.name}/${hex}${ends ? '.' : ''}`
    return { map: 'paths', key, to: targets.of(outcome) }
  })
  return { rows, of: { paths, leadsTo: targets.named } }
}

/** A question about a request, and the backend that answers it. */
interface Asked {
  readonly by: RowTarget
  readonly text: string
}

/** Adds the rows under a name. */
type Writer = (name: string, add: (map: RowMap, key: string, to: RowTarget | string) => void) => void

/** Collects what rows refer to, and the rows of named targets. */
class Targets {
  readonly named = new Map<string, RowGroup>()
  readonly #backendOf: (pool: number) => string | null
  readonly #areNamed: boolean
  readonly #ofRoutes = new Map<NodeRoute, RowTarget>()

  constructor(backendOf: (pool: number) => string | null, areNamed: boolean) {
    this.#backendOf = backendOf
    this.#areNamed = areNamed
  }

  of(outcome: Outcome<NodeRoute>): RowTarget {
    if ('route' in outcome) return this.#ofRoute(outcome.route)
    const other = ['any', this.#ofRoute(outcome.other)] as const
    if ('methods' in outcome) {
      const choices = [...outcome.methods].map(([method, route]) => [method, this.#ofRoute(route)] as const)
      return this.#choice('m', [...choices, other])
    }
    const tests = outcome.tests.map(({ all }) => all.map((test) => this.#test(test)).join(':'))
    const choices = outcome.tests.map(({ route }, at) => [String(at), this.#ofRoute(route)] as const)
    return this.#choice('t', [...choices, other], tests)
  }

  /** @param tests of each choice but the last; absent if the request's method selects the choice */
  #choice(letter: 'm' | 't', choices: readonly (readonly [string, RowTarget])[], tests: readonly string[] = []) {
    return this.#name(letter, tests.length === 0 ? choices : [choices, tests], (name, add) => {
      for (const [at, names] of tests.entries()) add('tests', `${name}/${at}`, names)
      for (const [key, to] of choices) add('choices', `${name}/${key}`, to)
    })
  }

  #test(test: Test): string {
    const text = testText(test, (pattern, anyCase) => {
      return this.#named('r', [pattern, anyCase], (name, add) => {
        for (const [key, value] of automatonRows(pattern, anyCase)) add('tests', `${name}/${key}`, value)
      })
    })
    return this.#named('c', text, (name, add) => add('tests', name, text))
  }

  #ofRoute(route: NodeRoute | null): RowTarget {
    if (route === null) return { text: 'default' }
    const known = this.#ofRoutes.get(route)
    if (known !== undefined) return known
    const to = route.action.type === 'forward' ? this.#forward(route.action) : this.#answer(route.action)
    const target = this.#areNamed ? this.#identified(checkedRouteId(route.id), to) : to
    this.#ofRoutes.set(route, target)
    return target
  }

  #identified(id: string, to: RowTarget): RowTarget {
    return this.#name('i', [id, to], (name, add) => {
      add('routes', `${name}/id`, id)
      add('routes', `${name}/to`, to)
    })
  }

  #forward(action: NodeForward): RowTarget {
    const to = this.#filtered(action)
    const asked = this.#asked(action)
    if (asked.length === 0) return to
    return this.#name('q', [to, ...asked.flatMap(({ by, text }) => [by, text])], (name, add) => {
      for (const [at, { by, text }] of asked.entries()) {
        add('authorizers', `${name}/by${at === 0 ? '' : at}`, by)
        add('authorizers', `${name}/ask${at === 0 ? '' : at}`, text)
      }
      add('authorizers', `${name}/to`, to)
    })
  }

  /**
   * The questions whether a request may go on, in order. The first one's text says whether one of two answers is
   * enough.
   */
  #asked({ authorizer, basicAuthentication, satisfy = 'all', filters = [] }: NodeForward): readonly Asked[] {
    const answersPreflights = filters.some(({ type }) => type === 'cors')
    const asked: Asked[] = []
    if (basicAuthentication !== undefined) {
      const { realm, users } = basicAuthentication
      const isBoth = authorizer !== undefined
      const text = users === null ? 'none' : usersText(realm, users.contentId, answersPreflights)
      asked.push({
        by: users === null ? NOBODY : { text: USERS_BACKEND },
        text: isBoth ? `${text}${satisfyText(satisfy)}` : text,
      })
    }
    if (authorizer !== undefined)
      asked.push({ by: this.#pool(authorizer.pool), text: authorizerText(authorizer, answersPreflights) })
    return asked
  }

  #filtered(action: NodeForward): RowTarget {
    const to = this.#mirrored(action)
    if (!isFiltered(action)) return to
    const text = filterText(action.filters ?? [])
    return this.#name('f', [to, text], (name, add) => {
      add('filters', `${name}/do`, text)
      add('filters', `${name}/to`, to)
    })
  }

  #mirrored(action: NodeForward): RowTarget {
    const to = this.#limited(action)
    const copies = (action.mirrors ?? [])
      .map(({ pool, percent }) => ({ to: this.#pool(pool), part: Math.round(percent * MILLIONTHS_OF_A_PERCENT) }))
      .filter(({ part }) => part > 0)
    if (copies.length === 0) return to
    return this.#name('k', [to, copies], (name, add) => {
      for (const [at, copy] of copies.entries()) {
        add('mirrors', `${name}/${at}`, copy.to)
        add('mirrors', `${name}/${at}/part`, String(copy.part))
      }
      add('mirrors', `${name}/to`, to)
    })
  }

  #limited(action: NodeForward): RowTarget {
    const to = this.#share(action)
    const limits = limitsOf(action)
    if (limits === null) return to
    return this.#name('l', [to, limits], (name, add) => {
      for (const [key, value] of Object.entries(limits)) add('limits', `${name}/${key}`, String(value))
      add('limits', `${name}/to`, to)
    })
  }

  #pool(pool: number | null): RowTarget {
    const backend = pool === null ? null : this.#backendOf(pool)
    return backend === null ? NOBODY : { backend }
  }

  #share({ pools, answered }: NodeForward): RowTarget {
    const buckets = bucketsOf([...pools, ...(answered === undefined ? [] : [answered])].map(({ weight }) => weight))
    const targets = pools.map((share) => this.#ofShare(share))
    if (answered !== undefined) targets.push(this.#answer({ type: 'respond', code: answered.code }))
    const taken = targets.flatMap((to, at) => Array.from({ length: buckets[at]! }, () => to))
    if (taken.length === 1) return taken[0]!
    return this.#name('w', taken, (name, add) => {
      add('shares', `${name}/size`, String(taken.length))
      for (const [bucket, to] of taken.entries()) add('shares', `${name}/${bucket}`, to)
    })
  }

  #ofShare({ pool, filters = [] }: NodeForward['pools'][number]): RowTarget {
    const to = this.#pool(pool)
    if (filters.length === 0) return to
    const text = filterText(filters)
    return this.#name('g', [to, text], (name, add) => {
      add('share-filters', `${name}/do`, text)
      add('share-filters', `${name}/to`, to)
    })
  }

  #answer(action: Exclude<NodeRoute['action'], NodeForward>): RowTarget {
    return this.#name('a', action, (name, add) => {
      add('answers', name, action.type)
      add('answers', `${name}/code`, String(action.code))
      if (action.type === 'respond') return
      if (action.scheme !== null) add('answers', `${name}/scheme`, `${action.scheme}://`)
      if (action.host !== null) add('answers', `${name}/host`, action.host)
      if (action.port !== null && (action.scheme === null || action.port !== DEFAULT_PORTS[action.scheme]))
        add('answers', `${name}/port`, `:${action.port}`)
      // Absent in entries of an earlier control plane.
      if (typeof action.pathPrefix === 'string')
        add('answers', `${name}/prefix`, Buffer.from(action.pathPrefix).toString('base64url'))
      if (action.prefix !== undefined) add('answers', `${name}/replace`, prefixText(action.prefix))
      if (action.path !== null) add('answers', `${name}/path`, Buffer.from(action.path).toString('base64url'))
    })
  }

  #name(letter: string, content: unknown, write: Writer): RowTarget {
    return { text: this.#named(letter, content, write) }
  }

  /** @param write adds the rows under the name; called once for each name */
  #named(letter: string, content: unknown, write: Writer): string {
    const name = contentName(letter, content)
    if (!this.named.has(name)) {
      const rows: RouteRow[] = []
      this.named.set(name, { rows })
      write(name, (map, key, to) => rows.push({ map, key, to: typeof to === 'string' ? { text: to } : to }))
    }
    return name
  }
}

/** The id is a value of a map, where a space or a newline would end it. */
function checkedRouteId(id: string): string {
  if (/^[\w-]{1,64}$/.test(id)) return id
  throw new RangeError(`${JSON.stringify(id)} is not the id of a route`)
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const

const NOBODY: RowTarget = { text: 'none' }

/**
 * How many buckets each weight gets: as the weights are, in lowest terms; where these are more than 256 in all, 256 in
 * the nearest proportion, and at least one for each weight above 0.
 */
export function bucketsOf(weights: readonly number[]): readonly number[] {
  const divisor = weights.reduce(greatestCommonDivisor, 0)
  const sum = weights.reduce((total, weight) => total + weight, 0)
  if (sum / divisor <= MOST_BUCKETS) return weights.map((weight) => weight / divisor)
  const buckets = weights.map((weight) => (weight === 0 ? 0 : Math.max(1, Math.round((weight / sum) * MOST_BUCKETS))))
  const largest = buckets.indexOf(Math.max(...buckets))
  const spare = MOST_BUCKETS - buckets.reduce((total, count) => total + count, 0)
  return buckets.with(largest, buckets[largest]! + spare)
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b))
