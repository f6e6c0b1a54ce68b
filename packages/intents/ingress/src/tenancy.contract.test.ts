import { NamespaceReflector, NativeLoadBalancers } from '@spout/connector'
import type { Ingress, ObjectEvent } from '@spout/kube'
import { LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CLUSTER } from '../../../connector/src/testing/cluster-bed.fixture.ts'
import { KubeCluster } from './kubernetes/kube-cluster.ts'
import { IngressControllers } from './tenancy/ingress-controllers.ts'
import { type IngressBed, openIngressBed } from './testing/ingress-bed.fixture.ts'
import { rule } from './testing/objects.ts'

let bed: IngressBed
let otherId: string
const told: string[] = []

/** Namespace `shop` is of one project, `other` of another one, and `free` of none. */
beforeAll(async () => {
  bed = await openIngressBed()
  const { api, spout, project, sessionsOf } = bed
  await api.create('/api/v1/namespaces', { metadata: { name: 'free' } })
  otherId = (await spout.admission.createProject({ name: 'other', description: '' })).id
  await bed.run('ingress', async ({ transport, clock, log, slices, backends, certificatesOf }) => {
    const tell = ({ metadata }: Ingress, { reason, note }: ObjectEvent) =>
      told.push(`${metadata.namespace}/${metadata.name} ${reason} ${note}`)
    const cluster = new KubeCluster({
      ...{ transport, clock, log, namespace: null, slices, backends, knownIngresses: [], tell },
    })
    const namespaces = new NamespaceReflector({ transport, clock, log, labels: [] })
    const tenants = []
    for (const [name, projectId] of [
      ['shop', project.id],
      ['other', otherId],
    ] as const) {
      const sessions = await sessionsOf(projectId, `connector-${name}`)
      tenants.push({
        ...{ project: name, projectId, service: new NativeLoadBalancers(sessions), defaultPools: ['public'] },
        certificates: certificatesOf(sessions),
      })
    }
    const rules = ['shop', 'other'].map((name) => ({
      ...{ project: name, namespaces: [name], labels: null, isDefault: false },
    }))
    const controllers = new IngressControllers({
      ...{ cluster, namespaces, rules, tenants, clock, log, settings: { cluster: CLUSTER, namespaces: null } },
      tellUnowned: ({ metadata }, { reason }) => told.push(`${metadata.namespace}/${metadata.name} ${reason}`),
    })
    return { made: {}, parts: [cluster, controllers] }
  })
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())

const documentsOf = (projectId: string) => bed.spout.view.list('loadBalancer', { projectId })

test('an Ingress is of the project of its namespace, with its certificates; one of no project is left alone', async () => {
  await bed.secret('web-tls', 'a.example')
  for (const namespace of ['free', 'shop', 'other'])
    await bed.create('web', { tls: [{ secretName: 'web-tls' }], rules: [rule('a.example / Prefix web')] }, namespace)
  await bed.until('both projects', () => documentsOf(otherId).length === 1 && bed.certificates().length === 1)
  const [own] = await bed.until('HTTPS', () => {
    const all = documentsOf(bed.project.id)
    return all[0]?.listeners.length === 2 && all
  })
  expect(own?.name).toBe('shop/web')
  // There is no such Secret in its own namespace.
  expect(documentsOf(otherId)[0]).toMatchObject({ name: 'other/web', listeners: [{ protocol: 'http' }] })
  expect(bed.spout.view.list('certificate', { projectId: otherId })).toEqual([])
  expect(bed.spout.view.list('loadBalancer', {})).toHaveLength(2)
  await bed.until('the message', () => told.includes('free/web NoProject'))
  expect(told.filter((line) => line.startsWith('free/'))).toHaveLength(1)
  await bed.remove('web', 'other')
  await bed.until('its load balancer to go', () => documentsOf(otherId).length === 0)
  expect(documentsOf(bed.project.id)).toHaveLength(1)
})

test('a host below the domain of another project is not served, and says so; its other hosts are', async () => {
  await bed.spout.admission.changeProject(otherId, { domains: ['*.theirs.example'] })
  const rules = ['x.theirs.example', 'fine.example', '*.y.theirs.example'].map((host) => rule(`${host} / Prefix web`))
  for (const namespace of ['shop', 'other']) await bed.create('hosts', { rules }, namespace)
  const hostsOf = (projectId: string) =>
    documentsOf(projectId)
      .flatMap(({ listeners }) => listeners.flatMap(({ routes }) => routes.flatMap(({ conditions }) => conditions)))
      .flatMap((one) => (one.on === 'host' ? one.values : []))
  await bed.until('its other host', () => hostsOf(bed.project.id).includes('fine.example'))
  await bed.until('all hosts', () => hostsOf(otherId).includes('x.theirs.example'))
  expect(hostsOf(otherId)).toContain('y.theirs.example')
  expect(hostsOf(bed.project.id).filter((host) => host.endsWith('theirs.example'))).toEqual([])
  await bed.until('both events', () => told.filter((line) => line.includes('HostNotAllowed')).length >= 2)
  const reason = 'a domain of another project covers it.'
  expect(told.filter((line) => line.includes('HostNotAllowed')).toSorted()).toEqual([
    `shop/hosts HostNotAllowed spec.rules[0].host: "x.theirs.example" is not served: ${reason}`,
    `shop/hosts HostNotAllowed spec.rules[2].host: "*.y.theirs.example" is not served: ${reason}`,
  ])
})
