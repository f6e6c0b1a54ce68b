import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { manifests } from './manifests.ts'

const DIRECTORY = path.join(import.meta.dirname, '../../../deploy/kubernetes')
const all = manifests()

it.each(Object.keys(all))('deploy/kubernetes/%s is what the schemas and roles say', async (file) => {
  await expect(all[file]).toMatchFileSnapshot(path.join(DIRECTORY, file))
})

it('has no manifest that nothing generates', () => {
  const files = readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'))
  expect(files.sort()).toEqual(Object.keys(all).sort())
})
