import { PackedRecords } from './packed-records.ts'
import type { SetName } from './sets.ts'

/** Packed records of one entry while it is rendered. A record whose identity is there already is left out. */
export class RecordBuilder {
  readonly #bySet = new Map<SetName, Map<string, Buffer>>()
  /** Many records at once whose identities are known to differ. */
  readonly #large = new Map<SetName, readonly Buffer[]>()

  add(set: SetName, identity: Buffer, rest: Buffer = Buffer.alloc(0)): void {
    const records = this.#bySet.get(set) ?? new Map<string, Buffer>()
    const key = identity.toString('latin1')
    if (!records.has(key)) records.set(key, Buffer.concat([identity, rest]))
    this.#bySet.set(set, records)
  }

  addLarge(set: SetName, records: Buffer): void {
    this.#large.set(set, [...(this.#large.get(set) ?? []), records])
  }

  packed(): PackedRecords {
    const parts = new Map<SetName, readonly Buffer[]>(this.#large)
    for (const [set, records] of this.#bySet) parts.set(set, [...(parts.get(set) ?? []), ...records.values()])
    return new PackedRecords(parts)
  }
}

export type Family = 4 | 6

/** The set of one family: `service` of family 4 is `service4`. */
export const setOf = <Name extends string>(name: Name, version: Family) => `${name}${version}` as const
