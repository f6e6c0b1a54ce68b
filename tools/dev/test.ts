import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { cpus } from 'node:os'
import path from 'node:path'
import {
  ensureCloudProviderOpenstack,
  ensureGatewayConformance,
  ensureHelm,
  ensureKubernetes,
  ensureMetallb,
  FIGURES_VARIABLE,
  faultTable,
  Lab,
  readFaults,
  runInteractive,
} from '@spout/testkit'
import { changedFiles, testsOf } from './changed.ts'
import { checkLines, runAtOnce, STATIC_CHECKS } from './checks.ts'
import { endWhatHoldsOpen } from './held-open.ts'
import { logsOf } from './kept-logs.ts'
import { leftovers, standing } from './leftovers.ts'
import { droppedOfBacklogs } from './packet-backlog.ts'
import {
  type FileOutcome,
  failureLines,
  hasFailed,
  nothingMatched,
  nowhere,
  outcomesOf,
  passedOnce,
} from './test-outcome.ts'
import { type ProjectTimes, timesReport } from './times.ts'
import { ROOT, UsageError, type Verb } from './verb.ts'

const KINDS = ['unit', 'contract', 'lab', 'e2e'] as const
/** Those of the web page are e2e tests, which people ask for alone. */
const UI = 'ui'
const FILES_OF_UI = 'e2e/ui/'
/** The projects of vitest in their order. */
const PROJECTS_OF: Readonly<Record<(typeof KINDS)[number] | typeof UI, readonly string[]>> = {
  unit: ['unit'],
  contract: ['contract', 'contract-on-cluster'],
  lab: ['lab', 'lab-on-cluster'],
  e2e: ['beside', 'beside-cluster', 'e2e'],
  ui: ['beside'],
}
/** Projects whose tests start clusters, or measure. They run last, when nothing is built beside them any more. */
const ON_KUBERNETES: readonly string[] = ['contract-on-cluster', 'lab-on-cluster', 'beside-cluster', 'e2e']

/**
 * If no more files than this fail, each runs once more, alone on the machine. A file that passes then failed because of
 * the tests beside it, or by chance. It still counts as failed: a fault that only load shows is a fault.
 */
const MOST_FILES_AGAIN = 5

