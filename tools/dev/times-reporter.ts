/**
 * A reporter of vitest that writes how long each file took, as JSON, into the file that SPOUT_TEST_TIMES names. vitest's
 * own JSON has the times of tests, but not those of imports and hooks.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import type { FileTimes } from './times.ts'
import { ROOT } from './verb.ts'

export default class TimesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env['SPOUT_TEST_TIMES']
    if (file !== undefined) writeFileSync(file, JSON.stringify(modules.map(timesOf)))
  }
}

function timesOf(module: TestModule): FileTimes {
  const { collectDuration, duration } = module.diagnostic()
  const tests = [...module.children.allTests()].map((test) => ({
    name: test.fullName,
    ms: test.diagnostic()?.duration ?? 0,
  }))
  const testsMs = tests.reduce((sum, { ms }) => sum + ms, 0)
  return {
    file: path.relative(ROOT, module.moduleId),
    importMs: collectDuration,
    // Tests of a file may run beside each other: then their sum is more than the file took.
    hooksMs: Math.max(0, duration - testsMs),
    tests,
  }
}
