import { MANAGED_BY, PROJECT, type Refusal, shown } from '@spout/connector'
import type { Service } from '@spout/kube'
import { ANNOTATIONS } from '../names.ts'

const PREFIX = 'spout.dev/'
const KNOWN: readonly string[] = [...Object.values(ANNOTATIONS).flat(), MANAGED_BY, PROJECT].filter((name) =>
  name.startsWith(PREFIX),
)
/** A name that differs in more characters than this is not taken for a typo. */
const MOST_DIFFERENT = 4

/**
 * A notice about the first annotation under our prefix that we do not know, which is most likely a typo; null when
 * there is none.
 */
export function unknownAnnotation({ metadata }: Service): Refusal | null {
  const names = Object.keys(metadata.annotations ?? {}).filter((name) => name.startsWith(PREFIX))
  const unknown = names.sort().find((name) => !KNOWN.includes(name))
  if (unknown === undefined) return null
  const near = nearest(unknown)
  const hint = near === null ? '' : ` Did you mean ${near}?`
  const field = `metadata.annotations[${shown(unknown)}]`
  return { reason: 'UnknownAnnotation', field, message: `${shown(unknown)} is not known and does nothing.${hint}` }
}

function nearest(name: string): string | null {
  const ranked = KNOWN.map((known) => ({ known, distance: distanceOf(name, known) }))
  const [best] = ranked.sort((a, b) => a.distance - b.distance)
  return best !== undefined && best.distance <= MOST_DIFFERENT ? best.known : null
}

const LONGEST = 128

/** Levenshtein distance: characters to add, remove or change to turn one into the other. */
function distanceOf(a: string, b: string): number {
  if (a.length > LONGEST) return Number.POSITIVE_INFINITY
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (character === other ? 0 : 1)))
    row = next
  }
  return row.at(-1) ?? 0
}
