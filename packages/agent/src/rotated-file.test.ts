import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { RotatedFile } from './rotated-file.ts'

async function directory(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'spout-log-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

test('lines are in order over files of a bounded size, of which the oldest go', async () => {
  const at = await directory()
  const lost: number[] = []
  const options = { path: join(at, 'a.log'), mostBytes: 100, files: 3, onLost: (lines: number) => lost.push(lines) }
  for (let round = 0; round < 12; round++) {
    // As after a restart of the agent.
    const file = new RotatedFile(options)
    for (const part of ['a', 'b']) file.add(`line ${round}${part} ${'x'.repeat(10)}`)
    await file.close()
  }
  expect((await readdir(at)).sort()).toEqual(['a.log', 'a.log.1', 'a.log.2'])
  let all = ''
  for (const name of ['a.log.2', 'a.log.1', 'a.log']) {
    const { size, mode } = await stat(join(at, name))
    expect(size).toBeLessThanOrEqual(100)
    expect(mode & 0o777).toBe(0o640)
    all += await readFile(join(at, name), 'latin1')
  }
  const rounds = all
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ')[1])
  const expected = Array.from({ length: 12 }, (_, round) => [`${round}a`, `${round}b`]).flat()
  expect(rounds).toEqual(expected.slice(-rounds.length))
  expect(rounds.length).toBeGreaterThan(6)
  expect(lost).toEqual([])
})

test('what cannot be written is counted, and later lines are written again', async () => {
  const at = await directory()
  const path = join(at, 'a.log')
  await writeFile(join(at, 'other'), '')
  // Somebody else's file is not written to.
  await symlink(join(at, 'other'), path)
  let lost = 0
  const file = new RotatedFile({ path, mostBytes: 100, files: 2, onLost: (lines) => (lost += lines) })
  file.add('one')
  await file.close()
  expect(lost).toBe(1)
  await rm(path)
  file.add('two')
  await file.close()
  expect(await readFile(path, 'latin1')).toBe('two\n')
  expect(await readFile(join(at, 'other'), 'latin1')).toBe('')
  for (let count = 0; count < 40; count++) file.add('z'.repeat(100_000))
  expect(lost).toBeGreaterThan(1)
  await file.close()
})
