import { isPathKey, type PathKeyCondition } from '@spout/model/route-keys'
import { Candidates } from './candidates.ts'
import type { ConditionalRoute } from './conditional-route.ts'

/**
 * A class of paths for which every condition on the path has the same outcome: the one path `text` (`exact`), or the
 * paths that begin with `text` and are in no class with a longer text (`prefix`). Requests without a path, such as
 * `OPTIONS *`, are in the class of the empty prefix.
 */
export interface PathClass {
  readonly is: 'exact' | 'prefix'
  readonly text: string
}

const keyOf = ({ is, text }: PathClass): string => `${is} ${text}`

/** The classes that a path condition's value names. The condition holds in them and in all classes inside them. */
function classesOf(compare: PathKeyCondition['compare'], value: string): readonly PathClass[] {
  if (compare !== 'elements') return [{ is: compare, text: value }]
  const element = value.replace(/\/+$/, '')
  return [...(element === '' ? [] : [{ is: 'exact', text: element } as const]), { is: 'prefix', text: `${element}/` }]
}

/**
 * The text by which a class is found. A request is looked up by its path, followed by `/` and an end mark; its class is
 * the one whose text is the longest prefix of that. So `/a/` is also found for `/a`: one text covers a path and
 * everything below it.
 */
export const lookupText = ({ is, text }: PathClass): { readonly text: string; readonly ends: boolean } =>
  is === 'exact' ? { text: `${text}/`, ends: true } : { text, ends: false }

/**
 * Adds `/a` to the prefix `/a/`. Without a class of its own, `/a` would find `/a/`, since a `/` is appended to paths.
 */
const withNeighbour = (path: PathClass): readonly PathClass[] =>
  path.is === 'prefix' && path.text.length > 1 && path.text.endsWith('/')
    ? [path, { is: 'exact', text: path.text.slice(0, -1) }]
    : [path]

const ROOT: PathClass = { is: 'prefix', text: '' }

/**
 * The classes that exist for these routes, prefixes by length and then exact paths, with the routes that can match in
 * each.
 */
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

/** Whether a condition holds for the paths of a class. It has the same outcome for all of them. */
export const pathHolds = ({ compare, values, not }: PathKeyCondition, path: PathClass): boolean =>
  values.some((value) =>
    classesOf(compare, value).some(({ is, text }) =>
      is === 'exact' ? path.is === 'exact' && path.text === text : path.text.startsWith(text),
    ),
  ) !== not
