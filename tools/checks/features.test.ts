import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { LISTENER_PROTOCOLS } from '@spout/model'
import { expect, it } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../..')
const textOf = (pattern: string): string =>
  globSync(pattern, { cwd: ROOT, exclude: ['**/*.test.ts', '**/testing/**'] })
    .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
    .join('\n')
const featuresIn = (text: string): readonly string[] =>
  [...new Set([...text.matchAll(/['`](dsr|l[47]\.[a-z0-9.-]+)['`]/g)].map(([, feature]) => feature ?? ''))].sort()

/** The features that drivers offer. */
const OFFERED = featuresIn(textOf('packages/dataplane/src/drivers/*/{*-driver,features}.ts'))
/** The features that load balancers can need. A protocol is a feature by its own name. */
const NEEDED = new Set([
  ...featuresIn(textOf('{packages/plan/src/**,packages/model/src/**,packages/agent/src}/*.ts')),
  ...LISTENER_PROTOCOLS.flatMap((protocol) => [`l4.${protocol}`, `l7.${protocol}`]),
])

it('no driver offers a feature that no load balancer needs', () => {
  expect(OFFERED).toContain('l7.pool-tls')
  expect(OFFERED.filter((feature) => !NEEDED.has(feature))).toEqual([])
})

it('the page of drivers has every feature', () => {
  const page = readFileSync(path.join(ROOT, 'docs/drivers.md'), 'utf8')
  const byProtocol = new Set(LISTENER_PROTOCOLS.flatMap((protocol) => [`l4.${protocol}`, `l7.${protocol}`]))
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const shown = new Set(featuresIn(rows.join('\n')))
  expect(OFFERED.filter((feature) => !byProtocol.has(feature) && !shown.has(feature))).toEqual([])
})
