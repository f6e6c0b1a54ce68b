/** What an object must be for a write to apply. `unknown` is a revision that this store never issued; it matches nothing. */
export type Condition = 'none' | 'absent' | 'unknown' | number

export type Conflict = 'NotFound' | 'AlreadyExists' | 'RevisionConflict'

/**
 * Why the condition of a write does not hold.
 * @param sequence of the stored object; null when there is none
 * @returns null when it holds
 */
export function conflictOf(
  { condition, text }: { readonly condition: Condition; readonly text: string | null },
  sequence: number | null,
): Conflict | null {
  if (condition === 'absent') return sequence === null ? null : 'AlreadyExists'
  if (sequence === null) return text === null || condition !== 'none' ? 'NotFound' : null
  return condition === 'none' || condition === sequence ? null : 'RevisionConflict'
}
