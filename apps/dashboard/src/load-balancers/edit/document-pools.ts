/** A pool of a document. */
export interface DocumentPool {
  /** Undefined: it is new, or the one that is stored with its name. */
  readonly id: string | undefined
  readonly name: string
  readonly protocol: string
}

/** The pools of a document, which may be wrong in any way. */
export function poolsOf(document: object): readonly DocumentPool[] {
  const { pools } = document as { readonly pools?: unknown }
  if (!Array.isArray(pools)) return []
  return pools.flatMap((pool: unknown) => {
    if (typeof pool !== 'object' || pool === null) return []
    const { id, name, protocol } = pool as Readonly<Record<string, unknown>>
    return [{ id: typeof id === 'string' ? id : undefined, name: textOf(name), protocol: textOf(protocol) }]
  })
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
