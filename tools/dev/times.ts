/** How long a test file took, in ms. */
export interface FileTimes {
  /** Relative to the repository's root. */
  readonly file: string
  readonly importMs: number
  /** Set-up and tear-down: `beforeAll`, `afterEach`, … */
  readonly hooksMs: number
  readonly tests: readonly { readonly name: string; readonly ms: number }[]
}

/** A run of one of vitest's projects. */
export interface ProjectTimes {
  readonly project: string
  readonly wallMs: number
  /** Of all processors of the machine together, whatever ran on them. */
  readonly busyMs: number
  readonly processors: number
  readonly files: readonly FileTimes[]
}

const SHOWN = 20

/**
 * Where the time of a test run went, as lines: the projects in their order, then the slowest files and the slowest tests.
 * Files run beside each other, so theirs add up to more than the wall time of a project.
 */
export function timesReport(projects: readonly ProjectTimes[]): readonly string[] {
  const files = projects.flatMap(({ project, files }) => files.map((file) => ({ project, ...sumsOf(file), ...file })))
  const tests = projects.flatMap(({ project, files }) =>
    files.flatMap(({ file, tests }) => tests.map(({ name, ms }) => ({ project, file, name, ms }))),
  )
  const all = sum(files.map(({ totalMs }) => totalMs))
  return [
    'project               wall s   busy s   busy    files s = imports + hooks + tests',
    ...projects.map(({ project, wallMs, busyMs, processors, files }) => {
      const parts = files.map(sumsOf)
      const of = (part: keyof FileSums) => seconds(sum(parts.map((one) => one[part])))
      const busy = `${seconds(busyMs)}  ${percent(busyMs / (wallMs * processors))}`
      return `${project.padEnd(19)} ${seconds(wallMs)} ${busy}   ${of('totalMs')} ${of('importMs')} ${of('hooksMs')} ${of('testsMs')}`
    }),
    '',
    `slowest files     files s   share  imports    hooks    tests`,
    ...slowest(files, ({ totalMs }) => totalMs).map(
      ({ project, file, totalMs, importMs, hooksMs, testsMs }) =>
        `${project.padEnd(16)} ${seconds(totalMs)}  ${percent(totalMs / all)} ${seconds(importMs)} ${seconds(hooksMs)} ${seconds(testsMs)}  ${file}`,
    ),
    '',
    'slowest tests           s',
    ...slowest(tests, ({ ms }) => ms).map(
      ({ project, file, name, ms }) => `${project.padEnd(16)} ${seconds(ms)}  ${file} > ${name}`,
    ),
  ]
}

interface FileSums {
  readonly importMs: number
  readonly hooksMs: number
  readonly testsMs: number
  readonly totalMs: number
}

function sumsOf({ importMs, hooksMs, tests }: FileTimes): FileSums {
  const testsMs = sum(tests.map(({ ms }) => ms))
  return { importMs, hooksMs, testsMs, totalMs: importMs + hooksMs + testsMs }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
const slowest = <T>(all: readonly T[], msOf: (one: T) => number): readonly T[] =>
  all.toSorted((a, b) => msOf(b) - msOf(a)).slice(0, SHOWN)
const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(8)
const percent = (part: number): string => `${Math.round((Number.isFinite(part) ? part : 0) * 100)} %`.padStart(5)
