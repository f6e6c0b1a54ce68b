import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readFileOrNull, removeFile, writeFileAtomically } from './atomic-file.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spt-file-'))
})
afterEach(() => rm(directory, { recursive: true }))

test('writes, replaces, reads and removes', async () => {
  const path = join(directory, 'state')
  expect(await readFileOrNull(path)).toBeNull()
  await writeFileAtomically(path, 'one')
  await writeFileAtomically(path, Buffer.from('two'), { mode: 0o640 })
  expect(String(await readFileOrNull(path))).toBe('two')
  expect((await stat(path)).mode & 0o777).toBe(0o640)
  await removeFile(path)
  await removeFile(path)
  expect(await readFileOrNull(path)).toBeNull()
})

test('is private unless told otherwise, and leaves nothing else behind', async () => {
  await writeFileAtomically(join(directory, 'secret'), 'x')
  expect((await stat(join(directory, 'secret'))).mode & 0o777).toBe(0o600)
  await expect(writeFileAtomically(join(directory, 'secret', 'below'), 'x')).rejects.toMatchObject({ code: 'ENOTDIR' })
  await expect(writeFileAtomically(directory, 'x')).rejects.toThrow()
  expect(await readdir(directory)).toEqual(['secret'])
})

test('many writers at once leave one whole content', async () => {
  const path = join(directory, 'state')
  const contents = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000))
  await Promise.all(contents.map((content) => writeFileAtomically(path, content)))
  expect(contents).toContain(String(await readFileOrNull(path)))
  expect(await readdir(directory)).toEqual(['state'])
})
