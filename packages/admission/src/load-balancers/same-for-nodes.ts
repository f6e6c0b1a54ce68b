import { FOR_PEOPLE } from '@spout/model'

/**
 * Whether two parts of documents are the same to nodes. In parts that have an `id`, fields of `FOR_PEOPLE` are ignored;
 * elsewhere such a field is data, as the name of a header is. A changed document shares unchanged parts with the
 * previous one. These are skipped, so the cost depends on the size of the change.
 */
export function sameForNodes(before: unknown, after: unknown): boolean {
  if (before === after) return true
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return false
  if (Array.isArray(before) || Array.isArray(after)) return sameItems(before, after)
  return sameFields(before as Fields, after as Fields)
}

type Fields = Readonly<Record<string, unknown>>

const sameItems = (before: unknown, after: unknown): boolean =>
  Array.isArray(before) &&
  Array.isArray(after) &&
  before.length === after.length &&
  before.every((item, index) => sameForNodes(item, after[index]))

function sameFields(before: Fields, after: Fields): boolean {
  const counts = (name: string): boolean => before['id'] === undefined || !FOR_PEOPLE.has(name)
  for (const name in before) if (counts(name) && !sameForNodes(before[name], after[name])) return false
  for (const name in after) if (before[name] === undefined && after[name] !== undefined && counts(name)) return false
  return true
}
