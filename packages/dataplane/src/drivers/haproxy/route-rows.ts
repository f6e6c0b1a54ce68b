import type { NodeForward, NodeRoute } from '@spout/model'
import { isFiltered } from '@spout/model/route-keys'
import { compileRoutes, type HostClass, lookupText, type Outcome, type Test } from '@spout/plan/http-routes'
import { filterText } from './filter-text.ts'
import type { RowMap } from './maps.ts'
import { automatonRows, contentName, testText } from './test-rows.ts'

/** A backend by its owner; `none`: no backend, which answers 503; `default`: the frontend's default. */
export type RowTarget = { readonly backend: string } | { readonly text: string }

/** A row of a map, under the frontend's name. */
export interface RouteRow {
  readonly map: RowMap
  /** Letters, digits and `-._:/`. */
  readonly key: string
  readonly to: RowTarget
}

export interface RenderedRoutes {
  /** Some hosts are found only by looking up their last labels. */
  readonly wildcards: boolean
  readonly rows: readonly RouteRow[]
}

/** What stands before the name of a host class in keys. `:` is in no host name. */
export const KIND_PREFIXES: Readonly<Record<HostClass['is'], string>> = {
  exact: '',
  'one-label': '1:',
  'any-labels': 'n:',
  any: ':',
}

/** Choices between pools are made among this many buckets at most. */
const MOST_BUCKETS = 256

/**
 * The rows of a listener's routes. Texts of tenants are in them only as host names of their small alphabet, hexadecimal
 * and base64. Choices, shares and answers are named by a hash of what they are, so rows under such a name never change.
 * @param backendOf the owner of the backend for a pool's number; null if the pool is not there
 * @throws RangeError for a table that is too large, which the control plane refuses
 */
export function renderRoutes(routes: readonly NodeRoute[], backendOf: (pool: number) => string | null): RenderedRoutes {
  const compiled = compileRoutes(routes)
  if (compiled === null) throw new RangeError('the table of routes is too large')
  const rows = new RowSet(backendOf)
  for (const { host, paths } of compiled) {
    for (const { path, outcome } of paths) {
      const { text, ends } = lookupText(path)
      const hex = Buffer.from(text, 'latin1').toString('hex').toUpperCase()
      rows.add('paths', `${KIND_PREFIXES[host.is]}${host.name}/${hex}${ends ? '.' : ''}`, rows.targetOf(outcome))
    }
  }
  return { wildcards: compiled.some(({ host: { is } }) => is === 'one-label' || is === 'any-labels'), rows: rows.rows }
}

/** Rows, and names for what several of them lead to. */
class RowSet {
  readonly rows: RouteRow[] = []
  readonly #backendOf: (pool: number) => string | null
  readonly #written = new Set<string>()
  readonly #targets = new Map<NodeRoute, RowTarget>()

  constructor(backendOf: (pool: number) => string | null) {
    this.#backendOf = backendOf
  }

  add(map: RowMap, key: string, to: RowTarget | string): void {
    this.rows.push({ map, key, to: typeof to === 'string' ? { text: to } : to })
  }

  targetOf(outcome: Outcome<NodeRoute>): RowTarget {
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

  /** @param tests of each choice but the last; absent: a request's method says which it is */
  #choice(letter: 'm' | 't', choices: readonly (readonly [string, RowTarget])[], tests: readonly string[] = []) {
    return this.#name(letter, tests.length === 0 ? choices : [choices, tests], (name) => {
      for (const [at, names] of tests.entries()) this.add('tests', `${name}/${at}`, names)
      for (const [key, to] of choices) this.add('choices', `${name}/${key}`, to)
    })
  }

  #test(test: Test): string {
    const text = testText(test, (pattern, anyCase) => {
      return this.#named('r', [pattern, anyCase], (name) => {
        for (const [key, value] of automatonRows(pattern, anyCase)) this.add('tests', `${name}/${key}`, value)
      })
    })
    return this.#named('c', text, (name) => this.add('tests', name, text))
  }

  #ofRoute(route: NodeRoute | null): RowTarget {
    if (route === null) return { text: 'default' }
    const known = this.#targets.get(route)
    if (known !== undefined) return known
    const target = route.action.type === 'forward' ? this.#forward(route.action) : this.#answer(route.action)
    this.#targets.set(route, target)
    return target
  }

  #forward(action: NodeForward): RowTarget {
    const to = this.#share(action)
    if (!isFiltered(action)) return to
    const text = filterText(action.filters ?? [])
    return this.#name('f', [to, text], (name) => {
      this.add('filters', `${name}/do`, text)
      this.add('filters', `${name}/to`, to)
    })
  }

  #share({ pools }: NodeForward): RowTarget {
    const buckets = bucketsOf(pools.map(({ weight }) => weight))
    const targets = pools.map(({ pool }): RowTarget => {
      const backend = pool === null ? null : this.#backendOf(pool)
      return backend === null ? { text: 'none' } : { backend }
    })
    const taken = targets.flatMap((to, at) => Array.from({ length: buckets[at]! }, () => to))
    if (taken.length === 1) return taken[0]!
    return this.#name('w', taken, (name) => {
      this.add('shares', `${name}/size`, String(taken.length))
      for (const [bucket, to] of taken.entries()) this.add('shares', `${name}/${bucket}`, to)
    })
  }

  #answer(action: Exclude<NodeRoute['action'], NodeForward>): RowTarget {
    return this.#name('a', action, (name) => {
      this.add('answers', name, action.type)
      this.add('answers', `${name}/code`, String(action.code))
      if (action.type === 'respond') return
      if (action.scheme !== null) this.add('answers', `${name}/scheme`, `${action.scheme}://`)
      if (action.host !== null) this.add('answers', `${name}/host`, action.host)
      if (action.port !== null && (action.scheme === null || action.port !== DEFAULT_PORTS[action.scheme]))
        this.add('answers', `${name}/port`, `:${action.port}`)
      // Absent in entries of an earlier control plane.
      if (typeof action.pathPrefix === 'string')
        this.add('answers', `${name}/prefix`, Buffer.from(action.pathPrefix).toString('base64url'))
      if (action.path !== null) this.add('answers', `${name}/path`, Buffer.from(action.path).toString('base64url'))
    })
  }

  #name(letter: string, content: unknown, write: (name: string) => void): RowTarget {
    return { text: this.#named(letter, content, write) }
  }

  /** @param write adds the rows of what has this name, once */
  #named(letter: string, content: unknown, write: (name: string) => void): string {
    const name = contentName(letter, content)
    if (!this.#written.has(name)) {
      this.#written.add(name)
      write(name)
    }
    return name
  }
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const

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
