import { readFileSync } from 'node:fs'
import path from 'node:path'
import { documented, LONGEST_BUILD_MS, must } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LoadBalancerBed, openLoadBalancerBed } from './testing/load-balancer-bed.fixture.ts'

/** Runs the commands of docs/load-balancer-objects.md. */

const PAGE = 'load-balancer-objects.md'
const ROOT = path.join(import.meta.dirname, '../../../..')
const page = readFileSync(path.join(ROOT, 'docs', PAGE), 'utf8')
/** A command of the page, with the output that the page shows. */
const shown = (command: string): readonly string[] => {
  const after = page.split(`\n$ ${command}\n`)[1]
  if (after === undefined) throw new Error(`the page has no ${command}`)
  return after.split('\n```')[0]!.split('\n')
}

let bed: LoadBalancerBed
beforeAll(async () => {
  bed = await openLoadBalancerBed()
  await bed.start()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())

test('the object of the page is applied, and kubectl shows it as the page does', async () => {
  const kubectl = (...args: readonly string[]) => [...bed.cluster.kubectl, ...args]
  for (const [, file = ''] of page.matchAll(/^\$ kubectl apply --filename (\S+)$/gm)) {
    const text = readFileSync(path.join(ROOT, file), 'utf8')
    // The page before this one creates the namespace of the account.
    if (text.includes('namespace: spout'))
      await bed.api.apply('/api/v1/namespaces/spout', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'spout' },
      })
    await must(kubectl('apply', '--server-side', '--force-conflicts', '--filename', path.join(ROOT, file)))
  }
  await bed.createService('web')
  await bed.slice('web-1', ['10.128.0.1', '10.128.0.2', '10.128.0.3', '10.128.0.4'], 'web')
  const object = documented(PAGE, 'kind: LoadBalancer').replace('namespace: default', 'namespace: shop')
  expect(await must(kubectl('apply', '--validate=strict', '--filename', '-'), { input: object })).toContain('created')
  await bed.when('shop', 'accepted', (said) => said['Accepted'] === 'True Accepted')
  const serving = { state: 'yes', reason: 'Serving', message: '', membersUp: 4, members: 4 } as const
  bed.confirm(bed.documentOf('shop')!, { serving })
  await bed.when('shop', 'programmed', (said) => said['Programmed'] === 'True Programmed')
  const words = (line = '') => line.split(/ +/).filter((word) => word !== '')
  const [header, row] = (await must(kubectl('get', 'lb', '--namespace', 'shop'))).split('\n')
  const [pageHeader, pageRow] = shown('kubectl get lb')
  expect(words(header)).toEqual(words(pageHeader))
  // The address and the age may differ.
  const fixed = (line: string | undefined) =>
    words(line).map((word, at) => (at === 1 ? word.replace(/\d+"/, '') : word))
  expect(fixed(row).slice(0, -1)).toEqual(fixed(pageRow).slice(0, -1))
})
