import { isDeepStrictEqual } from 'node:util'
import { type Objection, objection } from '../fields/objection.ts'
import type { FilterInput } from './filters.ts'

/** One backend reference of a rule, resolved. */
interface Backed {
  /** Null when it does not resolve. */
  readonly pool: string | null
  readonly weight: number
}

interface PoolShareInput {
  readonly pool: string
  readonly weight: number
  readonly filters?: FilterInput[]
}

/**
 * The pools that share a rule's requests, and the total weight of references that do not resolve. A pool that several
 * references name has the sum of their weights.
 * @param filters the filters of each reference, in the same order
 */
export function sharesOf(
  backends: readonly Backed[],
  filters: readonly (readonly FilterInput[])[],
): { readonly pools: readonly PoolShareInput[]; readonly unresolved: number } | { readonly invalid: Objection } {
  const pools = new Map<string, PoolShareInput>()
  let unresolved = 0
  for (const [at, { pool, weight }] of backends.entries()) {
    if (weight === 0) continue
    if (pool === null) {
      unresolved += weight
      continue
    }
    const own = filters[at] ?? []
    const known = pools.get(pool)
    if (known !== undefined && !isDeepStrictEqual(known.filters ?? [], own))
      return {
        invalid: objection(
          'UnsupportedValue',
          'backendRefs: two references to one port of a Service have different filters.',
        ),
      }
    const share = { pool, weight: (known?.weight ?? 0) + weight }
    pools.set(pool, own.length === 0 ? share : { ...share, filters: [...own] })
  }
  return { pools: [...pools.values()], unresolved }
}
