import { type HttpRoute, ListIndex } from '@spout/model'

const byId = new ListIndex<HttpRoute>(({ id }) => id)
const byName = new ListIndex<HttpRoute>(({ name }) => name)

/** More routes than this are looked for in one walk over all. */
const FEW = 64

/** The routes of a listener while a request changes some of them. A look-up does not walk over all of them. */
export class ChangingRoutes {
  readonly #before: readonly HttpRoute[]
  readonly #routes: HttpRoute[]
  /** The versions that this request made, by id. */
  readonly #made = new Map<string, HttpRoute>()
  /** Names of those versions, and of earlier ones that they replaced. */
  readonly #names = new Set<string>()

  /** @param remove ids; those that are not there are no error */
  constructor(before: readonly HttpRoute[], remove: readonly string[]) {
    const gone = new Set(remove)
    this.#before = before
    this.#routes = gone.size > FEW ? before.filter(({ id }) => !gone.has(id)) : [...before]
    if (gone.size <= FEW)
      for (const place of [...gone].map((id) => this.placeOf(id)).sort((a, b) => b - a))
        if (place >= 0) this.remove(place)
  }

  get all(): HttpRoute[] {
    return this.#routes
  }

  /** The place of the route with this id; -1 if there is none. */
  placeOf(id: string): number {
    const known = this.#made.get(id) ?? byId.find(this.#before, id)
    return known === undefined ? -1 : this.#routes.indexOf(known)
  }

  /** The place of the first route with this name; -1 if there is none, or for an empty name. */
  placeOfName(name: string): number {
    if (name === '') return -1
    const anyWithName = () => this.#routes.findIndex((one) => one.name === name)
    if (this.#names.has(name)) return anyWithName()
    const first = byName.find(this.#before, name)
    if (first === undefined) return -1
    const place = this.#routes.indexOf(first)
    // It was removed. Others may have the same name.
    return place < 0 ? anyWithName() : place
  }

  replace(place: number, route: HttpRoute): void {
    this.#note(route)
    this.#routes[place] = route
  }

  remove(place: number): void {
    this.#routes.splice(place, 1)
  }

  /** Puts a route, which is not among them, at this place. */
  insert(place: number, route: HttpRoute): void {
    this.#note(route)
    this.#routes.splice(place, 0, route)
  }

  #note(route: HttpRoute): void {
    const former = this.#made.get(route.id) ?? byId.find(this.#before, route.id)
    if (former !== undefined) this.#names.add(former.name)
    this.#names.add(route.name)
    this.#made.set(route.id, route)
  }
}

/** The routes of a list that have these ids, in its order. Ids that it lacks are left out. */
export function routesWith(routes: readonly HttpRoute[], ids: readonly string[]): readonly HttpRoute[] {
  const wanted = new Set(ids)
  if (wanted.size > FEW) return routes.filter(({ id }) => wanted.has(id))
  return [...wanted]
    .flatMap((id) => byId.find(routes, id) ?? [])
    .map((route) => ({ route, place: routes.indexOf(route) }))
    .sort((a, b) => a.place - b.place)
    .map(({ route }) => route)
}
