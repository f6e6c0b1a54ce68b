/** A part of a regular expression over bytes. */
export type RegexNode =
  /** One byte out of a set of byte values. */
  | { readonly is: 'byte'; readonly of: ReadonlySet<number> }
  | { readonly is: 'sequence'; readonly parts: readonly RegexNode[] }
  | { readonly is: 'choice'; readonly of: readonly RegexNode[] }
  /** `most` null: unlimited. */
  | { readonly is: 'repeat'; readonly part: RegexNode; readonly least: number; readonly most: number | null }
  /** The beginning or the end of the text. */
  | { readonly is: 'begin' | 'end' }

/** The message says why a text is not a usable regular expression. */
export class RegexError extends Error {}
