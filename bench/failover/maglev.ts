import { createHash } from 'node:crypto'

/** Envoy's table size, a prime. */
export const MAGLEV_SIZE = 65_537

/** A Maglev table (Eisenbud et al., NSDI 2016, section 3.4): member names by slot, computed anew from the members. */
export function maglevTable(members: readonly string[], size = MAGLEV_SIZE): readonly string[] {
  const walks = members.map((member) => {
    const hash = createHash('sha256').update(member).digest()
    return { member, at: hash.readUInt32BE(0) % size, skip: (hash.readUInt32BE(4) % (size - 1)) + 1 }
  })
  const table = new Array<string>(size).fill('')
  for (let filled = 0; filled < size; )
    for (const walk of walks) {
      while (table[walk.at] !== '') walk.at = (walk.at + walk.skip) % size
      table[walk.at] = walk.member
      if (++filled === size) break
    }
  return table
}
