import type { Pieces } from '@spout/runtime'
import { nestedMember } from '../resources/member.ts'
import type { Stamp } from '../wire/wire-type.ts'

/** A list with fewer members is read with the rest. */
const LONG = 64
/** Where the deepest members are: load balancer, listeners, one of them, its policies, one of them, its pool. */
const DEEPEST = 8

/**
 * Reads the members in a body with pauses, of which there may be thousands. The rest of the body is read at once, and
 * takes these as they are. The body may be wrong anywhere: then the fault is found in the order in which the whole is
 * read.
 * @returns the stamp for the whole
 */
export function* readingMembersAhead(body: unknown, stamp: Stamp): Pieces<Stamp> {
  const ahead = new Map<unknown, unknown>()
  const at = { path: 'members', stamp }
  try {
    for (const members of longLists(body, 0))
      for (const member of members) {
        yield
        ahead.set(member, nestedMember.read(member, at))
      }
  } catch {
    // The whole body is read later, which finds the fault again and reports it.
  }
  return { ...stamp, ahead }
}

function* longLists(value: unknown, depth: number): Iterable<readonly unknown[]> {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return
  for (const [name, part] of Object.entries(value)) {
    if (name !== 'members') yield* longLists(part, depth + 1)
    else if (Array.isArray(part) && part.length >= LONG) yield part
  }
}
