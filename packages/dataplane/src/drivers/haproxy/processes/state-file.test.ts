import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readState, writeState } from './state-file.ts'

const STATE = {
  ...{ generation: 3, process: { pid: 7, startTime: '9' }, addresses: ['127.0.0.1'] },
  ...{ frontends: [], backends: [], baselines: [] },
}

async function saved(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'spout-state-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'state.json')
  await writeState(path, STATE as unknown as Parameters<typeof writeState>[1])
  return path
}

it('is read as it was written', async () => {
  expect(await readState(await saved())).toMatchObject(STATE)
})

it.each(['', 'null', '{', '\0\0\0\0', '[]', '"state"'])('is ignored if it holds %j', async (text) => {
  const path = await saved()
  writeFileSync(path, text)
  expect(await readState(path)).toBeNull()
})

it('is ignored if its end is missing', async () => {
  const path = await saved()
  truncateSync(path, 20)
  expect(await readState(path)).toBeNull()
})

it('is never misread, whichever byte is damaged', async () => {
  const path = await saved()
  const whole = readFileSync(path)
  for (let at = 0; at < whole.length; at++) {
    const rotten = Buffer.from(whole)
    rotten[at] = (rotten[at] ?? 0) ^ 1
    writeFileSync(path, rotten)
    // Where only the word `checksum` rots, the rest is read.
    expect((await readState(path)) ?? STATE, `byte ${at}`).toMatchObject(STATE)
  }
})

it('is read if an agent without checksums wrote it', async () => {
  const path = await saved()
  writeFileSync(path, JSON.stringify({ version: 2, ...STATE }))
  expect(await readState(path)).toMatchObject(STATE)
})
