import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { monitoringFiles } from './files.ts'

const DIRECTORY = path.join(import.meta.dirname, '../../../../deploy/monitoring')
const all = monitoringFiles()

it.each(Object.keys(all))('deploy/monitoring/%s is what the alerts and panels say', async (file) => {
  await expect(all[file]).toMatchFileSnapshot(path.join(DIRECTORY, file))
})

it('has no file that nothing generates', () => {
  expect(readdirSync(DIRECTORY).sort()).toEqual(Object.keys(all).sort())
})
