import type { SpoutError } from '@spout/model/errors'
import { fieldNames, nodesAt, type SchemaNode, type Step } from './schema-node.ts'
import { withNearest } from './with-nearest.ts'

/**
 * Why a field is wrong, with the name that was likely meant. Null: the server takes it, since requests may say more than
 * what is stored, such as a pool's name instead of its id.
 * @param path of the field: names, and places in lists
 */
export function reasonOf(
  { code, message }: Pick<SpoutError, 'code' | 'message'>,
  path: readonly (string | number)[],
  schema: SchemaNode,
): string | null {
  const around: readonly Step[] = path.slice(0, -1).map((step) => (typeof step === 'number' ? null : step))
  const name = String(path.at(-1) ?? '')
  if (code === 'UnknownField') {
    const names = fieldNames(schema, around)
    if (names.includes(name)) return null
    return withNearest(message, name, names)
  }
  if (code !== 'MissingField') return message
  const objects = nodesAt(schema, around).filter(({ properties }) => properties !== undefined)
  const isNeeded = objects.length === 0 || objects.some(({ required }) => required?.includes(name) === true)
  return isNeeded ? message : null
}
