import { KubernetesCluster, Lab, LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { installGatewayApi } from '../../../../../packages/intents/gateway/src/testing/install-gateway-api.fixture.ts'
import { NGINX_ANNOTATIONS } from '../../../../../packages/intents/ingress/src/ingress-nginx/registry.ts'
import { rule } from '../../../../../packages/intents/ingress/src/testing/objects.ts'
import { SERVED } from '../../../../../packages/intents/ingress/src/testing/served-annotations.ts'
import { printed } from '../../testing/printed.ts'

let lab: Lab
let cluster: KubernetesCluster
beforeAll(async () => {
  lab = await Lab.create()
  cluster = await KubernetesCluster.start(lab)
  await installGatewayApi(cluster.api)
}, LONGEST_BUILD_MS)
afterAll(async () => {
  await cluster?.destroy()
  await lab?.destroy()
})

const run = (...args: readonly string[]) =>
  printed('import', 'ingress-nginx', '--kubeconfig', cluster.kubeconfigFile, ...args)

const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/shop/ingresses'

test('a cluster with every annotation is told of each, and what is written of it, an API server takes', async () => {
  const { api } = cluster
  await api.create('/api/v1/namespaces', { metadata: { name: 'shop' } })
  await api.create('/apis/networking.k8s.io/v1/ingressclasses', {
    ...{ metadata: { name: 'nginx' }, spec: { controller: 'k8s.io/ingress-nginx' } },
  } as object)
  const names = [...NGINX_ANNOTATIONS.keys()]
  for (const [at, name] of names.entries()) {
    const given = SERVED[name] ?? 'on'
    const [value, beside] = typeof given === 'string' ? [given, {}] : given
    const annotations = Object.entries({ ...beside, [name]: value }).map(([key, one]) => [
      `nginx.ingress.kubernetes.io/${key}`,
      one,
    ])
    await api.create(INGRESSES, {
      metadata: { name: `i${at}`, namespace: 'shop', annotations: Object.fromEntries(annotations) },
      spec: { ingressClassName: 'nginx', rules: [rule(`h${at}.example / Prefix web`)] },
    } as object)
  }
  const report = await run('--dry-run')
  expect(report).toContain(`Ingresses: ${names.length}.`)
  for (const name of names) expect(report).toMatch(new RegExp(`^  (taken|differs|lost|refused) +${name}\\b`, 'm'))

  const objects = parseAllDocuments(await run('--gateway-api')).flatMap((one) => one.toJS() ?? [])
  expect(objects.length).toBeGreaterThan(50)
  for (const object of objects) {
    const plural = object.kind === 'Gateway' ? 'gateways' : 'httproutes'
    await api.apply(`/apis/${object.apiVersion}/namespaces/shop/${plural}/${object.metadata.name}`, object)
  }
  // The command only reads: nothing was changed.
  expect(await run()).toBe(report)
})
