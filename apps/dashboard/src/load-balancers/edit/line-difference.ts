export interface DifferenceLine {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** Beyond this the changed middle is shown as a whole: the table of common lines would be too large. */
const MOST_COMPARED = 1500
/** Lines around a change that stay the same. */
const AROUND = 3

/** What differs between two texts, line by line, with some lines around it. Empty: nothing. */
export function lineDifference(before: string, after: string): readonly DifferenceLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  if (start === a.length && start === b.length) return []
  const same = (lines: readonly string[]): readonly DifferenceLine[] => lines.map((text) => ({ sign: ' ', text }))
  const middle = edits(a.slice(start, a.length - end), b.slice(start, b.length - end))
  const tail = a.slice(a.length - end)
  return [...same(a.slice(Math.max(0, start - AROUND), start)), ...middle, ...same(tail.slice(0, AROUND))]
}

function edits(a: readonly string[], b: readonly string[]): readonly DifferenceLine[] {
  const gone = a.map((text) => ({ sign: '-', text }) as const)
  const come = b.map((text) => ({ sign: '+', text }) as const)
  if (a.length > MOST_COMPARED || b.length > MOST_COMPARED) return [...gone, ...come]
  const common = commonLengths(a, b)
  const found: DifferenceLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    if (left !== undefined && left === right) {
      found.push({ sign: ' ', text: left })
      i++
      j++
    } else if (
      right === undefined ||
      (left !== undefined && lengthAt(common, i + 1, j) >= lengthAt(common, i, j + 1))
    ) {
      found.push({ sign: '-', text: left ?? '' })
      i++
    } else {
      found.push({ sign: '+', text: right })
      j++
    }
  }
  return found
}

const lengthAt = (common: readonly Uint16Array[], i: number, j: number): number => common[i]?.[j] ?? 0

/** How many lines the rests of both have in common, from each line on (longest common subsequence). */
function commonLengths(a: readonly string[], b: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--) {
    const row = lengths[i]
    if (row === undefined) continue
    for (let j = b.length - 1; j >= 0; j--)
      row[j] =
        a[i] === b[j]
          ? lengthAt(lengths, i + 1, j + 1) + 1
          : Math.max(lengthAt(lengths, i + 1, j), lengthAt(lengths, i, j + 1))
  }
  return lengths
}
