import { readFileSync } from 'node:fs'
import path from 'node:path'
import { VERSION } from '@spout/runtime/version'
import { FORMATS } from '@spout/store/formats'
import { describe, expect, test } from 'vitest'
import { buildProgram } from '../../program.ts'
import { commandTable } from '../completion/command-table.ts'
import { type Assessment, assess, type Target } from './assess.ts'
import { assessmentText } from './assessment-text.ts'
import type { Installed, InstalledControlPlane, InstalledNode } from './installed.ts'
import { UPGRADES_FROM } from './promise.ts'
import { compareVersions } from './version-order.ts'

const formats: Target['formats'] = {
  sqlite: { engine: 'sqlite', version: 3, usableFrom: 2 },
  postgres: { engine: 'postgres', version: 1, usableFrom: 1 },
  kubernetes: { engine: 'kubernetes', version: 1, usableFrom: 1 },
}
const TARGET: Target = { version: '0.3.0', from: '0.2.0', formats }

const plane = (own: Partial<InstalledControlPlane> = {}): InstalledControlPlane => ({
  ...{ endpoint: 'https://spout.example:9130', version: '0.2.0', leads: true },
  ...{ store: { engine: 'sqlite', version: 2, usableFrom: 2 }, ...own },
})
const node = (name: string, own: Partial<InstalledNode> = {}): InstalledNode => ({
  ...{ name, version: '0.2.0', connection: 'connected', inSync: true, ...own },
})
const installed = (own: Partial<Installed> = {}): Installed => ({
  ...{ controlPlanes: [plane()], nodes: [node('node1'), node('node2')], connectors: [], ...own },
})
const assessed = (own: Partial<Installed> = {}, target = TARGET): Assessment => assess(installed(own), target)
const what = ({ steps }: Assessment) => steps.map((step) => step.what)

test('nodes are shown and upgraded by name, not as they were enrolled', () => {
  const { parts } = assessed({ nodes: ['node10', 'node2', 'node1'].map((name) => node(name)) })
  expect(parts.flatMap(({ kind, name }) => (kind === 'node' ? [name] : []))).toEqual(['node1', 'node2', 'node10'])
})

test('an upgrade is said as a whole', () => {
  const connectors = [{ userName: 'shop-cluster', projectId: 'p', version: '0.2.0' }]
  expect(
    assessmentText(assessed({ nodes: [node('node1'), node('node2', { version: '0.3.0' })], connectors }), false),
  ).toBe(`\
The upgrade to 0.3.0 may begin.

PART           NAME                        VERSION  STANDING
control plane  https://spout.example:9130  0.2.0    to be replaced
node           node1                       0.2.0    to be replaced
node           node2                       0.3.0    current
connector      shop-cluster                0.2.0    to be replaced

Steps, with packages (in a cluster: docs/upgrading.md):
  1. Back up the store. Nodes forward meanwhile.
       # systemctl stop spout-control-plane
       # tar -czf /root/spout-before-0.3.0.tar.gz -C /var/lib/spout .
       # systemctl start spout-control-plane
  2. Control plane https://spout.example:9130. Nodes forward meanwhile.
       # apt-get install ./spout_0.3.0_*.deb ./spout-control-plane_0.3.0_*.deb
       spout node list
  3. Node node1. Go on once it is connected and in sync.
       # apt-get install ./spout_0.3.0_*.deb ./spout-node_0.3.0_*.deb
       spout node show node1
  4. Connector shop-cluster.
       # apt-get install ./spout_0.3.0_*.deb ./spout-connector_0.3.0_*.deb

Meanwhile:
  Every mixture of the two versions forwards, checks members and takes changes.
  What only the newer version can do works once the nodes that carry it are of that version; until then the load balancer says so.
  A control plane of the older version ignores fields that only the newer one knows, and drops them from objects that it changes.

The way back:
  The first control plane of 0.3.0 migrates the store (sqlite, schema version 2) to version 3; programs of version 2 can go on with it.
  Programs go back in any order, one after the other, by the same commands with the older files (apt-get install --allow-downgrades).
  First remove settings that only the newer version knows: the older one refuses to start and names them.

Not promised:
  To skip a release, forward or back.
  To run a mixture for longer than an upgrade takes, or of three versions.
`)
})

test('nothing is due where everything is of the target', () => {
  const version = '0.3.0'
  const store = formats.sqlite
  const all = assessed({ controlPlanes: [plane({ version, store })], nodes: [node('node1', { version })] })
  expect(all).toMatchObject({ state: 'current', steps: [], mixed: [], obstacles: [] })
  expect(assessmentText(all, false)).toContain('Everything is of version 0.3.0.\n')
  expect(all.back[0]).toBe('The store stays as it is (sqlite, schema version 3).')
})

