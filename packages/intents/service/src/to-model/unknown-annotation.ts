import { MANAGED_BY, PROJECT, type Refusal, shown } from '@spout/connector'
import type { Service } from '@spout/kube'
import { nearest } from '@spout/model/nearest'
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
  const near = nearest(unknown, KNOWN, MOST_DIFFERENT)
  const hint = near === null ? '' : ` Did you mean ${near}?`
  const field = `metadata.annotations[${shown(unknown)}]`
  return { reason: 'UnknownAnnotation', field, message: `${shown(unknown)} is not known and does nothing.${hint}` }
}