/** `./dev test [unit|contract|lab|e2e|ui]` */
export const test: Verb = {
  name: 'test',
  usage: '[changed] [unit|contract|lab|e2e|ui] [FILTER…] [--times]',
  summary: 'runs the tests, all of them or one kind; the last line counts what ran',
  details:
    'Before the last line come a table of the faults that were tried (what happened, and the figure) and the failures. Up ' +
    'to five files that failed run again, each alone, which shows whether only load makes them fail; they still count as ' +
    'failed. The first run builds Kubernetes from its Go modules, beside the tests that do not need it (about 8 minutes on ' +
    'two cores). --times shows where the time went: by kind (and how busy the processors were), by file (imports, hooks, ' +
    'tests), and the slowest tests. ./dev test changed runs the test files that changes since the main branch can break, ' +
    'committed or not. ./dev test ui runs those of the web page, in a real browser.',
  async run(given) {
    const times = given.includes('--times') ? new Map<string, ProjectTimes>() : null
    const changedOnly = given[0] === 'changed'
    const args = given.slice(changedOnly ? 1 : 0).filter((arg) => arg !== '--times')
    const chosen = [...KINDS, UI].filter((kind): kind is keyof typeof PROJECTS_OF => kind === args[0])
    const named = chosen.length > 0 ? args.slice(1) : args
    const asked = chosen.includes(UI) && named.length === 0 ? [FILES_OF_UI] : named
    if (chosen.length === 0 && args[0] && !args[0].includes('/') && !args[0].startsWith('-'))
      throw new UsageError(`there is no kind ${JSON.stringify(args[0])}: ${[...KINDS, UI].join(', ')}, changed`)
    if (changedOnly && asked.length > 0)
      throw new UsageError('changed chooses the files, so it cannot be combined with a filter')
    const filters = changedOnly ? await testsOfChanges() : asked
    if (changedOnly && filters.length === 0) return 0
    await Lab.sweep()
    const before = standing()
    const runId = randomUUID()
    const wanted = (chosen.length > 0 ? chosen : KINDS).flatMap((kind) => PROJECTS_OF[kind])
    const projects = wanted.toSorted((a, b) => Number(needsKubernetes(a)) - Number(needsKubernetes(b)))
    // It is built while tests run that do not need it. With a filter, tests that need a cluster build it themselves.
    const buildsFirst = filters.length === 0 && projects.some(needsKubernetes)
    const helm = buildsFirst ? buildHelm() : null
    const kubernetes = buildsFirst ? buildKubernetes() : null
    const checks = given.every((arg) => arg === '--times') ? await runChecks() : []
    const first: FileOutcome[] = []
    const droppedBefore = droppedOfBacklogs()
    for (const project of projects) {
      if (needsKubernetes(project)) await kubernetes
      first.push(...(await runProject(project, filters, runId, times)))
    }
    await helm
    const passedAlone = await runAgain(first.filter(hasFailed), runId)
    const dropped = droppedOfBacklogs() - droppedBefore
    if (dropped > 0) say(`\n${dropped} packets were dropped since the processors' queues were full`)
    const left = await leftovers(before, runId)
    // A kind without a test that the changes can break is in order.
    const unmatched = changedOnly ? [] : nothingMatched(first, filters)
    const outcomes = [...checks, ...first, ...unmatched, ...left.map((line) => nowhere('left behind', line))]
    printFaults(runId)
    if (times !== null) process.stdout.write(`\n== times\n${text(timesReport([...times.values()]))}`)
    printFailures(outcomes.filter(hasFailed), passedAlone, runId)
    const sum = (count: (outcome: FileOutcome) => number) => outcomes.reduce((total, one) => total + count(one), 0)
    // That nothing was left behind counts as a test.
    const passed = sum((one) => one.passed) + (left.length === 0 ? 1 : 0)
    const failed = sum((one) => one.failures.length)
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${sum((one) => one.skipped)} skipped\n`)
    return failed === 0 ? 0 : 1
  },
}

async function testsOfChanges(): Promise<readonly string[]> {
  const changed = await changedFiles()
  const tests = testsOf(changed)
  process.stdout.write(`${changed.length} files changed since the main branch; ${tests.length} test files can break\n`)
  return tests
}

/** Runs the checks of `./dev check` that are not tests, because CI runs only this. Each counts as a test. */
async function runChecks(): Promise<readonly FileOutcome[]> {
  process.stdout.write('\n== check\n')
  const results = await runAtOnce(STATIC_CHECKS)
  for (const result of results) process.stdout.write(checkLines(result))
  return results.map(({ ok, name, output }) => (ok ? passedOnce('check', name) : nowhere(`check: ${name}`, output)))
}

/** Runs each file alone. @returns the files that pass alone */
async function runAgain(failed: readonly FileOutcome[], runId: string): Promise<ReadonlySet<string>> {
  if (failed.length > MOST_FILES_AGAIN || failed.some(({ file }) => file === '')) return new Set()
  const passed = new Set<string>()
  for (const { project, file } of failed)
    if (!(await runProject(project, [file], runId)).some(hasFailed)) passed.add(file)
  return passed
}

function printFailures(failed: readonly FileOutcome[], passedAlone: ReadonlySet<string>, runId: string): void {
  const logs = (file: string) => logsOf(ROOT, file, runId)
  const parts = Object.groupBy(failed, ({ file }) => (passedAlone.has(file) ? 'failed, but not alone' : 'failed'))
  for (const [title, outcomes = []] of Object.entries(parts))
    process.stdout.write(`\n== ${title}\n${text(failureLines(outcomes, logs))}`)
}
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

const say = (line: string) => void process.stdout.write(`${line}\n`)
const needsKubernetes = (project: string): boolean => ON_KUBERNETES.includes(project)

/** Only the chart's tests need it, and wait for it. Does not throw: when it fails, they build it again and fail. */
const buildHelm = (): Promise<void> =>
  ensureHelm({ say }).then(
    () => {},
    (error: unknown) => say(`Helm could not be built: ${String(error)}`),
  )

/** Does not throw: when it fails, the tests that need a cluster fail. */
async function buildKubernetes(): Promise<void> {
  try {
    await ensureKubernetes({ say })
    await ensureCloudProviderOpenstack({ say })
    await ensureGatewayConformance({ say })
    await ensureMetallb({ say })
  } catch (error) {
    say(`Kubernetes could not be built: ${String(error)}`)
  }
}

/** The directory into which tests of a run write the figures of faults. */
const figuresOf = (runId: string): string => path.join(ROOT, 'build', 'test', `figures-${runId}`)

function printFaults(runId: string): void {
  const directory = figuresOf(runId)
  const table = faultTable(readFaults(directory))
  rmSync(directory, { recursive: true, force: true })
  if (table !== '') process.stdout.write(`\n== faults\n${table}`)
}

async function runProject(
  project: string,
  filters: readonly string[],
  runId: string,
  times: Map<string, ProjectTimes> | null = null,
): Promise<readonly FileOutcome[]> {
  const directory = path.join(ROOT, 'build', 'test')
  mkdirSync(directory, { recursive: true })
  const file = path.join(directory, `${project}-${runId}.json`)
  rmSync(file, { force: true })
  process.stdout.write(`\n== ${project}${filters.length > 0 ? ` ${filters.join(' ')}` : ''}\n`)
  const argv = [
    'vitest',
    'run',
    '--root',
    ROOT,
    '--project',
    project,
    '--passWithNoTests',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
    ...(times === null ? [] : [`--reporter=${path.join(import.meta.dirname, 'times-reporter.ts')}`]),
    ...filters,
  ]
  const timesFile = path.join(directory, `times-${runId}.json`)
  const [started, busyBefore] = [performance.now(), busyMs()]
  const ended = runInteractive(argv, {
    SPOUT_TEST_RUN: runId,
    SPOUT_TEST_TIMES: timesFile,
    [FIGURES_VARIABLE]: figuresOf(runId),
  })
  const killed = await endWhatHoldsOpen({ reportFile: file, runId }, ended)
  const code = await ended
  if (times !== null && existsSync(timesFile)) {
    const files = JSON.parse(readFileSync(timesFile, 'utf8')) as ProjectTimes['files']
    const took = { wallMs: performance.now() - started, busyMs: busyMs() - busyBefore, processors: cpus().length }
    times.set(project, { project, ...took, files })
    rmSync(timesFile)
  }
  const outcomes = outcomesOf(file, project, ROOT, code)
  return [
    ...outcomes,
    ...killed.map((line) => nowhere(project, `a test left a process that held the run open: ${line}`)),
  ]
}

/**
 * Busy time of all processors since the machine started. So it has that of daemons, which are no children of the run.
 */
const busyMs = (): number =>
  cpus().reduce((total, { times: { user, nice, sys, irq } }) => total + user + nice + sys + irq, 0)
