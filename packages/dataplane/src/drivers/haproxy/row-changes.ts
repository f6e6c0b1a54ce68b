import type { Command } from './command.ts'
import type { FrontendRows, ProxyContent } from './content.ts'
import { ROW_MAPS, type RowMap } from './maps.ts'
import { KIND_PREFIXES } from './route-rows.ts'

/**
 * The commands that bring a frontend's rows to what is wanted, so that each request in between is answered by its old
 * row or its new one. What rows lead to is put before them and removed after them. Where a request without its row gets
 * another one, of a shorter path or of a wider class of hosts, its own is put first and removed last.
 */
export function rowChanges(
  have: ProxyContent,
  frontend: number,
  want: FrontendRows | undefined,
): { readonly put: readonly Command[]; readonly remove: readonly Command[] } {
  const present = have.rows.get(frontend)
  const put = ROW_MAPS.flatMap((map) => rowsToPut(frontend, map, present?.get(map), want?.get(map)))
  const remove = ROW_MAPS.toReversed().flatMap((map) =>
    [...(present?.get(map)?.keys() ?? [])]
      .filter((key) => want?.get(map)?.has(key) !== true)
      .sort(byWidth)
      .map((key): Command => ({ do: 'del-map', map, frontend, key })),
  )
  return { put, remove }
}

function rowsToPut(
  frontend: number,
  map: RowMap,
  present: ReadonlyMap<string, string> | undefined,
  want: ReadonlyMap<string, string> | undefined,
): readonly Command[] {
  return [...(want ?? [])]
    .filter(([key, value]) => present?.get(key) !== value)
    .sort(([a], [b]) => byWidth(b, a))
    .map(([key, value]): Command => {
      return { do: present?.has(key) ? 'set-map' : 'add-map', map, frontend, key, value }
    })
}

/** The widest first: all hosts, the shortest names, the shortest paths. */
function byWidth(a: string, b: string): number {
  const [classA, classB] = [a, b].map((key) => key.slice(0, key.indexOf('/')))
  return widthOf(classB) - widthOf(classA) || classA!.length - classB!.length || a.length - b.length
}

const { any, 'any-labels': anyLabels, 'one-label': oneLabel } = KIND_PREFIXES

const widthOf = (name = ''): number =>
  name.startsWith(any) ? 3 : name.startsWith(anyLabels) ? 2 : name.startsWith(oneLabel) ? 1 : 0
