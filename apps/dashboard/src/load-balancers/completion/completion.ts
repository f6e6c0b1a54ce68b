/** Something that may be typed at a place. */
export interface Completion {
  /** The field, the value, or the name of what the value is the id of. */
  readonly label: string
  /** What replaces the typed word. */
  readonly insert: string
  /** What a value may be, or what tells it from others. */
  readonly detail: string
  /** What it is for; empty where nothing is written about it. */
  readonly description: string
}
