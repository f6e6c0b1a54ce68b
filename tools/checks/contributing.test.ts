import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { CONFIGURATION_DRAFTS } from '@spout/custom-resources'
import { ANNOUNCER_NAMES, CHECK_TYPES } from '@spout/model'
import { describe, expect, it, test } from 'vitest'

// CONTRIBUTING.md says where a new part is registered. The compiler demands some of these places; this test demands the
// rest.

const ROOT = path.resolve(import.meta.dirname, '../..')
const textOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')
const foldersOf = (folder: string): readonly string[] =>
  globSync('*/', { cwd: path.join(ROOT, folder) }).map((name) => name.replace(/\/$/, ''))

describe.each(foldersOf('packages/dataplane/src/drivers'))('driver %s', (name) => {
  const exported = new RegExp(String.raw`(\w+Driver)\b[^\n]* from './drivers/${name}/`).exec(
    textOf('packages/dataplane/src/index.ts'),
  )?.[1]

  it('is built by the agent', () => {
    expect(textOf('apps/agent/src/data-plane.ts')).toContain(`new ${exported}(`)
  })
  it('has a row in the test matrix', () => {
    expect(textOf('packages/dataplane/src/drivers/drivers.lab.test.ts')).toContain(`describeDriver('${name}'`)
  })
  it('has a row in the page of drivers', () => {
    expect(textOf('docs/drivers.md')).toMatch(new RegExp(String.raw`^\| ${name} \|`, 'm'))
  })
})

describe.each(ANNOUNCER_NAMES)('announcer %s', (name) => {
  const exported = new RegExp(String.raw`(\w+Announcer)\b[^\n]* from './announcers/${name}/`).exec(
    textOf('packages/dataplane/src/index.ts'),
  )?.[1]

  it('has a folder with a README', () => {
    expect(textOf(`packages/dataplane/src/announcers/${name}/README.md`)).toMatch(/^# /)
  })
  it('is built by the agent', () => {
    expect(textOf('apps/agent/src/data-plane.ts')).toContain(`new ${exported}(`)
  })
  it('has a row in the test matrix', () => {
    expect(textOf('packages/dataplane/src/announcers/announcers.lab.test.ts')).toContain(`describeAnnouncer('${name}'`)
  })
  it('has a column in the page of announcers, and a row in that of drivers', () => {
    expect(textOf('docs/announcing.md')).toMatch(new RegExp(String.raw`^\| \|.* \`${name}\` `, 'm'))
    expect(textOf('docs/drivers.md')).toMatch(
      new RegExp(String.raw`^\| ${name} \|.*announcers/${name}/README\.md`, 'm'),
    )
  })
})

test.each(CHECK_TYPES)('what a check of type %s finds is told to users and in its README', (type) => {
  expect(textOf('docs/native-api.md')).toMatch(new RegExp(String.raw`^\| \`${type}\` \|`, 'm'))
  expect(textOf('packages/dataplane/src/checks/README.md')).toContain(`\`${type}.ts\``)
})

describe.each(CONFIGURATION_DRAFTS.map(({ kind, plural }) => ({ kind, plural })))('kind $kind of a cluster', (of) => {
  it('has a row in the README of its intent', () => {
    expect(textOf('packages/intents/kubernetes-config/README.md')).toContain(`\n| \`${of.kind}\` | `)
  })
  it('is among those that are deleted before Spout is', () => {
    const [, plurals = ''] = /kubectl delete (\S+) --all/.exec(textOf('docs/kubernetes-in-cluster.md')) ?? []
    expect(plurals.split(',')).toContain(of.plural)
  })
  it('is created, and refused, by the real API server in tests', () => {
    for (const test of ['admission', 'loop'])
      expect(textOf(`packages/intents/kubernetes-config/src/${test}.contract.test.ts`)).toContain(`'${of.kind}'`)
  })
})

test.each(foldersOf('packages/intents'))('intent %s is part of a program', (name) => {
  const programs = globSync('apps/*/package.json', { cwd: ROOT })
  expect(programs.filter((program) => textOf(program).includes(`"@spout/intent-${name}"`))).not.toEqual([])
})

test('every folder that CONTRIBUTING says parts go into is there', () => {
  const named = [...textOf('CONTRIBUTING.md').matchAll(/^\| `([^`<]+\/)<\w+>/gm)].map(([, folder]) => folder ?? '')
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((folder) => globSync(folder, { cwd: ROOT }).length === 0)).toEqual([])
})

describe.each(foldersOf('packages/intents'))('intent %s', (name) => {
  it('has a README, and is started by the control plane or the connector', () => {
    expect(textOf(`packages/intents/${name}/README.md`)).toMatch(/^# \S/)
    const composed = globSync('apps/{control-plane,connector}/src/**/*.ts', { cwd: ROOT }).map(textOf).join('\n')
    expect(composed).toMatch(new RegExp(`from '@spout/intent-${name}'`))
  })
})

/** The command line has `--watch` and `doctor` instead. */
const FOR_PAGES = new Set(['/events', '/problems'])

test('every collection of the API can be reached from the command line', () => {
  const { paths } = JSON.parse(textOf('docs/reference/openapi.json')) as { paths: Record<string, object> }
  const commands = globSync('apps/cli/src/{resources,commands}/**/*.ts', { cwd: ROOT }).map(textOf).join('\n')
  const collections = Object.keys(paths).filter(
    (at) => /^\/[a-z-]+$/.test(at) && 'get' in (paths[at] ?? {}) && !FOR_PAGES.has(at),
  )
  expect(collections).toContain('/load-balancers')
  // The web page's own: a command has a token.
  expect(collections).toContain('/session')
  expect(collections.filter((at) => at !== '/session' && !new RegExp(`['\`]${at}\\b`).test(commands))).toEqual([])
})
