import { mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { entryHash } from '@spout/model/entry-hash'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { formatRecord, JOURNAL_FORMAT, parseRecord } from './journal-record.ts'
import { StateFile } from './state-file.ts'
import { domainEntry, loadBalancerEntry } from './testing/entries.ts'

let directory: string
let path: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-state-'))
  path = join(directory, 'entries.journal')
})
afterEach(() => rm(directory, { recursive: true }))

const opened = async (): Promise<StateFile> => {
  const file = new StateFile(path, (error) => {
    throw error
  })
  await file.load()
  return file
}

const put = (file: StateFile, id: string, generation: number, down: readonly string[] = []) => {
  const entry = loadBalancerEntry(id, { generation })
  file.put(entry.key, entryHash(entry), entry, new Set(down))
}

const generations = (file: StateFile) =>
  Object.fromEntries(
    [...file.entries].map(([key, { entry, down }]) => [
      key,
      [entry.kind === 'load-balancer' ? entry.generation : 0, [...down].sort()],
    ]),
  )

test('the last record of each key is there after a restart', async () => {
  const file = await opened()
  const domain = domainEntry(1)
  file.put(domain.key, entryHash(domain), domain, new Set())
  put(file, 'a', 1)
  put(file, 'b', 1)
  put(file, 'a', 2, ['m1', 'm2'])
  file.delete('lb/b')
  await file.close()
  const again = await opened()
  expect(generations(again)).toEqual({ 'domain/1': [0, []], 'lb/a': [2, ['m1', 'm2']] })
  expect(again.entries.get('domain/1')?.entry).toEqual(domain)
  await again.close()
})

test('is readable by its owner alone', async () => {
  const file = await opened()
  put(file, 'a', 1)
  await file.close()
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('one change among many costs one small append', async () => {
  const file = await opened()
  for (let index = 0; index < 1000; index++) put(file, `lb-${index}`, 1)
  await file.flush()
  const before = (await stat(path)).size
  put(file, 'lb-500', 2)
  await file.flush()
  expect((await stat(path)).size - before).toBeLessThan(before / 500)
  await file.close()
})

test('a record that was handed over survives a kill', async () => {
  const file = await opened()
  put(file, 'a', 1)
  put(file, 'b', 1)
  await file.handedOver()
  const other = await opened()
  expect(generations(other)).toEqual({ 'lb/a': [1, []], 'lb/b': [1, []] })
  await other.close()
  await file.close()
})

test('the same record again writes nothing', async () => {
  const file = await opened()
  put(file, 'a', 1, ['m1'])
  await file.flush()
  const before = (await stat(path)).size
  put(file, 'a', 1, ['m1'])
  await file.flush()
  expect((await stat(path)).size).toBe(before)
  await file.close()
})

test('the journal is rewritten when most of it is outdated, including changes meanwhile', async () => {
  const file = await opened()
  for (let index = 0; index < 500; index++) put(file, `lb-${index}`, 1)
  await file.flush()
  for (let generation = 2; generation < 5000; generation++) {
    put(file, `lb-${generation % 7}`, generation)
    if (generation % 100 === 0) await file.flush()
  }
  await file.close()
  expect((await stat(path)).size).toBeLessThan(4 * 1024 * 1024)
  const again = await opened()
  expect(again.entries.size).toBe(500)
  expect(generations(again)['lb/lb-0']).toEqual([4998 - (4998 % 7), []])
  await again.close()
})

test('a torn last line loses only its own record, and later changes are kept', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (count, where) => {
        await rm(path, { force: true })
        const records = Array.from({ length: count }, (_, index) => {
          const entry = loadBalancerEntry(`lb-${index}`, { generation: index + 1 })
          return formatRecord({ put: { hash: entryHash(entry), entry, down: [] } })
        })
        const whole = records.join('')
        await writeFile(path, whole)
        const size = Math.floor(where * whole.length)
        await truncate(path, size)
        let kept = 0
        for (let bytes = 0; kept < count && bytes + records[kept]!.length <= size; kept++)
          bytes += records[kept]!.length

        const file = await opened()
        expect(file.entries.size).toBe(kept)
        put(file, 'later', 9)
        await file.close()
        const again = await opened()
        expect(again.entries.size).toBe(kept + 1)
        expect(generations(again)['lb/later']).toEqual([9, []])
        await again.close()
      },
    ),
    { numRuns: 40 },
  )
})

test('a damaged line is left out, the others count', async () => {
  const file = await opened()
  for (const id of ['a', 'b', 'c']) put(file, id, 1)
  await file.close()
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace('"id":"b"', '"id":"x"'))
  const again = await opened()
  expect([...again.entries.keys()].sort()).toEqual(['lb/a', 'lb/c'])
  await again.close()
  expect((await readFile(path, 'utf8')).includes('"id":"x"')).toBe(false)
})

test('whatever follows a record, it is read back or refused, never misread', () => {
  const entry = loadBalancerEntry('a')
  const line = formatRecord({ put: { hash: entryHash(entry), entry, down: [] } }).trimEnd()
  expect(parseRecord(line)).toEqual({ put: { hash: entryHash(entry), entry, down: [] } })
  fc.assert(
    fc.property(fc.nat(line.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
      const changed = line.slice(0, at) + character + line.slice(at + 1)
      expect(changed === line || parseRecord(changed) === null).toBe(true)
    }),
  )
})

