const ORDER = new Intl.Collator('en', { numeric: true })

/** In the order of their names, `node2` before `node10`: the server tells some lists in no order. */
export const inNameOrder = <T>(all: readonly T[], nameOf: (one: T) => string): readonly T[] =>
  all.toSorted((a, b) => ORDER.compare(nameOf(a), nameOf(b)))
