import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { ensureKubernetes, FIGURES_VARIABLE, faultTable, Lab, readFaults, runInteractive } from '@spout/testkit'
import { leftovers, standing } from './leftovers.ts'
import { ROOT, UsageError, type Verb } from './verb.ts'

const KINDS = ['unit', 'contract', 'lab', 'e2e'] as const
/** The projects of vitest in their order. */
const PROJECTS_OF: Readonly<Record<(typeof KINDS)[number], readonly string[]>> = {
  unit: ['unit'],
  contract: ['contract'],
  lab: ['lab', 'cluster'],
  e2e: ['beside', 'e2e'],
}
/** Start clusters, and measure: they wait until nothing is built beside them. */
const ON_KUBERNETES: readonly string[] = ['cluster', 'beside', 'e2e']

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** `./dev test [unit|contract|lab|e2e]` */
export const test: Verb = {
  name: 'test',
  usage: '[unit|contract|lab|e2e] [FILTER…]',
  summary: 'runs the tests, all of them or one kind; the last line counts what ran',
  details:
    'Before it stands a table of the faults that were tried: what happened, and the figure. The first run builds Kubernetes ' +
    'from its Go modules, beside the tests that do without it (about 8 minutes on two cores).',
  async run(args) {
    const chosen = KINDS.filter((kind) => kind === args[0])
    const filters = chosen.length > 0 ? args.slice(1) : args
    if (chosen.length === 0 && args[0] && !args[0].includes('/') && !args[0].startsWith('-'))
      throw new UsageError(`there is no kind ${JSON.stringify(args[0])}: ${KINDS.join(', ')}`)
    await Lab.sweep()
    const before = standing()
    const runId = randomUUID()
    const counts: Counts[] = []
    const projects = (chosen.length > 0 ? chosen : KINDS).flatMap((kind) => PROJECTS_OF[kind])
    // Built beside the kinds that do not need it. With a filter, tests that want a cluster build it themselves.
    const kubernetes = filters.length === 0 && projects.some(needsKubernetes) ? buildKubernetes() : null
    for (const project of projects) {
      if (needsKubernetes(project)) await kubernetes
      counts.push(await runProject(project, filters, runId))
    }
    const left = await leftovers(before, runId)
    for (const line of left) process.stdout.write(`left behind: ${line}\n`)
    counts.push({ passed: left.length === 0 ? 1 : 0, failed: left.length === 0 ? 0 : 1, skipped: 0 })
    const total = counts.reduce((sum, count) => ({
      passed: sum.passed + count.passed,
      failed: sum.failed + count.failed,
      skipped: sum.skipped + count.skipped,
    }))
    printFaults(runId)
    process.stdout.write(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`)
    return total.failed === 0 && total.passed > 1 ? 0 : 1
  },
}

const needsKubernetes = (project: string): boolean => ON_KUBERNETES.includes(project)

/** A failure is told by the tests that need a cluster. */
async function buildKubernetes(): Promise<void> {
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  await ensureKubernetes({ say }).catch((error: Error) => say(`Kubernetes could not be built: ${error.message}`))
}

interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly success: boolean
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[]
}

/** Where tests of a run note the figures of faults. */
const figuresOf = (runId: string): string => path.join(ROOT, 'build', 'test', `figures-${runId}`)

function printFaults(runId: string): void {
  const directory = figuresOf(runId)
  const table = faultTable(readFaults(directory))
  rmSync(directory, { recursive: true, force: true })
  if (table !== '') process.stdout.write(`\n== faults\n${table}`)
}

async function runProject(project: string, filters: readonly string[], runId: string): Promise<Counts> {
  const directory = path.join(ROOT, 'build', 'test')
  mkdirSync(directory, { recursive: true })
  const file = path.join(directory, `${project}-${runId}.json`)
  process.stdout.write(`\n== ${project}\n`)
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
    ...filters,
  ]
  const code = await runInteractive(argv, { SPOUT_TEST_RUN: runId, [FIGURES_VARIABLE]: figuresOf(runId) })
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as VitestReport
    // A file that did not load, or an error outside any test, has no failing test to count: the run failed all the same.
    const silent = report.testResults.filter(
      (result) => result.status === 'failed' && result.assertionResults.length === 0,
    ).length
    const failed = report.numFailedTests + silent
    return {
      passed: report.numPassedTests,
      failed: failed === 0 && code !== 0 ? 1 : failed,
      skipped: report.numPendingTests + report.numTodoTests,
    }
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }
  }
}
