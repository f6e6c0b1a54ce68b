/** The most items that may have come, gone or been replaced at one place. */
const TOGETHER = 16

/** The numbers of items that went and came at one place. */
interface Step {
  readonly gone: number
  readonly come: number
}

/**
 * Finds how many items went and came at a place where two lists differ, before both continue alike or end.
 * @param left how many items each list has from there on
 * @param isSame whether the item that many places after there in the earlier list is the one that many places after there
 * in the later list. It is called only with places that the lists have
 * @returns null if more than 16 items went or came
 */
export function stepBetween(
  left: { readonly before: number; readonly after: number },
  isSame: (gone: number, come: number) => boolean,
): Step | null {
  const goesOn = (gone: number, come: number): boolean => {
    const [isOver, isOverAfter] = [gone >= left.before, come >= left.after]
    return isOver || isOverAfter ? isOver && isOverAfter : isSame(gone, come)
  }
  for (let count = 1; count <= TOGETHER; count++) {
    if (goesOn(0, count)) return { gone: 0, come: Math.min(count, left.after) }
    if (goesOn(count, 0)) return { gone: Math.min(count, left.before), come: 0 }
    if (goesOn(count, count)) return { gone: Math.min(count, left.before), come: Math.min(count, left.after) }
  }
  return null
}
