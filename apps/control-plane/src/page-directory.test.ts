import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pageDirectory } from './page-directory.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'spout-page-')))
})
afterEach(() => rmSync(root, { recursive: true }))

function put(file: string): string {
  const at = path.join(root, file)
  mkdirSync(path.dirname(at), { recursive: true })
  writeFileSync(at, '')
  return at
}

test.each([
  ['installed', 'usr/lib/spout/control-plane/main.js', 'usr/lib/spout/dashboard'],
  ['from sources', 'checkout/apps/control-plane/src/main.ts', 'checkout/build/dashboard'],
  ['from a bundle', 'checkout/build/bundles/apps-control-plane-src-main/0f3a/main.js', 'checkout/build/dashboard'],
])('%s, the page is found by the program', (_how, program, directory) => {
  const started = put(program)
  put(`${directory}/index.html`)
  expect(pageDirectory('', started)).toBe(path.join(root, directory))
})

test('a program that is started by a link finds what is beside its file', () => {
  const file = put('usr/lib/spout/control-plane/main.js')
  put('usr/lib/spout/dashboard/index.html')
  const link = path.join(root, 'started.js')
  symlinkSync(file, link)
  expect(pageDirectory('', link)).toBe(path.join(root, 'usr/lib/spout/dashboard'))
})

test('the setting goes before, whatever is there', () => {
  const program = put('usr/lib/spout/control-plane/main.js')
  put('usr/lib/spout/dashboard/index.html')
  expect(pageDirectory('/srv/page', program)).toBe('/srv/page')
})

test('without a page it is a directory that is not there', () => {
  expect(pageDirectory('', put('usr/lib/spout/control-plane/main.js'))).toBe(path.join(root, 'usr/lib/spout/dashboard'))
})