test('a failed write is reported and repaired later', async () => {
  const errors: unknown[] = []
  const file = new StateFile(path, (error) => errors.push(error))
  await file.load()
  put(file, 'a', 1)
  await file.flush()
  await rm(directory, { recursive: true })
  // The open journal still accepts lines. When it is full, it cannot be rewritten, since the directory is gone.
  for (let generation = 2; errors.length === 0 && generation < 5000; generation++) {
    put(file, 'a', generation)
    await file.flush()
  }
  expect(errors.length).toBeGreaterThan(0)
  // `handedOver` does not wait for a disk that refuses writes.
  put(file, 'a', 5500)
  await file.handedOver()
  await mkdir(directory)
  put(file, 'a', 6000)
  await file.close()
  const again = await opened()
  expect(generations(again)).toEqual({ 'lb/a': [6000, []] })
  await again.close()
})

test('a large entry is written as edits, and is complete after a restart', async () => {
  const member = (n: number) => ({
    ...{ id: `m${n}`, address: `10.0.${n >> 8}.${n & 255}`, port: 80, weight: 1, backup: false },
    ...{ checkAddress: `10.0.${n >> 8}.${n & 255}`, checkPort: 80 },
  })
  const members = Array.from({ length: 1000 }, (_, n) => member(n))
  const pool = {
    id: 'p',
    number: 1,
    mode: 'l4',
    algorithm: 'round-robin',
    sourceAffinity: false,
    proxyProtocol: 'none',
  } as const
  const large = (generation: number) => {
    const own = { slots: null, check: null, panicThreshold: 0, members: members.slice(0, 900 + generation) }
    return loadBalancerEntry('a', { generation, pools: [{ ...pool, ...own }] })
  }
  const save = async (file: StateFile, entry: ReturnType<typeof large>) => {
    file.put(entry.key, entryHash(entry), entry, new Set(['m1']))
    await file.flush()
  }
  const file = await opened()
  await save(file, large(1))
  const before = (await stat(path)).size
  await save(file, large(2))
  expect((await stat(path)).size - before).toBeLessThan(600)
  put(file, 'b', 1)
  await save(file, large(3))
  await file.close()
  const again = await opened()
  const saved = again.entries.get('lb/a')
  expect(saved).toEqual({ hash: entryHash(large(3)), entry: large(3), down: new Set(['m1']), shares: new Map() })
  await again.close()

  // A damaged line costs the entry whose later edits build on it, and no other.
  const lines = (await readFile(path, 'utf8')).split('\n')
  const at = lines.findIndex((line) => line.includes('"edit"'))
  await writeFile(path, lines.with(at, lines[at]!.replace('"generation"', '"generatiom"')).join('\n'))
  const mended = await opened()
  expect([...mended.entries.keys()]).toEqual(['lb/b'])
  await mended.close()
})

describe('the format', () => {
  const first = async () => parseRecord((await readFile(path, 'utf8')).split('\n')[0] ?? '')
  const entry = loadBalancerEntry('a')
  const record = formatRecord({ put: { hash: entryHash(entry), entry, down: [] } })
  const { version } = JOURNAL_FORMAT
  const stored = async () => {
    const file = await opened()
    await file.close()
    return generations(file)
  }

  test('is the first record of a new journal, and of one that is rewritten', async () => {
    const file = await opened()
    put(file, 'a', 1)
    await file.close()
    expect(await first()).toEqual({ format: JOURNAL_FORMAT })
    await writeFile(path, `${record}damaged`)
    await (await opened()).close()
    expect(await first()).toEqual({ format: JOURNAL_FORMAT })
    expect(await stored()).toEqual({ 'lb/a': [1, []] })
  })

  test('of an agent from before it is as it was', async () => {
    await writeFile(path, record)
    const file = await opened()
    put(file, 'b', 1)
    await file.close()
    expect(await stored()).toEqual({ 'lb/a': [1, []], 'lb/b': [1, []] })
  })

  test('of a newer agent that only added to it is used, without the records that are new', async () => {
    const newer = formatRecord({ format: { version: version + 1, usableFrom: version } })
    const unknown = formatRecord({ tally: 3 } as unknown as Parameters<typeof formatRecord>[0])
    await writeFile(path, newer + record + unknown)
    const file = await opened()
    expect(generations(file)).toEqual({ 'lb/a': [1, []] })
    put(file, 'b', 1)
    await file.close()
    expect(await stored()).toEqual({ 'lb/a': [1, []], 'lb/b': [1, []] })
  })

  test('of a newer agent that this one cannot read is refused, and no byte is changed', async () => {
    const text = `${formatRecord({ format: { version: version + 1, usableFrom: version + 1 } })}${record}torn`
    await writeFile(path, text)
    await expect(opened()).rejects.toThrow(
      `has format ${version + 1}, and this agent knows up to ${version}: start the agent that wrote it`,
    )
    expect(await readFile(path, 'utf8')).toBe(text)
  })
})
