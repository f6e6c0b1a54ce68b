/** Why a request, or a part of it, is refused: data for conditions and events. It is not thrown. */
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

/** A tenant's text for use in a message: printable ASCII on one line, shortened to 64 characters. */
export function shown(text: string): string {
  const plain = printable(text)
  return plain.length > SHOWN_CHARACTERS ? `${plain.slice(0, SHOWN_CHARACTERS)}...` : plain
}

/**
 * The text with `?` for all but printable ASCII: no line ends, and nothing that a terminal or a log would interpret.
 */
export const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?')

/** A message of the error table without the names of fields at its beginning. */
export const reasonOf = (message: string): string => message.replace(/^(\S+: )?(Field \S+: )+/, '')
