import { isDeepStrictEqual } from 'node:util'

/** What the selector of a group does now. The lists have names of nodes, or sentences about them. */
export interface NodeSelection {
  /** Nodes that are in the group because it selects them. */
  readonly here: readonly string[]
  /** Nodes that will be in the group once they have left another. */
  readonly coming: readonly string[]
  /** Why nodes that it selects stay where they are. */
  readonly refused: readonly string[]
}

/** What the groups' selectors do, by name of the group: one loop finds out, another writes it to their statuses. */
export class NodeSelections {
  readonly #listeners: ((group: string) => void)[] = []
  #byGroup: ReadonlyMap<string, NodeSelection> = new Map()

  /** Null: it is not known yet, or the group has no selector. */
  of(group: string): NodeSelection | null {
    return this.#byGroup.get(group) ?? null
  }

  set(byGroup: ReadonlyMap<string, NodeSelection>): void {
    const before = this.#byGroup
    this.#byGroup = byGroup
    for (const group of new Set([...before.keys(), ...byGroup.keys()]))
      if (!isDeepStrictEqual(before.get(group), byGroup.get(group)))
        for (const listener of this.#listeners) listener(group)
  }

  onChange(listener: (group: string) => void): void {
    this.#listeners.push(listener)
  }
}
