import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { AuditRecord } from '@spout/model'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { recordFault, waitFor } from '@spout/testkit'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileOf } from './audit-files.ts'
import { AuditLog } from './audit-log.ts'
import type { AuditPage } from './audit-reader.ts'

let directory: string
let clock: FakeClock
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-audit-test-'))
  clock = new FakeClock()
})
afterEach(() => rmSync(directory, { recursive: true }))

const open = (limits: { readonly fileLimitBytes?: number; readonly fileLimit?: number } = {}) => {
  const log = new AuditLog({ directory, clock, log: silentLogger(), fileLimitBytes: 1 << 20, fileLimit: 4, ...limits })
  log.start()
  return log
}
const record = (requestId: string, more: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{ time: clock.now().toISOString(), requestId, surface: 'native', operation: 'POST /api/v1/networks' },
  ...{ userId: 'u', userName: 'ann', projectId: 'p', from: '192.0.2.1', method: 'password', credentialId: null },
  ...{ token: null, object: null, objectProjectId: null, status: 201, code: null },
  ...more,
})
const ALL = { show: (each: AuditRecord) => each, since: null, limit: 1000, before: null }
const idsOf = ({ items }: AuditPage) => items.map(({ requestId }) => requestId)
const files = () => readdirSync(directory).toSorted()

/** Every page from the newest on. */
async function pages(log: AuditLog, limit: number): Promise<string[]> {
  const found: string[] = []
  let before: string | null = null
  do {
    const page: AuditPage = await log.read({ ...ALL, limit, before })
    found.push(...idsOf(page))
    before = page.next
  } while (before !== null)
  return found
}

test('reads newest first, including records not written yet, and only its owner can read the files', async () => {
  const log = open()
  log.record(record('a'))
  log.record(record('b', { userName: 'line\nbreak "quoted" \u0000 ünïcode' }))
  const page = await log.read(ALL)
  expect(idsOf(page)).toEqual(['b', 'a'])
  expect(page.items[0]?.userName).toBe('line\nbreak "quoted" \u0000 ünïcode')
  expect(page.next).toBeNull()
  expect(statSync(fileOf(directory, 1)).mode & 0o777).toBe(0o600)
  expect(readFileSync(fileOf(directory, 1), 'utf8').trimEnd().split('\n')).toHaveLength(2)
  await log.stop()
})

test('writes soon after, not at once', async () => {
  const log = open()
  log.record(record('a'))
  expect(files()).toEqual([])
  await clock.advance(200)
  await log.flush()
  expect(files()).toEqual(['audit-00000001.jsonl'])
  await log.stop()
})

test('continues after a restart, and after a crash in the middle of a line', async () => {
  const first = open()
  first.record(record('a'))
  await first.stop()
  writeFileSync(fileOf(directory, 1), '{"time":"2026', { flag: 'a' })
  const second = open()
  second.record(record('b'))
  expect(idsOf(await second.read(ALL))).toEqual(['b', 'a'])
  await second.stop()
})

test('keeps a limited number of files of limited size', async () => {
  const log = open({ fileLimitBytes: 1000, fileLimit: 3 })
  for (let each = 0; each < 40; each++) {
    log.record(record(`r${each}`))
    await log.flush()
  }
  expect(files()).toHaveLength(3)
  for (const file of files()) expect(statSync(path.join(directory, file)).size).toBeLessThan(1000 + 500)
  const kept = idsOf(await log.read(ALL))
  expect(kept[0]).toBe('r39')
  expect(kept.length).toBeGreaterThan(5)
  await log.stop()
  const again = open({ fileLimitBytes: 1000, fileLimit: 3 })
  again.record(record('after'))
  expect(idsOf(await again.read(ALL))[0]).toBe('after')
  await again.stop()
})

describe('pages', () => {
  test('together contain every record once, newest first, whatever their size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 7 }),
        fc.array(fc.string({ maxLength: 300, unit: 'grapheme' }), { maxLength: 25 }),
        async (limit, names) => {
          rmSync(directory, { recursive: true })
          const log = open({ fileLimitBytes: 2000, fileLimit: 1000 })
          for (const [at, userName] of names.entries()) {
            log.record(record(`r${at}`, { userName }))
            if (at % 3 === 0) await log.flush()
          }
          expect(await pages(log, limit)).toEqual(names.map((_, at) => `r${at}`).toReversed())
          await log.stop()
        },
      ),
      { numRuns: 25 },
    )
  })

  test('of a log larger than one read are complete', async () => {
    const log = open()
    const ids = Array.from({ length: 600 }, (_, at) => `r${at}`)
    for (const id of ids) log.record(record(id, { userName: 'x'.repeat(at(id)) }))
    expect(await pages(log, 100)).toEqual(ids.toReversed())
    await log.stop()
  })

  test('end at the requested time', async () => {
    const log = open()
    log.record(record('old'))
    await clock.advance(60_000)
    const since = clock.now().toISOString()
    log.record(record('new'))
    expect(await log.read({ ...ALL, since })).toMatchObject({ items: [{ requestId: 'new' }], next: null })
    await log.stop()
  })

  test("are requested by a page's `next`, and by nothing else", async () => {
    const log = open()
    for (const before of ['', 'x', '1', '../1.2', '1.2.3', '-1.5'])
      await expect(log.read({ ...ALL, before })).rejects.toMatchObject({ code: 'InvalidField', field: 'before' })
    expect(await log.read({ ...ALL, before: '99999999.999999999' })).toEqual({ items: [], next: null })
    await log.stop()
  })
})

const at = (id: string): number => (Number(id.slice(1)) * 7) % 900

test('while the disk fails requests go on, memory is limited, and waiting records are written later', async () => {
  // The kernel's full device answers every write with ENOSPC.
  symlinkSync('/dev/full', fileOf(directory, 1))
  const log = open()
  log.record(record('first'))
  await log.flush()
  const big = 'x'.repeat(20_000)
  for (let each = 0; each < 500; each++) log.record(record(`r${each}`, { userName: big }))
  await log.flush()
  expect(log.lost).toBeGreaterThan(250)
  expect(log.lost).toBeLessThan(350)
  rmSync(fileOf(directory, 1))
  await clock.advance(1000)
  await waitFor(async () => files().length === 1, { what: 'the audit log to be written' })
  await log.flush()
  const kept = idsOf(await log.read(ALL))
  expect(kept.at(-1)).toBe('first')
  expect(kept).toHaveLength(501 - log.lost)
  recordFault({
    fault: 'the disk is full for the audit log',
    outcome: 'requests go on, records wait in 4 MiB and come later, the rest is counted as lost',
    figure: `${log.lost} of 501 records of 20 kB lost`,
  })
  await log.stop()
})
