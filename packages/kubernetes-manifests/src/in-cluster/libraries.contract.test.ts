import { readFileSync } from 'node:fs'
import path from 'node:path'
import { execOk } from '@spout/sys'
import { expect, it } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../../../..')
/** What every Debian has: its package manager is made of them. */
const EVERYWHERE = ['libc6', 'libstdc++6', 'libgcc-s1']

/** The packages whose libraries a program is linked with. */
async function librariesOf(program: string): Promise<readonly string[]> {
  const files = [...(await execOk(['ldd', program])).matchAll(/^\s*(\S+\.so\S*) => /gm)].map(([, name]) => `*/${name}`)
  const owners = (await execOk(['dpkg', '--search', ...files])).matchAll(/^([^:]+):\S+: /gm)
  return [...new Set(Array.from(owners, ([, name = '']) => name))].filter((name) => !EVERYWHERE.includes(name))
}

it.each([
  ['docs/installing.md', /^# apt-get install (.*)$/gm],
  ['deploy/image/Dockerfile', /(?<=^FROM debian:12-slim\n(?:#.*\n)*)RUN apt-get update.*\\\n([^&]*)/gm],
])('%s installs the libraries of the pinned Node.js', async (page, pattern) => {
  const lists = [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(pattern)].map(([, list = '']) => list)
  const installed = lists.flatMap((list) => list.split(/[\s\\]+/))
  const libraries = await librariesOf(path.join(ROOT, 'node_modules/.bin/node'))
  expect(libraries).not.toEqual([])
  expect(installed).toEqual(expect.arrayContaining([...libraries]))
})
