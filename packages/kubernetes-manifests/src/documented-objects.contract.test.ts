import { customResourceDefinitions } from '@spout/custom-resources'
import { documentedYaml, KubernetesCluster, Lab, LONGEST_BUILD_MS, must, run } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installGatewayApi } from '../../intents/gateway/src/testing/install-gateway-api.fixture.ts'

/** Objects that the docs tell to apply, as the real API server reads them: with every field known and valid. */

let lab: Lab
let cluster: KubernetesCluster
beforeAll(async () => {
  lab = await Lab.create()
  cluster = await KubernetesCluster.start(lab)
  await installGatewayApi(cluster.api)
  for (const definition of customResourceDefinitions())
    await cluster.api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
}, LONGEST_BUILD_MS)
afterAll(async () => {
  await cluster?.destroy()
  await lab?.destroy()
})

/** Of cert-manager, whose definitions `cert-manager.e2e.test.ts` has. */
const OTHERS = /^kind: Issuer$/m
const isWhole = (text: string): boolean => /^kind: /m.test(text) && !OTHERS.test(text)
const PAGES = ['ingress', 'cert-manager', 'management-cluster', 'kubernetes', 'gateway-api', 'load-balancer-objects']
const OBJECTS = PAGES.flatMap((page) =>
  documentedYaml(`${page}.md`)
    .flatMap((block) => block.split(/^---$/m))
    .filter(isWhole)
    .map((text) => [page, /^kind: (\S+)/m.exec(text)?.[1] ?? '', text] as const),
)

test('pages have objects', () => {
  expect(new Set(OBJECTS.map(([page]) => page)).size).toBe(PAGES.length)
})

test.each(OBJECTS)('%s.md: %s is taken as written', async (_page, _kind, text) => {
  const [, namespace = 'default'] = /\bnamespace: ([a-z0-9-]+)/.exec(text) ?? []
  if (namespace !== 'default') {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    await must([...cluster.kubectl, 'apply', '--filename', '-'], { input })
  }
  const apply = ['apply', '--dry-run=server', '--validate=strict', '--filename', '-']
  const { code, stderr } = await run([...cluster.kubectl, ...apply], { input: text })
  expect([code, stderr]).toEqual([0, ''])
})
