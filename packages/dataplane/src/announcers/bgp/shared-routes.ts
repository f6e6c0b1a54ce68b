import { HelperError, type NativeHelper, type RouteChange } from '@spout/sys'
import { asWanted, tablesOf, type WantedRoute } from './announced-routes.ts'

export interface SharedRoutesOptions {
  readonly helper: NativeHelper
  /** Path of the namespace; absent for the helper's own. */
  readonly netns: string | undefined
  /** A table that only this announcer uses. */
  readonly table: number
}

/** Kernel routes that several announcements may share. A route exists while at least one holder needs it. */
export class SharedRoutes {
  readonly #options: SharedRoutesOptions
  readonly #held = new Map<string, readonly WantedRoute[]>()
  readonly #holders = new Map<string, number>()
  /** Routes in the kernel without a holder. */
  readonly #left = new Map<string, WantedRoute>()
  #changes = 0

  constructor(options: SharedRoutesOptions) {
    this.#options = options
  }

  /** Counts requests that changed routes, since the start. */
  get changes(): number {
    return this.#changes
  }

  isHeld(holder: string): boolean {
    return this.#held.has(holder)
  }

  get hasLeftovers(): boolean {
    return this.#left.size > 0
  }

  /** Assigns routes to holders whose routes all exist. The rest is left over. */
  async adopt(wanted: ReadonlyMap<string, readonly WantedRoute[]>): Promise<void> {
    this.#held.clear()
    this.#holders.clear()
    this.#left.clear()
    const present = await this.#present()
    for (const [holder, routes] of wanted)
      if (routes.length > 0 && routes.every((route) => present.has(keyOf(route)))) this.#hold(holder, routes)
    for (const [key, route] of present) if (!this.#holders.has(key)) this.#left.set(key, route)
  }

  /** Forgets holders with a missing route. @returns whether there were any */
  async observe(): Promise<boolean> {
    const present = await this.#present()
    const lost = [...this.#held].filter(([, routes]) => !routes.every((route) => present.has(keyOf(route))))
    for (const [holder] of lost) this.#release(holder)
    // The next change places the other routes of a forgotten holder again, or removes them.
    for (const [key, route] of present) if (!this.#holders.has(key)) this.#left.set(key, route)
    return lost.length > 0
  }

  /**
   * Changes the routes of holders; an empty list removes them. New routes are added before old ones are removed.
   * @param prune also removes routes without a holder
   * @returns the kernel's error text for each holder that failed
   * @throws HelperLost
   */
  async change(
    wanted: ReadonlyMap<string, readonly WantedRoute[]>,
    prune: boolean,
  ): Promise<ReadonlyMap<string, string>> {
    const touched = new Map<string, WantedRoute>(prune ? this.#left : [])
    const there = new Set<string>()
    const before = (route: WantedRoute) => {
      const key = keyOf(route)
      if (!touched.has(key) && this.#holders.has(key)) there.add(key)
      touched.set(key, route)
    }
    for (const [holder, routes] of wanted)
      for (const route of [...(this.#held.get(holder) ?? []), ...routes]) before(route)
    for (const [holder, routes] of wanted) {
      this.#release(holder)
      if (routes.length > 0) this.#hold(holder, routes)
    }
    const coming = [...touched].flatMap(([key, route]) => (this.#holders.has(key) && !there.has(key) ? [route] : []))
    const refused = await this.#request('replace', coming)
    const errors = new Map<string, string>()
    if (refused.size > 0)
      for (const [holder, routes] of wanted) {
        const words = routes.map((route) => refused.get(keyOf(route))).find((each) => each !== undefined)
        if (words === undefined) continue
        errors.set(holder, words)
        this.#release(holder)
      }
    const going = [...touched].flatMap(([key, route]) => (this.#holders.has(key) ? [] : [route]))
    // Removes the announced route first, and the routes that it leads to last.
    await this.#request('delete', going.toReversed())
    for (const key of touched.keys()) this.#left.delete(key)
    return errors
  }

  async #present(): Promise<ReadonlyMap<string, WantedRoute>> {
    const { helper, netns, table } = this.#options
    const present = new Map<string, WantedRoute>()
    for (const at of tablesOf(table))
      for (const listed of await helper.routeList({ netns, table: at })) {
        const route = asWanted(listed, at, table)
        if (route !== null) present.set(keyOf(route), route)
      }
    return present
  }

  async #request(action: RouteChange['do'], routes: readonly WantedRoute[]): Promise<ReadonlyMap<string, string>> {
    if (routes.length === 0) return new Map()
    this.#changes++
    const { helper, netns } = this.#options
    try {
      await helper.route({ netns, changes: routes.map((route) => changeOf(action, route)) })
      return new Map()
    } catch (error) {
      if (!(error instanceof HelperError)) throw error
      const refused = error.refused.map(({ index }) => routes[index]).filter((route) => route !== undefined)
      return new Map((refused.length > 0 ? refused : routes).map((route) => [keyOf(route), error.message]))
    }
  }

  #hold(holder: string, routes: readonly WantedRoute[]): void {
    this.#held.set(holder, routes)
    for (const route of routes) {
      const key = keyOf(route)
      this.#holders.set(key, (this.#holders.get(key) ?? 0) + 1)
      this.#left.delete(key)
    }
  }

  #release(holder: string): void {
    for (const route of this.#held.get(holder) ?? []) {
      const key = keyOf(route)
      const others = this.#holders.get(key)! - 1
      if (others === 0) this.#holders.delete(key)
      else this.#holders.set(key, others)
    }
    this.#held.delete(holder)
  }
}

const keyOf = ({ table, to, metric }: WantedRoute): string => `${table} ${to} ${metric}`

const changeOf = (action: RouteChange['do'], { table, to, type, metric }: WantedRoute): RouteChange => ({
  do: action,
  table,
  to,
  metric,
  type,
  ...(type === 'local' ? { dev: 'lo' } : {}),
})
