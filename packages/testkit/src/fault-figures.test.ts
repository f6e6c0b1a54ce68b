import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FIGURES_VARIABLE, faultTable, readFaults, recordFault } from './fault-figures.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-figures-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(directory, { recursive: true, force: true })
})

it('prints what tests recorded as one table, sorted', () => {
  vi.stubEnv(FIGURES_VARIABLE, path.join(directory, 'made'))
  recordFault({ fault: 'vrrp: link flaps', outcome: 'moves once', figure: '1 move in 10 flaps' })
  recordFault({ fault: 'bgp: wrong MD5 secret', outcome: 'said on the session', figure: '812 ms' })
  recordFault({ fault: 'proxy: killed', outcome: 'is back', figure: '9 kills', whole: '90 kills' })
  expect(faultTable(readFaults(path.join(directory, 'made')))).toBe(
    [
      'fault                  what happened        figure',
      'bgp: wrong MD5 secret  said on the session  812 ms',
      'proxy: killed          is back              9 kills (SPOUT_LONG_TESTS=1: 90 kills)',
      'vrrp: link flaps       moves once           1 move in 10 flaps',
      '',
    ].join('\n'),
  )
})

it('records nothing without a run that collects, and prints nothing then', () => {
  vi.stubEnv(FIGURES_VARIABLE, '')
  recordFault({ fault: 'a', outcome: 'b', figure: 'c' })
  expect(readFaults(directory)).toEqual([])
  expect(faultTable(readFaults(path.join(directory, 'nowhere')))).toBe('')
})
