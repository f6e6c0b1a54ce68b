import { stringify } from 'yaml'
import type { Completion } from './completion.ts'
import { type Nameable, namingField } from './nameable.ts'

/** What a field, or an item of the list in it, may name. Where ids are written, names are shown. */
export function namesFor(field: string, nameable: Nameable): readonly Completion[] {
  const naming = namingField(field)
  if (naming === undefined) return []
  const all = nameable[naming.kind]
  if (naming.by === 'id')
    return all.flatMap(({ id, name, note }) =>
      id === undefined ? [] : [{ label: name || id, insert: id, detail: note, description: id }],
    )
  const seen = new Set([''])
  return all.flatMap(({ name, note }) => {
    // Of several pools of one name the server takes the first.
    if (seen.has(name)) return []
    seen.add(name)
    return [{ label: name, insert: scalarText(name), detail: note, description: '' }]
  })
}

/** A text as it stands behind a key: in quotes where YAML would read something else. */
const scalarText = (text: string): string => stringify(text, { lineWidth: 0, blockQuote: false }).trimEnd()
