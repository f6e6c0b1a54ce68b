import { isPathKey, type PathKeyCondition } from '@spout/model/route-keys'
import { Candidates } from './candidates.ts'
import type { ConditionalRoute } from './conditional-route.ts'

/**
 * A class of requests: a condition on the path holds for all of them or for none. They have one path, or begin with `text`
 * and are in no class of a longer text. Requests without a path, such as `OPTIONS *`, are in the class of the empty prefix.
 */
export interface PathClass {
  readonly is: 'exact' | 'prefix'
  readonly text: string
}

const keyOf = ({ is, text }: PathClass): string => `${is} ${text}`

/** The classes in which a path condition's value holds, with everything below. */
function classesOf(compare: PathKeyCondition['compare'], value: string): readonly PathClass[] {
  if (compare !== 'elements') return [{ is: compare, text: value }]
  const element = value.replace(/\/+$/, '')
  return [...(element === '' ? [] : [{ is: 'exact', text: element } as const]), { is: 'prefix', text: `${element}/` }]
}

/**
 * The text by which a class is found. A request is looked up by its path, followed by `/` and an end mark. Its class has the
 * longest text that this begins with. So `/a/` is found for `/a`, too: one text is for a path and everything under it.
 */
export const lookupText = ({ is, text }: PathClass): { readonly text: string; readonly ends: boolean } =>
  is === 'exact' ? { text: `${text}/`, ends: true } : { text, ends: false }

/** Adds `/a` for the prefix `/a/`, which would be found for `/a` because of the `/` that is put behind a path. */
const withNeighbour = (path: PathClass): readonly PathClass[] =>
  path.is === 'prefix' && path.text.length > 1 && path.text.endsWith('/')
    ? [path, { is: 'exact', text: path.text.slice(0, -1) }]
    : [path]

const ROOT: PathClass = { is: 'prefix', text: '' }

/** The classes that routes make, prefixes by length and then exact paths, and the routes that can hold in each. */
export function* pathClasses<Route extends ConditionalRoute>(
  routes: readonly Route[],
): Generator<{ readonly path: PathClass; readonly candidates: readonly Route[] }> {
  const classes = new Map([[keyOf(ROOT), ROOT]])
  const found = new Candidates<Route>()
  for (const route of routes) {
    let naming: string[] | undefined
    for (const condition of route.conditions) {
      if (!isPathKey(condition)) continue
      const named = condition.values.flatMap((value) => classesOf(condition.compare, value))
      for (const path of named) for (const one of withNeighbour(path)) classes.set(keyOf(one), one)
      if (!condition.not) naming ??= named.map(keyOf)
    }
    found.add(route, naming)
  }
  for (const path of [...classes.values()].sort(byPrefixAndLength))
    yield { path, candidates: found.of(keysCovering(path)) }
}

const byPrefixAndLength = (a: PathClass, b: PathClass): number =>
  a.is === b.is ? a.text.length - b.text.length : a.is === 'prefix' ? -1 : 1

function* keysCovering(path: PathClass): Generator<string> {
  if (path.is === 'exact') yield keyOf(path)
  for (let length = path.text.length; length > 0; length--)
    yield keyOf({ is: 'prefix', text: path.text.slice(0, length) })
}

/** Whether a condition holds for the paths of a class, all of which it decides alike. */
export const pathHolds = ({ compare, values, not }: PathKeyCondition, path: PathClass): boolean =>
  values.some((value) =>
    classesOf(compare, value).some(({ is, text }) =>
      is === 'exact' ? path.is === 'exact' && path.text === text : path.text.startsWith(text),
    ),
  ) !== not
