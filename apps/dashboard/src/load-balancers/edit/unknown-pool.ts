import { SpoutError } from '@spout/model/errors'
import { namingField } from '../completion/nameable.ts'
import { withNearest } from '../completion/with-nearest.ts'
import { type DocumentPool, poolsOf } from './document-pools.ts'

export interface FieldFault {
  /** A path such as `listeners[0].defaultPool`. */
  readonly field: string
  readonly reason: string
}

/**
 * The first field of a listener that names a pool which is not in the document; null: all are. The server refuses such
 * a field.
 * @param stored the pools of the version that was read: a pool without an id is the stored one of its name
 */
export function unknownPool(document: object, stored: readonly DocumentPool[]): FieldFault | null {
  const { listeners } = document as { readonly listeners?: unknown }
  const known = knownPools(poolsOf(document), stored)
  const found = firstNaming(listeners, ({ by, value }) => !known[by].has(value))
  if (found === null) return null
  const field = `listeners${found.path}`
  const { message } = new SpoutError('ReferenceNotFound', { field, what: 'Pool', id: found.value })
  return { field, reason: withNearest(message, found.value, [...known[found.by]].filter(Boolean)) }
}

interface KnownPools {
  readonly id: ReadonlySet<string>
  readonly name: ReadonlySet<string>
}

function knownPools(pools: readonly DocumentPool[], stored: readonly DocumentPool[]): KnownPools {
  const storedIds = new Map(stored.toReversed().map(({ name, id }) => [name, id]))
  const idOf = ({ id, name }: DocumentPool) => id ?? (name === '' ? undefined : storedIds.get(name))
  return {
    id: new Set(pools.map(idOf).filter((id) => id !== undefined)),
    name: new Set(pools.map(({ name }) => name)),
  }
}

interface NamedPool {
  readonly by: keyof KnownPools
  readonly value: string
}

/** The first naming of a pool in a part of a document of which this is true, with its path in the part. */
function firstNaming(
  part: unknown,
  isWanted: (naming: NamedPool) => boolean,
): (NamedPool & { readonly path: string }) | null {
  if (typeof part !== 'object' || part === null) return null
  for (const [key, value] of Object.entries(part)) {
    const step = Array.isArray(part) ? `[${key}]` : `.${key}`
    const naming = namingField(key)
    if (typeof value === 'string') {
      if (naming?.kind === 'pool' && isWanted({ by: naming.by, value })) return { by: naming.by, value, path: step }
      continue
    }
    const found = firstNaming(value, isWanted)
    if (found !== null) return { ...found, path: `${step}${found.path}` }
  }
  return null
}
