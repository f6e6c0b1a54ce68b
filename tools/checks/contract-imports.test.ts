import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../..')

/** Tests and their helpers combine the real classes. */
const isTest = (file: string): boolean => /\.test\.ts$|\/testing\//.test(file)

it('surfaces and controllers know the contract of admission, never the classes behind it', () => {
  const files = globSync('packages/{controllers,server,intents/*}/src/**/*.ts', { cwd: ROOT }).filter((f) => !isTest(f))
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => readFileSync(path.join(ROOT, file), 'utf8').includes("'@spout/admission'"))).toEqual([])
})
