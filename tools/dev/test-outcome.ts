import { readFileSync } from 'node:fs'
import path from 'node:path'

/** A failed test and its message. `name` is null for a file that did not load, and for an error outside any test. */
export interface Failure {
  readonly name: string | null
  readonly message: string
}

/** The result of one test file. */
export interface FileOutcome {
  readonly project: string
  /** Relative to the repository's root. */
  readonly file: string
  readonly passed: number
  readonly skipped: number
  readonly failures: readonly Failure[]
}

/** The fields that are read of the report of vitest's `json` reporter (https://vitest.dev/guide/reporters). */
interface VitestReport {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message?: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName: string
      readonly failureMessages?: readonly string[]
    }[]
  }[]
}

/**
 * The result of each file in vitest's report.
 * @param exitCode that of vitest: not 0 also for an error outside of all tests, which fails the run, too
 */
export function outcomesOf(
  reportFile: string,
  project: string,
  root: string,
  exitCode: number,
): readonly FileOutcome[] {
  const outcomes = readReport(reportFile).testResults.map((result): FileOutcome => {
    const failed = result.assertionResults.filter(({ status }) => status === 'failed')
    const failures = failed.map(({ fullName, failureMessages }) => ({
      name: fullName,
      message: failureMessages?.join('\n') ?? '',
    }))
    const passed = result.assertionResults.filter(({ status }) => status === 'passed').length
    const silent = result.status === 'failed' && failed.length === 0
    return {
      project,
      file: path.relative(root, result.name),
      passed,
      skipped: result.assertionResults.length - failed.length - passed,
      failures: silent ? [{ name: null, message: result.message ?? '' }] : failures,
    }
  })
  if (exitCode === 0 || outcomes.some(({ failures }) => failures.length > 0)) return outcomes
  return [...outcomes, nowhere(project, `vitest ended with ${exitCode}`)]
}

/** A failure that belongs to no file. */
export const nowhere = (project: string, message: string): FileOutcome => ({
  project,
  file: '',
  passed: 0,
  skipped: 0,
  failures: [{ name: null, message }],
})

/** A run in which no test ran has failed: the filter is wrong, or a test file is not where vitest looks for it. */
export function nothingMatched(outcomes: readonly FileOutcome[], filters: readonly string[]): readonly FileOutcome[] {
  if (outcomes.some(({ passed, failures }) => passed > 0 || failures.length > 0)) return []
  const asked = filters.map((filter) => JSON.stringify(filter)).join(' ')
  const message = asked === '' ? 'there is no test of these kinds' : `no test of these kinds matches ${asked}`
  return [nowhere('no test ran', message)]
}

/** A check that is not a test file, and passed. */
export const passedOnce = (project: string, file: string): FileOutcome => ({
  project,
  file,
  passed: 1,
  skipped: 0,
  failures: [],
})

function readReport(file: string): VitestReport {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as VitestReport
  } catch {
    return { testResults: [] }
  }
}

export const hasFailed = ({ failures }: FileOutcome): boolean => failures.length > 0

/**
 * The failures for people: the file, the test, and the beginning of its message.
 * @param logs where logs of a file's labs are
 */
export function failureLines(
  outcomes: readonly FileOutcome[],
  logs: (file: string) => readonly string[] = () => [],
): readonly string[] {
  return outcomes.flatMap(({ project, file, failures }) => [
    ...failures.flatMap(({ name, message }) => [
      `${project}: ${file}${name === null ? '' : ` > ${name}`}`,
      ...linesOf(message).map((line) => `    ${line}`),
    ]),
    ...logs(file).map((directory) => `    logs of its labs: ${directory}`),
  ])
}

/** Without the frames of the test runner. */
const linesOf = (message: string): readonly string[] =>
  message
    .split('\n')
    .filter((line) => !line.includes('/node_modules/') && !line.includes('at new Promise'))
    .slice(0, 8)
    .map((line) => line.slice(0, 300))
