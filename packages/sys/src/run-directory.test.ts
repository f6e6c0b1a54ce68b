import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeRunDirectory } from './run-directory.ts'

let top: string

beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'spout-run-directory-'))
})

afterEach(() => rm(top, { recursive: true }))

const modeOf = async (...path: readonly string[]): Promise<number> => (await stat(join(top, ...path))).mode & 0o777

it('closes the directory and leaves the way to its neighbours open', async () => {
  await makeRunDirectory(join(top, 'run', 'spout', 'vrrp'), 0o700)
  await makeRunDirectory(join(top, 'run', 'spout', 'bgp'), 0o711)
  expect(await modeOf('run')).toBe(0o755)
  expect(await modeOf('run', 'spout')).toBe(0o755)
  expect(await modeOf('run', 'spout', 'vrrp')).toBe(0o700)
  expect(await modeOf('run', 'spout', 'bgp')).toBe(0o711)
})

it('changes nothing of what is there', async () => {
  await makeRunDirectory(join(top, 'spout'), 0o700)
  await makeRunDirectory(join(top, 'spout'), 0o711)
  await makeRunDirectory(join(top, 'spout', 'vrrp'), 0o700)
  expect(await modeOf('spout')).toBe(0o700)
})
