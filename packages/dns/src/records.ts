/** The records that dynamic updates consist of: prerequisites (RFC 2136 section 2.4) and changes (section 2.5). */
import { CLASSES, type DnsRecord, TYPES, type TypeName } from './message.ts'
import { dataOfAddress, dataOfText } from './record-data.ts'

const NOTHING = Buffer.alloc(0)

/** @param ttl in seconds @throws AddressSyntaxError */
export function addressRecord(name: string, address: string, ttl: number): DnsRecord {
  const { type, data } = dataOfAddress(address)
  return { name, type: TYPES[type], class: CLASSES.IN, ttl, data }
}

/** @param ttl in seconds */
export const textRecord = (name: string, text: string, ttl: number): DnsRecord => ({
  ...{ name, type: TYPES.TXT, class: CLASSES.IN, ttl, data: dataOfText(text) },
})

/** Prerequisite: the name has no records of this type. */
export const absent = (name: string, type: TypeName): DnsRecord => ({
  ...{ name, type: TYPES[type], class: CLASSES.NONE, ttl: 0, data: NOTHING },
})

/** Prerequisite: the name has exactly the records of this type that are given so. */
export const same = (record: DnsRecord): DnsRecord => ({ ...record, class: CLASSES.IN, ttl: 0 })

/** Change: all records of this name and type are removed. */
export const removal = (name: string, type: TypeName): DnsRecord => ({
  ...{ name, type: TYPES[type], class: CLASSES.ANY, ttl: 0, data: NOTHING },
})

/** Change: this one record is removed. */
export const removalOf = (record: DnsRecord): DnsRecord => ({ ...record, class: CLASSES.NONE, ttl: 0 })
