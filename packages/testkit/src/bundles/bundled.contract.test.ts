import { execFileSync, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { run } from '../lab/run.ts'
import { THIS_CHECKOUT } from '../system/checkout.ts'
import { bundlesOf } from './build-record.ts'
import { bundled } from './bundled.ts'

/** In the repository, since that is where its packages are found. */
let sources: string
let entry: string

const write = (name: string, text: string): void => writeFileSync(path.join(sources, name), text)
const said = (program: string): string => execFileSync(process.execPath, [program], { encoding: 'utf8' }).trim()

beforeAll(() => {
  mkdirSync(path.join(THIS_CHECKOUT, 'build'), { recursive: true })
  sources = mkdtempSync(path.join(THIS_CHECKOUT, 'build', 'bundled-'))
  entry = path.join(sources, 'main.ts')
})
beforeEach(() => {
  write('main.ts', `import { word } from './word.ts'\nconsole.log(word)\n`)
  write('word.ts', `export const word: string = 'one'\n`)
})
afterAll(() => {
  rmSync(bundlesOf(entry), { recursive: true, force: true })
  rmSync(sources, { recursive: true, force: true })
})

it('does what the sources do, without them', () => {
  const program = bundled(entry)
  expect(program.startsWith(path.join(THIS_CHECKOUT, 'build/bundles/'))).toBe(true)
  renameSync(path.join(sources, 'word.ts'), path.join(sources, 'away.ts'))
  expect(said(program)).toBe('one')
  renameSync(path.join(sources, 'away.ts'), path.join(sources, 'word.ts'))
})

it('keeps calls that are made for their error alone', () => {
  write('main.ts', `try {\n  decodeURI('%')\n  console.log('taken')\n} catch {\n  console.log('refused')\n}\n`)
  expect(said(bundled(entry))).toBe('refused')
})

it('is made again when a source is another, and only then', () => {
  const first = bundled(entry)
  const record = path.join(bundlesOf(entry), 'current.json')
  const before = readFileSync(record, 'utf8')
  expect(bundled(entry)).toBe(first)
  expect(readFileSync(record, 'utf8')).toBe(before)
  // The same length and time of modification as before, as some tools unpack files.
  write('word.ts', `export const word: string = 'two'\n`)
  utimesSync(path.join(sources, 'word.ts'), 0, 0)
  const second = bundled(entry)
  expect([said(second), said(first)]).toEqual(['two', 'one'])
  write('word.ts', `export const word: string = 'one'\n`)
  expect(bundled(entry)).toBe(first)
  expect(readdirSync(bundlesOf(entry))).not.toContain('unfinished')
})

it('a source that is gone is missed, as without bundles', () => {
  bundled(entry)
  rmSync(path.join(sources, 'word.ts'))
  expect(() => bundled(entry)).toThrow('./word.ts')
  expect(() => bundled(path.join(sources, 'none.ts'))).toThrow('none.ts')
})

it('takes threads, programs and data beside a source with it', () => {
  write(
    'main.ts',
    `import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
new Worker(new URL('./thread.ts', import.meta.url)).on('message', (word: string) => {
  console.log(word, readFileSync(new URL('./data.txt', import.meta.url), 'utf8'))
})\n`,
  )
  write(
    'thread.ts',
    `import { parentPort } from 'node:worker_threads'
import { word } from './word.ts'
parentPort?.postMessage(word)\n`,
  )
  write('data.txt', 'data')
  expect(said(bundled(entry))).toBe('one data')
  write('data.txt', 'more data')
  write('word.ts', `export const word: string = 'two'\n`)
  expect(said(bundled(entry))).toBe('two more data')
})

it('refuses a file that is named in another way: it would not be found', () => {
  write('main.ts', `console.log(import.meta.dirname)\n`)
  expect(() => bundled(entry)).toThrow('main.ts has import.meta.dirname; name a file beside it as new URL(')
})

it('is made once for callers at the same time', async () => {
  write('main.ts', `console.log('at the same time')\n`)
  const call = `import { bundled } from ${JSON.stringify(path.join(import.meta.dirname, 'bundled.ts'))}
console.log(bundled(${JSON.stringify(entry)}))`
  const calls = [1, 2, 3].map(() =>
    run([process.execPath, '--input-type=module', '--eval', call], { timeoutMs: 60_000 }),
  )
  const programs = (await Promise.all(calls)).map(({ stdout }) => stdout.trim())
  expect(new Set(programs)).toEqual(new Set([bundled(entry)]))
  expect(readdirSync(bundlesOf(entry))).not.toContain('unfinished')
})

it('an error names the source: with source maps the line, without them the function', () => {
  write('main.ts', `function giveUp(): never {\n  throw new Error('given up')\n}\ngiveUp()\n`)
  const program = bundled(entry)
  expect(spawnSync(process.execPath, [program], { encoding: 'utf8' }).stderr).toContain('at giveUp')
  const { stderr } = spawnSync(process.execPath, ['--enable-source-maps', program], { encoding: 'utf8' })
  expect(stderr).toContain('main.ts:2:')
})

it('the sources themselves run on request', () => {
  const call = `import { bundled } from ${JSON.stringify(path.join(import.meta.dirname, 'bundled.ts'))}
console.log(bundled('/some/main.ts'))`
  const env = { ...process.env, SPOUT_PROGRAMS: 'sources' }
  const argv = ['--input-type=module', '--eval', call]
  expect(execFileSync(process.execPath, argv, { encoding: 'utf8', env }).trim()).toBe('/some/main.ts')
})
