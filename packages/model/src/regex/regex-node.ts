/** A part of a regular expression over bytes. */
export type RegexNode =
  /** One byte out of a set of byte values. */
  | { readonly is: 'byte'; readonly of: ReadonlySet<number> }
  | { readonly is: 'sequence'; readonly parts: readonly RegexNode[] }
  | { readonly is: 'choice'; readonly of: readonly RegexNode[] }
  /** `most` null: any number. */
  | { readonly is: 'repeat'; readonly part: RegexNode; readonly least: number; readonly most: number | null }
  /** The begin or the end of the text. */
  | { readonly is: 'begin' | 'end' }

/** Why a text is no regular expression that can be used here. */
export class RegexError extends Error {}
