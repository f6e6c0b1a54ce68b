/** Why a request, or a part of it, is refused. Data for conditions and events, never an exception. */
export interface Refusal {
  /** CamelCase, for machines. */
  readonly reason: string
  /** For the user of the object: a full sentence. */
  readonly message: string
  /** The field or annotation at fault, such as `spec.loadBalancerIP`. */
  readonly field: string
}

export type OrRefusal<T> = { readonly value: T } | { readonly refusal: Refusal }

export const refuse = (reason: string, field: string, message: string): { readonly refusal: Refusal } => ({
  refusal: { reason, field, message },
})

const SHOWN_CHARACTERS = 64

/** A tenant's text for a message: one line, printable, bounded. */
export function shown(text: string): string {
  const plain = printable(text)
  return plain.length > SHOWN_CHARACTERS ? `${plain.slice(0, SHOWN_CHARACTERS)}...` : plain
}

/** On one line, without what a terminal or a log would take for something else. */
export const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?')

/** A message of the error table without the field in front of it, however often that stands there. */
export const reasonOf = (message: string): string => message.replace(/^(\S+: )?(Field \S+: )+/, '')