describe('in the way', () => {
  const blocked = (own: Partial<Installed>, target = TARGET) => {
    const { state, obstacles } = assessed(own, target)
    expect(state).toBe('blocked')
    return obstacles.map(({ about, message, fix }) => `${about}: ${message} -> ${fix}`)
  }

  test.each<[string, Partial<Installed>, string]>([
    [
      'a release would be skipped',
      { nodes: [node('node1', { version: '0.1.9' })] },
      'Node node1: It is of 0.1.9, and 0.3.0 takes over from 0.2.0 or later. -> upgrade it to 0.2.0 first',
    ],
    [
      'a part is newer than the command',
      { controlPlanes: [plane({ version: '0.4.0' })] },
      'Control plane https://spout.example:9130: It is of 0.4.0, newer than this command, which knows nothing of that version. -> ask with the command of 0.4.0; it says whether the way back to 0.3.0 is open',
    ],
    [
      'an agent names no version',
      { nodes: [node('node1', { version: null })] },
      'Node node1: It reports no version: it is older than the first release, and nothing is promised of it. -> upgrade it to 0.2.0 first, where nobody needs it',
    ],
    [
      'a node is silent, whatever its version was',
      { nodes: [node('node1', { version: null, connection: 'disconnected' })] },
      'Node node1: It does not report, so the others may carry its load balancers alone. -> bring it back (docs/runbook.md, "A node is disconnected"), or remove it: spout node delete node1',
    ],
    [
      'a node lags behind',
      { nodes: [node('node1', { inSync: false })] },
      'Node node1: It has not confirmed the newest changes. -> wait until it has; spout node list shows it',
    ],
    [
      'a newer program left a store that this one refuses',
      { controlPlanes: [plane({ store: { engine: 'sqlite', version: 5, usableFrom: 4 } })] },
      'Store: It has schema version 5; a control plane of 0.3.0 knows up to 3 and refuses it. -> restore the backup from before the upgrade, or stay with the newer version',
    ],
    [
      'the leader was not asked',
      { controlPlanes: [plane({ leads: false })] },
      'Control plane: None of those that were asked leads. -> name all of them: --control-planes URL,URL',
    ],
  ])('%s', (_, own, said) => {
    expect(blocked(own)).toEqual([said])
  })

  test('a store that a newer program only added to is not', () => {
    const store = { engine: 'sqlite', version: 5, usableFrom: 3 } as const
    expect(assessed({ controlPlanes: [plane({ store })] }).state).toBe('ready')
  })
})

test('a node that never reported is neither in the way nor a step', () => {
  const never = assessed({ nodes: [node('new', { version: null, connection: 'never', inSync: false })] })
  expect(never.state).toBe('ready')
  expect(what(never).join()).not.toContain('new')
})

test('of several control planes the leader is last, and PostgreSQL is dumped', () => {
  const store = formats.postgres
  const controlPlanes = [plane({ endpoint: 'http://a', store }), plane({ endpoint: 'http://b', store, leads: false })]
  const all = assessed({ controlPlanes })
  expect(all.steps[0]?.commands).toEqual(['pg_dump --format=custom --file=spout-before-0.3.0.dump spout'])
  expect(what(all).slice(1, 3)).toEqual([
    'Control plane http://b. Nodes forward meanwhile.',
    'Control plane http://a, which leads. Nodes forward meanwhile.',
  ])
})

test('where a migration cannot be ignored, only the backup leads back', () => {
  const target = {
    ...TARGET,
    formats: { ...formats, sqlite: { engine: 'sqlite', version: 3, usableFrom: 3 } as const },
  }
  expect(assessed({}, target).back[0]).toBe(
    'The first control plane of 0.3.0 migrates the store (sqlite, schema version 2) to version 3; programs of version 2 refuse it then: only the backup leads back.',
  )
})

test('names of others cannot move the cursor', () => {
  const connectors = [{ userName: 'a\u001b[2Jb', projectId: null, version: '0.2.0' }]
  expect(assessmentText(assessed({ connectors }), false)).not.toContain('\u001b')
})

test('this version takes over from a release before it, if there is one', () => {
  expect(compareVersions(UPGRADES_FROM, VERSION)).toBeLessThanOrEqual(0)
  const changelog = readFileSync(path.resolve(import.meta.dirname, '../../../../../CHANGELOG.md'), 'utf8')
  const released = [...changelog.matchAll(/^## (\d+\.\d+\.\d+\S*) \(/gm)].map(([, version = '']) => version)
  if (released.some((version) => (compareVersions(version, VERSION) ?? 0) < 0))
    expect(released).toContain(UPGRADES_FROM)
  else expect(UPGRADES_FROM).toBe(VERSION)
  for (const { version, usableFrom } of Object.values(FORMATS)) expect(usableFrom).toBeLessThanOrEqual(version)
})

test('every command of spout that it names is one, with its flags', () => {
  const ignored = { env: {}, colour: false, write: () => {}, signal: new AbortController().signal }
  const rows = commandTable(buildProgram(ignored))
  const sources = ['assess.ts', 'steps.ts'].map((file) => readFileSync(path.join(import.meta.dirname, file), 'utf8'))
  const named = sources.join('\n').match(/spout node [a-z]+/g) ?? []
  expect(named.length).toBeGreaterThan(3)
  for (const text of named) expect(rows.map((row) => `spout ${row.path}`)).toContain(text)
})
