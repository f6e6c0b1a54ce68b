import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Secret } from '@spout/runtime'
import { SealingKeys } from '@spout/runtime/sealing-keys'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSealingKeys } from './sealing-keys.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-sealing-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

test('without a setting the first start makes a key that only root reads, and later ones use it', () => {
  const sealed = openSealingKeys(directory, { sealingKeysFile: '' }).seal('text', 'owner')
  expect(statSync(path.join(directory, 'sealing-keys')).mode & 0o777).toBe(0o600)
  expect(openSealingKeys(directory, { sealingKeysFile: '' }).open(sealed, 'owner')).toBe('text')
})

test('keys of a setting or of a file are used as they are, and none is made', () => {
  const text = SealingKeys.generate()
  const file = path.join(directory, 'mounted')
  writeFileSync(file, `${text}\n`)
  const sealed = openSealingKeys(directory, { sealingKeysFile: file }).seal('text', 'owner')
  const configured = openSealingKeys(directory, { sealingKeys: new Secret(text), sealingKeysFile: '' })
  expect(configured.open(sealed, 'owner')).toBe('text')
  expect(() => readFileSync(path.join(directory, 'sealing-keys'))).toThrow(/ENOENT/)
})

test('a wrong key is refused by the name of its setting, and not quoted', () => {
  const wrong = { sealingKeys: new Secret('0123canary'), sealingKeysFile: '' }
  expect(() => openSealingKeys(directory, wrong)).toThrow(/^certificates\.sealingKeys: sealing key 1 does not have 64/)
  expect(() => openSealingKeys(directory, wrong)).not.toThrow(/canary/)
  expect(() => openSealingKeys(directory, { sealingKeysFile: path.join(directory, 'absent') })).toThrow(/ENOENT/)
})
