import type { ExplainedMember } from '../../api/explanation.ts'

const HEALTHS: readonly ExplainedMember['health'][] = ['down', 'unknown', 'up', 'unmonitored']

/** The members that a text finds, those that are down first, else in their order. @param text any case */
export function shownMembers(members: readonly ExplainedMember[], text: string): readonly ExplainedMember[] {
  const wanted = text.trim().toLowerCase()
  const found = members.filter(
    ({ name, address, port, health }) =>
      name.toLowerCase().includes(wanted) || `${address}:${port}`.includes(wanted) || health === wanted,
  )
  return found.toSorted((a, b) => HEALTHS.indexOf(a.health) - HEALTHS.indexOf(b.health))
}
