import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ContainerLog } from './container-log.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-log-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

describe("a container's log", () => {
  it('has what was written since a time, whole lines of a second before at most', () => {
    const file = path.join(directory, 'log')
    const log = new ContainerLog(file)
    log.look(0)
    for (const second of [1, 2, 3]) {
      appendFileSync(file, `line ${second}\n`)
      log.look(second * 1000)
    }
    expect(log.since(-1).toString()).toBe('line 1\nline 2\nline 3\n')
    expect(log.since(1000).toString()).toBe('line 2\nline 3\n')
    expect(log.since(2999).toString()).toBe('line 3\n')
    expect(log.since(3000).toString()).toBe('')
  })

  it('remembers one length a second, and none while nothing is written', () => {
    const file = path.join(directory, 'log')
    const log = new ContainerLog(file)
    appendFileSync(file, 'a\n')
    log.look(0)
    appendFileSync(file, 'b\n')
    log.look(500)
    expect(log.since(600).toString()).toBe('b\n')
    log.look(1000)
    log.look(5000)
    expect(log.since(5000).toString()).toBe('')
  })
})
