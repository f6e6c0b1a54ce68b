/** How long work runs between two pauses. */
const SLICE_MS = 0.5

/** Work that can pause at each `yield`. */
export type Pieces<T> = Generator<undefined, T>

/**
 * Does long work in slices, with a turn before each but the first. It must not rely on anything that others change
 * meanwhile.
 * @param turn resolves when the next slice may be done
 * @param nowMs measures slices
 */
export async function inPieces<T>(
  work: Pieces<T>,
  turn: () => Promise<void>,
  nowMs: () => number = () => performance.now(),
): Promise<T> {
  for (;;) {
    const untilMs = nowMs() + SLICE_MS
    do {
      const step = work.next()
      if (step.done === true) return step.value
    } while (nowMs() < untilMs)
    await turn()
  }
}

/** Does the same work without a pause. */
export function atOnce<T>(work: Pieces<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Does work in pieces if there are turns for it, else at once. */
export const inTurns = async <T>(work: Pieces<T>, turn: (() => Promise<void>) | null): Promise<T> =>
  turn === null ? atOnce(work) : inPieces(work, turn)

/** Work in pieces, also for a result that is there already. */
export function* piecesOf<T extends object>(made: T | Pieces<T>): Pieces<T> {
  return isPieces(made) ? yield* made : made
}

const isPieces = <T extends object>(made: T | Pieces<T>): made is Pieces<T> =>
  'next' in made && typeof made.next === 'function'
