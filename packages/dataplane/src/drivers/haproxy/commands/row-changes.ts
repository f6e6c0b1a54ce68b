import { type PlacedRows, type ProxyContent, rowsByMap, rowsIn } from '../rendering/content.ts'
import { KIND_PREFIXES } from '../routes/route-rows.ts'
import { ROW_MAPS, type RowMap } from '../sections/maps.ts'
import type { Command } from './command.ts'

/**
 * The commands that change a frontend's rows to the wanted ones. Meanwhile each request meets its old row or its new
 * one: targets of rows are added before the rows and removed after them, and a row that hides another one (of a shorter
 * path, or of a wider class of hosts) is added first and removed last.
 * @param settled the rows that the frontend is known to have: groups that both sides share are skipped; absent: unknown
 */
export function rowChanges(
  have: ProxyContent,
  frontend: number,
  want: PlacedRows | undefined,
  settled?: PlacedRows,
): { readonly put: readonly Command[]; readonly remove: readonly Command[] } {
  const base = want !== undefined && settled !== undefined && agree(settled.names, want.names) ? settled : undefined
  const present = have.rows.get(frontend)
  const wanted = rowsByMap(want === undefined ? [] : rowsIn(want, base))
  const held = base === undefined ? present : rowsByMap(rowsIn(base, want))
  const put = ROW_MAPS.flatMap((map) => rowsToPut(frontend, map, present?.get(map), wanted.get(map)))
  const remove = ROW_MAPS.toReversed().flatMap((map) =>
    [...(held?.get(map)?.keys() ?? [])]
      .filter((key) => wanted.get(map)?.has(key) !== true)
      .sort(byWidth)
      .map((key): Command => ({ do: 'del-map', map, frontend, key })),
  )
  return { put, remove }
}

/** Whether no backend has another name. */
function agree(before: PlacedRows['names'], now: PlacedRows['names']): boolean {
  for (const [owner, name] of now) if ((before.get(owner) ?? name) !== name) return false
  return true
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
