import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { failureLines, nothingMatched, outcomesOf } from './test-outcome.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-outcome-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const reported = (testResults: readonly object[], exitCode: number) => {
  const file = path.join(directory, 'report.json')
  writeFileSync(file, JSON.stringify({ testResults }))
  return outcomesOf(file, 'lab', '/root', exitCode)
}
const test = (status: string, fullName: string) => ({ status, fullName, failureMessages: [`${fullName} is wrong`] })
const MIXED = {
  name: '/root/a.test.ts',
  status: 'failed',
  assertionResults: [test('passed', 'one'), test('failed', 'two'), test('skipped', 'three'), test('todo', 'four')],
}

it('counts what passed, failed and was skipped', () => {
  expect(reported([MIXED], 1)).toEqual([
    { project: 'lab', file: 'a.test.ts', passed: 1, skipped: 2, failures: [{ name: 'two', message: 'two is wrong' }] },
  ])
})

it('a file that did not load has failed', () => {
  const [outcome] = reported([{ name: '/root/b.test.ts', status: 'failed', message: 'no b', assertionResults: [] }], 1)
  expect(outcome?.failures).toEqual([{ name: null, message: 'no b' }])
})

it('a set-up that failed leaves its tests skipped, and is a failure', () => {
  const tests = [test('skipped', 'one'), test('skipped', 'two')]
  const [outcome] = reported(
    [{ name: '/root/c.test.ts', status: 'failed', message: 'no c', assertionResults: tests }],
    1,
  )
  expect(outcome).toMatchObject({ passed: 0, skipped: 2, failures: [{ name: null, message: 'no c' }] })
})

it('an error outside of every test, or no report, is a failure', () => {
  expect(
    reported([{ ...MIXED, status: 'passed', assertionResults: [test('passed', 'one')] }], 1)[1]?.failures,
  ).toHaveLength(1)
  expect(outcomesOf(path.join(directory, 'none.json'), 'lab', '/root', 1)[0]?.failures).toHaveLength(1)
  expect(outcomesOf(path.join(directory, 'none.json'), 'lab', '/root', 0)).toEqual([])
})

it('a failure is told by its project, its file and its test', () => {
  const told = ['lab: a.test.ts > two', '    two is wrong']
  expect(failureLines(reported([MIXED], 1))).toEqual(told)
  const logs = (file: string) => [`logs/${file}`]
  expect(failureLines(reported([MIXED], 1), logs)).toEqual([...told, '    logs of its labs: logs/a.test.ts'])
})

it('a run in which no test ran has failed, and names the filters', () => {
  const skipped = { name: '/root/d.test.ts', status: 'passed', assertionResults: [test('skipped', 'one')] }
  for (const outcomes of [[], reported([skipped], 0)])
    expect(failureLines(nothingMatched(outcomes, ['node-fault', '-t', 'F2']))).toEqual([
      'no test ran: ',
      '    no test of these kinds matches "node-fault" "-t" "F2"',
    ])
  expect(nothingMatched(reported([MIXED], 1), ['a.test'])).toEqual([])
  expect(failureLines(nothingMatched([], []))).toEqual(['no test ran: ', '    there is no test of these kinds'])
})
