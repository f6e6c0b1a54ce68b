import { type Finding, type Level, sorted } from './finding.ts'

/** What a check may find, as the reference describes it. Capital letters in `fix` stand for what differs. */
export interface Described {
  readonly level: Exclude<Level, 'ok'>
  readonly what: string
  readonly why: string
  readonly fix: string
}
export type Catalogue = Readonly<Record<string, Described>>

/** One finding of a check whose catalogue has these codes; level and reason are the catalogue's. */
export interface Found<Code> {
  readonly code: Code
  readonly subject: string | null
  readonly message: string
  /** A command that can be typed as it is, or what somebody has to do elsewhere. */
  readonly fix: string
}

/** A check of a place, such as a node. */
export interface Check<Place> {
  readonly name: string
  readonly catalogue: Catalogue
  /** Never rejects: what cannot be read is a finding. */
  readonly run: (place: Place) => Promise<readonly Finding[]>
}

export interface CheckParts<Place, Reading, C extends Catalogue> {
  readonly name: string
  readonly catalogue: C
  readonly read: (place: Place) => Promise<Reading>
  /** Pure. */
  readonly judge: (reading: Reading) => readonly Found<keyof C & string>[]
  /** What is said when nothing is found. */
  readonly right: (reading: Reading) => string
  /** What to do when it cannot be looked at; left out: that of a machine. */
  readonly whenUnreadable?: (error: unknown) => string
}

/** A check of real readings of a place, and a pure function that judges them. */
export function checkOf<Place, Reading, C extends Catalogue>(parts: CheckParts<Place, Reading, C>): Check<Place> {
  const { name, catalogue, read, judge, right, whenUnreadable = () => 'run it as root, where that is' } = parts
  const run = async (place: Place): Promise<readonly Finding[]> => {
    let reading: Reading
    try {
      reading = await read(place)
    } catch (error) {
      const message = `It could not be looked at: ${error instanceof Error ? error.message : String(error)}`
      return [{ level: 'warning', check: name, subject: null, message, fix: whenUnreadable(error) }]
    }
    const found = judge(reading)
    if (found.length === 0) return [{ level: 'ok', check: name, subject: null, message: right(reading), fix: null }]
    return found.map((finding) => {
      const { level, why } = catalogue[finding.code] as Described
      return { level, check: name, ...finding, why }
    })
  }
  return { name, catalogue, run }
}

/** Everything that is found, what is worst first. The checks run side by side. */
export async function findingsOfAll<Place>(checks: readonly Check<Place>[], place: Place): Promise<readonly Finding[]> {
  const found = await Promise.all(checks.map(({ run }) => run(place)))
  return sorted(found.flat())
}
