import { PackedRecords } from './packed-records.ts'
import type { SetName } from './sets.ts'

/** Collects packed records of one entry. Leaves out records whose identity exists already. */
export class RecordBuilder {
  readonly #bySet = new Map<SetName, Map<string, Buffer>>()
  readonly #each = new Map<SetName, { records: Buffer; identityBytes: number; size: number }>()
  /** Large groups of records with distinct identities. */
  readonly #large = new Map<SetName, readonly Buffer[]>()

  add(set: SetName, identity: Buffer, rest: Buffer = Buffer.alloc(0)): void {
    this.#spread(set)
    const records = this.#bySet.get(set) ?? new Map<string, Buffer>()
    const key = identity.toString('latin1')
    if (!records.has(key)) records.set(key, Buffer.concat([identity, rest]))
    this.#bySet.set(set, records)
  }

  /**
   * Adds packed records with distinct identities. Leaves out those whose identity exists already.
   * @param identityBytes of each record, followed by `restBytes`
   */
  addEach(set: SetName, records: Buffer, identityBytes: number, restBytes: number): void {
    const size = identityBytes + restBytes
    // In most cases they are the set's only records, so nothing is looked up.
    if (!this.#bySet.has(set) && !this.#each.has(set)) {
      this.#each.set(set, { records, identityBytes, size })
      return
    }
    this.#spread(set)
    for (let at = 0; at < records.length; at += size)
      this.add(set, records.subarray(at, at + identityBytes), records.subarray(at + identityBytes, at + size))
  }

  /** Moves records of `addEach` to those that are known by identity. */
  #spread(set: SetName): void {
    const each = this.#each.get(set)
    if (each === undefined) return
    this.#each.delete(set)
    const { records, identityBytes, size } = each
    for (let at = 0; at < records.length; at += size)
      this.add(set, records.subarray(at, at + identityBytes), records.subarray(at + identityBytes, at + size))
  }

  addLarge(set: SetName, records: Buffer): void {
    this.#large.set(set, [...(this.#large.get(set) ?? []), records])
  }

  packed(): PackedRecords {
    const parts = new Map<SetName, readonly Buffer[]>(this.#large)
    for (const [set, { records }] of this.#each) parts.set(set, [...(parts.get(set) ?? []), records])
    for (const [set, records] of this.#bySet) parts.set(set, [...(parts.get(set) ?? []), ...records.values()])
    return new PackedRecords(parts)
  }
}

export type Family = 4 | 6

/** The set of one family: `service` of family 4 is `service4`. */
export const setOf = <Name extends string>(name: Name, version: Family) => `${name}${version}` as const
