import { readFileSync } from 'node:fs'
import path from 'node:path'
import { LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import {
  type ConfigBed,
  condition,
  isReady,
  openConfigBed,
} from '../../../../../packages/intents/kubernetes-config/src/testing/config-bed.fixture.ts'
import { buildProgram } from '../../program.ts'

const TESTDATA = path.join(import.meta.dirname, '../../../../../packages/metallb-import/src/testdata')
const PLURALS = ['ipaddresspools', 'l2advertisements', 'bgppeers', 'bgpadvertisements', 'communities']

let bed: ConfigBed
beforeAll(async () => {
  bed = await openConfigBed()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())

async function run(...args: readonly string[]): Promise<{ readonly text: string; readonly error: string | null }> {
  let text = ''
  const write = (more: string) => {
    text += more
  }
  const program = buildProgram({ env: {}, colour: false, write, signal: new AbortController().signal })
  const error = await program.parseAsync(['import', ...args], { from: 'user' }).then(
    () => null,
    (reason: Error) => reason.message,
  )
  return { text, error }
}

/** A definition whose objects may have any fields. */
const definition = (kind: string, plural: string, version: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.metallb.io` },
  spec: {
    group: 'metallb.io',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    scope: 'Namespaced',
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
})

test('a MetalLB in a cluster becomes objects that are taken, and all that can be is made', async () => {
  const kubeconfig = ['metallb', '--kubeconfig', bed.cluster.kubeconfigFile]
  expect((await run(...kubeconfig)).text).toContain('0 objects, 0 notes')
  const file = readFileSync(path.join(TESTDATA, 'bgp.in.yaml'), 'utf8')
  const objects = parseAllDocuments(file).map((one) => one.toJS() as { apiVersion: string; kind: string })
  await bed.api.create('/api/v1/namespaces', { metadata: { name: 'metallb-system' } })
  const kinds = new Map(objects.map(({ kind, apiVersion }) => [kind, apiVersion]))
  // BFDProfile is not installed: the command reads a kind that the cluster does not know as an empty list.
  for (const [kind, apiVersion] of kinds) {
    const plural = PLURALS.find((one) => one.startsWith(kind.toLowerCase().replace(/y$/, '')))
    if (plural === undefined) continue
    const [, version = ''] = apiVersion.split('/')
    await bed.api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(kind, plural, version))
    const at = `/apis/${apiVersion}/namespaces/metallb-system/${plural}`
    await bed.until(`${kind} to be served`, () => bed.api.list(at).catch(() => null))
    for (const object of objects.filter((one) => one.kind === kind)) await bed.api.create(at, object)
  }

  const dry = await run(...kubeconfig)
  expect(dry.error).toBeNull()
  expect(dry.text).toContain('# From /apis/metallb.io/v1beta2/bgppeers, document 1, item ')
  // A cluster lists by name: `again` comes first and has the pools that `aggregate` is for.
  expect(dry.text).toContain('BGPAdvertisement aggregate: spec.ipAddressPools: no pool is left')
  const made = await bed.until('an answer', () => bed.api.list(bed.pathOf('AddressPool')).catch(() => null))
  expect(made?.items).toEqual([])

  const applied = await run(...kubeconfig, '--no-dry-run')
  expect(applied.error).toBeNull()
  expect(applied.text).toContain('# bgppeers.spout.dev/tor-a applied')
  bed.start()
  for (const name of ['public', 'public-v6', 'reserved']) await bed.when('AddressPool', name, 'ready', isReady)
  for (const name of ['metallb-bgp-64512', 'metallb-l2']) await bed.when('NodeGroup', name, 'ready', isReady)
  await bed.when('BgpPeer', 'tor-a', 'ready', isReady)
  await bed.when('BgpAdvertisement', 'again', 'ready', isReady)
  const waits = await bed.when('BgpPeer', 'tor-b', 'a result', (one) => condition(one) !== undefined)
  expect(condition(waits)).toMatchObject({
    reason: 'ReferenceNotFound',
    message: 'Field nodes[0]: node rack1-a not found',
  })

  // A second run changes nothing, and reports what was changed meanwhile.
  expect((await run(...kubeconfig, '--no-dry-run')).error).toBeNull()
  await bed.change('BgpPeer', 'tor-a', { holdTimeSeconds: 120 })
  const again = await run(...kubeconfig, '--no-dry-run')
  expect(again.error).toContain('objects were not applied')
  expect(again.text).toMatch(
    /# bgppeers\.spout\.dev\/tor-a REFUSED: another writer owns fields that differ: .*holdTimeSeconds/,
  )
})

test('Ingresses of ingress-nginx in a cluster are reported, and those of other controllers are not', async () => {
  const networking = '/apis/networking.k8s.io/v1'
  await bed.api.create('/api/v1/namespaces', { metadata: { name: 'shop' } })
  for (const [name, controller] of [
    ['nginx', 'k8s.io/ingress-nginx'],
    ['other', 'example.com/other'],
  ])
    await bed.api.create(`${networking}/ingressclasses`, { metadata: { name }, spec: { controller } } as object)
  await bed.api.create('/api/v1/namespaces/shop/services', {
    metadata: { name: 'web', namespace: 'shop' },
    spec: { ports: [{ port: 80 }] },
  } as object)
  const to = (number: number) => ({
    path: '/',
    pathType: 'Prefix',
    backend: { service: { name: 'web', port: { number } } },
  })
  for (const [name, ingressClassName, port] of [
    ['web', 'nginx', 80],
    ['wrong', 'nginx', 81],
    ['foreign', 'other', 80],
  ] as const)
    await bed.api.create(`${networking}/namespaces/shop/ingresses`, {
      metadata: { name, namespace: 'shop', annotations: { 'nginx.ingress.kubernetes.io/limit-rate': '5' } },
      spec: { ingressClassName, rules: [{ host: `${name}.example.com`, http: { paths: [to(port)] } }] },
    } as object)
  const { text, error } = await run('ingress-nginx', '--kubeconfig', bed.cluster.kubeconfigFile)
  expect(error).toBeNull()
  expect(text).toContain('Ingresses: 2. Addresses, one for each namespace and class: 1.')
  expect(text).toContain('shop/web, class nginx: served without something that they say')
  // The Service exists, but has no such port.
  expect(text).toContain('shop/wrong, class nginx: with paths that would answer 503')
  expect(text).not.toContain('foreign')
})
