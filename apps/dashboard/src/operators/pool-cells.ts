import type { AddressState, Run } from './pool-runs.ts'

/** A square of a pool's map. */
export interface Cell {
  readonly state: AddressState
  /** The run that most of its addresses belong to, as a position in the list of runs. */
  readonly run: number
  /** How many addresses it stands for. */
  readonly count: bigint
}

/**
 * A pool as a map of squares. Each stands for one address while they fit. Otherwise each stands for several, and those
 * in use decide its colour, so that one taken address in a large free pool is seen.
 * @param most limit of squares
 */
export function poolCells(runs: readonly Run[], most: number): readonly Cell[] {
  const all = runs.reduce((sum, { count }) => sum + count, 0n)
  const each = (all + BigInt(most) - 1n) / BigInt(most)
  const cells: Cell[] = []
  let [run, used] = [0, 0n]
  for (let begin = 0n; begin < all; begin += each) {
    let left = begin + each > all ? all - begin : each
    const count = left
    let best = -1
    while (left > 0n) {
      const { count: size } = runs[run]!
      const part = size - used < left ? size - used : left
      if (best < 0 || weight(runs[run]!.state) > weight(runs[best]!.state)) best = run
      left -= part
      used += part
      if (used === size) [run, used] = [run + 1, 0n]
    }
    cells.push({ state: runs[best]!.state, run: best, count })
  }
  return cells
}

const WEIGHTS: Readonly<Record<AddressState, number>> = { free: 0, excluded: 1, resting: 2, taken: 3 }
const weight = (state: AddressState): number => WEIGHTS[state]

/** Where a key leads in a map of squares; null for other keys. @param columns of the map as it is drawn */
export function cellAfterKey(key: string, at: number, count: number, columns: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    Home: -at,
    End: count - 1 - at,
  }
  const step = steps[key]
  if (step === undefined) return null
  const next = at + step
  return next < 0 || next >= count ? at : next
}
