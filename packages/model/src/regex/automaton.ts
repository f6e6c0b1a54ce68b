import { RegexError, type RegexNode } from './regex-node.ts'

/**
 * A deterministic automaton that decides whether a regular expression matches somewhere in a text, in one pass and in
 * constant time per byte. In state 0 (`DEAD`) no match is possible any more; in state 1 (`MATCHED`) it has matched. A
 * text begins in state 2 (`START`).
 */
export interface Automaton {
  /** The class of each of the 256 bytes: bytes of one class lead to the same states. */
  readonly classes: readonly number[]
  readonly classCount: number
  /** The next state, by state and class: `next[state * classCount + class]`. */
  readonly next: readonly number[]
  /** By state: whether a text that ends here matches. */
  readonly ends: readonly boolean[]
}

/** Limit of states times byte classes. On a node each transition takes two bytes. */
const MOST_TRANSITIONS = 6_000
/** Limit of positions in the expression, with counted repetitions expanded. */
const MOST_POSITIONS = 4_000
/** Limit of positions that are visited to build the automaton: some 10 ms. */
const MOST_STEPS = 300_000

export const [DEAD, MATCHED, START] = [0, 1, 2] as const

/**
 * One position of the expression. If `on` is a set, a byte of that set leads to the next positions. Otherwise they are
 * reached without reading a byte.
 */
interface Position {
  readonly on: ReadonlySet<number> | 'begin' | 'end' | null
  readonly to: number[]
}

const FINAL = 0
const TOO_LARGE = 'needs too large an automaton: count less, or begin with ^'

/** Builds the automaton of an expression. @throws RegexError if it would be too large */
export function compileRegex(node: RegexNode): Automaton {
  const positions: Position[] = [{ on: null, to: [] }]
  const first = addTo(positions, node, FINAL)
  const { classes, samples } = byteClasses(positions)
  const steps = { left: MOST_STEPS }
  const states: (readonly number[])[] = [[], [FINAL], closure(positions, [first], ['begin'], steps)]
  const [next, ends]: [number[], boolean[]] = [[], []]
  // State numbers by positions. `START` is not among them, because only there `^` holds.
  const numbers = new Map<string, number>()
  if (states[START]!.includes(FINAL)) states[START] = [FINAL]
  for (let state = 0; state < states.length; state++) {
    const here = states[state]!
    const passing = state === START ? (['begin', 'end'] as const) : (['end'] as const)
    ends.push(closure(positions, here, passing, steps).includes(FINAL))
    for (const sample of samples)
      next.push(here.includes(FINAL) ? MATCHED : state === DEAD ? DEAD : numberOf(here, sample))
    if (next.length > MOST_TRANSITIONS) throw new RegexError(TOO_LARGE)
  }
  return { classes, classCount: samples.length, next, ends }

  function numberOf(here: readonly number[], byte: number): number {
    const reached = here.flatMap((at) => {
      const { on, to } = positions[at]!
      return on instanceof Set && on.has(byte) ? to : []
    })
    // A match may begin anywhere.
    const all = closure(positions, [...reached, first], [], steps)
    if (all.includes(FINAL)) return MATCHED
    if (all.every((at) => !(positions[at]!.on instanceof Set) && positions[at]!.on !== 'end')) return DEAD
    const key = String(all)
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, states.length)
    return states.push(all) - 1
  }
}

/**
 * Whether the expression matches somewhere in a text of bytes. The nodes' implementation is tested against this one.
 */
export function matchesRegex({ classes, classCount, next, ends }: Automaton, text: string): boolean {
  let state: number = START
  for (let at = 0; at < text.length; at++) {
    state = next[state * classCount + classes[text.charCodeAt(at) & 0xff]!]!
    if (state <= MATCHED) return state === MATCHED
  }
  return ends[state]!
}

/** Adds the positions of a node, after which the expression continues at `to`. @returns the node's first position */
function addTo(positions: Position[], node: RegexNode, to: number): number {
  switch (node.is) {
    case 'byte':
      return put(positions, node.of, [to])
    case 'begin':
    case 'end':
      return put(positions, node.is, [to])
    case 'sequence':
      return node.parts.reduceRight((goesOn, part) => addTo(positions, part, goesOn), to)
    case 'choice':
      return put(
        positions,
        null,
        node.of.map((each) => addTo(positions, each, to)),
      )
    case 'repeat':
      return repeat(positions, node, to)
  }
}

function repeat(positions: Position[], { part, least, most }: RegexNode & { is: 'repeat' }, to: number): number {
  let begin = to
  if (most === null) {
    begin = put(positions, null, [to])
    positions[begin]!.to.push(addTo(positions, part, begin))
  } else
    for (let count = least; count < most; count++) begin = put(positions, null, [to, addTo(positions, part, begin)])
  for (let count = 0; count < least; count++) begin = addTo(positions, part, begin)
  return begin
}

function put(positions: Position[], on: Position['on'], to: number[]): number {
  if (positions.length >= MOST_POSITIONS) throw new RegexError('is too long with its repetitions written out')
  return positions.push({ on, to }) - 1
}

/** The positions that are reached without reading, in order. */
function closure(
  positions: readonly Position[],
  from: readonly number[],
  passing: readonly Position['on'][],
  steps: { left: number },
): readonly number[] {
  const reached = new Set<number>()
  const left = [...from]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (reached.has(at)) continue
    reached.add(at)
    const { on, to } = positions[at]!
    if (on === null || passing.includes(on)) left.push(...to)
  }
  steps.left -= reached.size
  if (steps.left < 0) throw new RegexError(TOO_LARGE)
  // A state need not contain positions that read nothing.
  return [...reached].filter((at) => at === FINAL || positions[at]!.on !== null).sort((a, b) => a - b)
}

/** Groups the bytes that every position treats alike. `samples` has one byte of each class. */
function byteClasses(positions: readonly Position[]): {
  readonly classes: readonly number[]
  readonly samples: readonly number[]
} {
  const sets = [...new Set(positions.map(({ on }) => on).filter((on) => on instanceof Set))]
  const numbers = new Map<string, number>()
  const samples: number[] = []
  const classes = Array.from({ length: 256 }, (_, byte) => {
    const key = sets.map((set) => (set.has(byte) ? 1 : 0)).join('')
    const known = numbers.get(key)
    if (known !== undefined) return known
    samples.push(byte)
    numbers.set(key, samples.length - 1)
    return samples.length - 1
  })
  return { classes, samples }
}
