import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Service } from '@spout/kube'
import { silentLogger } from '@spout/runtime'
import { KubernetesApiError, LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectorConfig } from '../../../apps/connector/src/config.ts'
import { startConnector } from '../../../apps/connector/src/connector.ts'
import {
  type ConfigBed,
  isReady,
  openConfigBed,
} from '../../intents/kubernetes-config/src/testing/config-bed.fixture.ts'
import { ACCESS, withoutReasons } from './rbac/manifests.ts'
import {
  CONFIG_RULES,
  CONNECTOR_GATEWAY_RULES,
  CONNECTOR_INGRESS_RULES,
  CONNECTOR_LEASE_RULES,
  CONNECTOR_LOAD_BALANCER_RULES,
  CONNECTOR_NAMESPACE_RULES,
  CONNECTOR_RULES,
} from './rbac/roles.ts'

let bed: ConfigBed
let directory: string
beforeAll(async () => {
  bed = await openConfigBed()
  directory = mkdtempSync(path.join(tmpdir(), 'spout-access-'))
  await bed.api.create('/api/v1/nodes', { metadata: { name: 'worker' } })
}, LONGEST_BUILD_MS)
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
  await bed?.close()
})

const ROLE = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'thief' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:serviceaccounts:spout' }],
}
const RULES = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
const POD = { metadata: { name: 'thief' }, spec: { containers: [{ name: 'a', image: 'a' }] } }
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const DEFAULT = '/api/v1/namespaces/default'

/** Of an installation in the cluster, which serves Ingresses and LoadBalancer objects, too. */
const OF_THE_CONNECTOR = [...CONNECTOR_RULES, ...CONNECTOR_INGRESS_RULES, ...CONNECTOR_LOAD_BALANCER_RULES]

/** What a thief of a token would try; none of it may be allowed to any account of ours. */
const NEVER: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', '/api/v1/secrets'],
  ['GET', `${DEFAULT}/secrets/any`],
  ['GET', '/api/v1/namespaces/spout/secrets'],
  ['POST', `${DEFAULT}/secrets`, { metadata: { name: 'thief' } }],
  ['GET', '/api/v1/configmaps'],
  ['POST', `${DEFAULT}/configmaps`, { metadata: { name: 'thief' } }],
  ['GET', '/api/v1/pods'],
  ['POST', `${DEFAULT}/pods`, POD],
  ['POST', '/api/v1/namespaces/spout/pods', POD],
  ['POST', `${DEFAULT}/pods/any/exec?command=sh`],
  ['GET', `${DEFAULT}/pods/any/log`],
  ['POST', '/apis/apps/v1/namespaces/spout/daemonsets', { metadata: { name: 'thief' } }],
  ['GET', '/apis/apps/v1/deployments'],
  ['PATCH', '/api/v1/nodes/worker', { metadata: { labels: { a: 'b' } } }],
  ['PATCH', '/api/v1/nodes/worker/status', { status: {} }],
  ['DELETE', '/api/v1/nodes/worker'],
  ['GET', '/api/v1/nodes/worker/proxy/metrics'],
  ['GET', '/api/v1/namespaces'],
  ['GET', '/api/v1/namespaces/default'],
  ['PATCH', '/api/v1/namespaces/kube-system', { metadata: { labels: { a: 'b' } } }],
  ['POST', `${DEFAULT}/services`, { metadata: { name: 'thief' }, spec: { ports: [{ port: 1 }] } }],
  ['DELETE', `${DEFAULT}/services/kubernetes`],
  ['PATCH', '/apis/networking.k8s.io/v1/namespaces/default/ingresses/any', {}],
  ['DELETE', '/apis/networking.k8s.io/v1/namespaces/default/ingresses/any'],
  ['PATCH', '/apis/networking.k8s.io/v1/ingressclasses/spout', {}],
  ['POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', { metadata: { name: 'thief' } }],
  ['GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'],
  ['POST', '/apis/coordination.k8s.io/v1/namespaces/default/leases', { metadata: { name: 'thief' } }],
  ['PUT', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager', {}],
  ['POST', `${RBAC}/clusterrolebindings`, ROLE],
  ['POST', `${RBAC}/clusterroles`, { metadata: { name: 'thief' }, rules: RULES }],
  ['PATCH', `${RBAC}/clusterroles/spout-config`, { rules: RULES }],
  ['PATCH', `${RBAC}/clusterroles/spout-connector`, { rules: RULES }],
  ['GET', `${RBAC}/clusterroles`],
  ['POST', '/api/v1/namespaces/spout/serviceaccounts/config/token', {}],
  ['POST', '/api/v1/namespaces/spout/serviceaccounts/connector/token', {}],
  ['POST', '/api/v1/namespaces/kube-system/serviceaccounts/default/token', {}],
  ['POST', '/api/v1/namespaces/spout/serviceaccounts', { metadata: { name: 'thief' } }],
  ['POST', '/apis/certificates.k8s.io/v1/certificatesigningrequests', { metadata: { name: 'thief' } }],
  ['PATCH', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/addresspools.spout.dev', { spec: {} }],
  ['DELETE', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/addresspools.spout.dev'],
  ['POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', { metadata: { name: 'thief' } }],
  ['POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {}],
  ['POST', '/apis/authentication.k8s.io/v1/tokenreviews', {}],
  ['POST', '/apis/spout.dev/v1alpha1/addresspools', { metadata: { name: 'thief' } }],
  ['DELETE', '/apis/spout.dev/v1alpha1/addresspools/any'],
  ['DELETE', '/apis/spout.dev/v1alpha1/bgppeers'],
  ['DELETE', '/apis/spout.dev/v1alpha1/tenantquotas/any'],
]
/** What is allowed to the other account. */
const OF_CONFIG: typeof NEVER = [
  ['GET', '/apis/spout.dev/v1alpha1/addresspools'],
  ['PATCH', '/apis/spout.dev/v1alpha1/bgppeers/any', {}],
  ['PATCH', '/apis/spout.dev/v1alpha1/bgppeers/any/status', {}],
  ['POST', '/apis/spout.dev/v1alpha1/observedloadbalancers', { metadata: { name: 'thief' } }],
]
const OF_CONNECTOR: typeof NEVER = [
  ['GET', '/api/v1/services'],
  ['GET', '/apis/discovery.k8s.io/v1/endpointslices'],
  ['GET', '/apis/networking.k8s.io/v1/ingresses'],
  ['PATCH', '/apis/networking.k8s.io/v1/namespaces/default/ingresses/any/status', {}],
  ['GET', '/apis/spout.dev/v1/loadbalancers'],
  ['PATCH', '/apis/spout.dev/v1/namespaces/default/loadbalancers/any/status', {}],
  ['PATCH', `${DEFAULT}/services/kubernetes`, { metadata: { labels: { a: 'b' } } }],
  ['PATCH', `${DEFAULT}/services/kubernetes/status`, { status: {} }],
  ['GET', '/apis/coordination.k8s.io/v1/namespaces/spout/leases/spout-connector'],
  ['POST', '/apis/coordination.k8s.io/v1/namespaces/spout/leases', { metadata: { name: 'thief' } }],
]

/** What the API server answered instead of "forbidden", by what was tried. */
async function allowed(token: string, tries: typeof NEVER): Promise<readonly string[]> {
  const thief = bed.as(token)
  const answers: string[] = []
  for (const [method, where, body] of tries) {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const answer = await thief.text(method, where, { ...(body === undefined ? {} : { body }), contentType }).then(
      () => 'done',
      (error: unknown) => (error instanceof KubernetesApiError ? String(error.status) : String(error)),
    )
    if (answer !== '403') answers.push(`${method} ${where}: ${answer}`)
  }
  thief.close()
  return answers
}

interface Rule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

/** What the API server says that the token may in a namespace, without what everybody may. */
async function rightsOf(token: string, namespace: string): Promise<readonly string[]> {
  const own = bed.as(token)
  const asked = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } }
  const answer = await own.create<object>('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', asked)
  own.close()
  const { resourceRules } = (answer as { status: { resourceRules: readonly Rule[] } }).status
  return textsOf(resourceRules.filter(({ resources = [] }) => !resources.every((one) => one.startsWith('selfsubject'))))
}

const textsOf = (rules: readonly Rule[]): readonly string[] =>
  rules
    .flatMap(({ apiGroups = [], resources = [], resourceNames = [], verbs }) =>
      resources.map((one) => `${apiGroups.join()}/${one} ${resourceNames.join()} ${[...verbs].sort().join()}`),
    )
    .sort()

describe('the account of the configuration loop', () => {
  test('can do the work', async () => {
    // The loop of the bed has no other token; its other test shows all of the work.
    const running = bed.start()
    await bed.create('AddressPool', 'public', { subnet: '192.0.2.0/24', addresses: [{ cidr: '192.0.2.128/25' }] })
    await bed.when('AddressPool', 'public', 'ready', isReady)
    const poolsOfSpout = () => bed.spout.view.list('addressPool').map(({ cidr }) => cidr)
    expect(poolsOfSpout()).toEqual(['192.0.2.0/24'])
    await bed.remove('AddressPool', 'public')
    await bed.gone('AddressPool', 'public')
    expect(poolsOfSpout()).toEqual([])
    expect(running.writes.length).toBeGreaterThan(0)
    await running.stop()
  })

  test('can do nothing else', async () => {
    const token = await bed.tokenOf('config')
    expect(await allowed(token, [...NEVER, ...OF_CONNECTOR])).toEqual([])
    for (const namespace of ['default', 'kube-system', 'spout'])
      expect(await rightsOf(token, namespace)).toEqual(textsOf(CONFIG_RULES))
  })
})

describe('the account of the connector', () => {
  test('can do the work: lease, address, finalizer, status, event, release', async () => {
    const token = await bed.tokenOf('connector')
    const file = (name: string, text: string) => {
      writeFileSync(path.join(directory, name), text, { mode: 0o600 })
      return path.join(directory, name)
    }
    const balancer = await bed.spout.login('connector', bed.project.id, 'balancer')
    const pool = await bed.spout.admission.createAddressPool({
      name: 'services',
      description: '',
      cidr: '198.51.100.0/24',
      ranges: [{ first: '198.51.100.1', last: '198.51.100.1' }],
      gatewayIp: null,
      projectIds: null,
      quarantineSeconds: 0,
    })
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'c', cluster: { server: bed.api.access.url, 'certificate-authority': bed.api.access.caFile } },
      ],
      users: [{ name: 'u', user: { tokenFile: file('cluster-token', token) } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'spout' } }],
      'current-context': 'c',
    }
    const config = connectorConfig.parse({
      spout: { endpoint: bed.endpoint, tokenFile: file('spout-token', balancer.token) },
      kubernetes: { kubeconfig: file('kubeconfig', JSON.stringify(kubeconfig)) },
      services: { addressPools: [pool.name] },
      http: { host: '127.0.0.1', port: 0 },
    })
    const lost: string[] = []
    const connector = await startConnector(config, {}, silentLogger(), (reason) => void lost.push(reason))
    const service = (name: string) =>
      bed.api.create<object>(`${DEFAULT}/services`, {
        metadata: { name },
        spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port: 80 }] },
      })
    const ipOf = async (name: string) =>
      (await bed.api.get<Service>(`${DEFAULT}/services/${name}`)).status?.loadBalancer?.ingress?.[0]?.ip
    try {
      await service('web')
      await bed.until('an address', () => ipOf('web'))
      await service('late')
      await bed.until('an event', async () => {
        const { items } = await bed.api.list<{ reason: string; metadata: { name: string; uid: string } }>(
          '/apis/events.k8s.io/v1/namespaces/default/events',
        )
        return items.some(({ reason }) => reason === 'AddressPoolExhausted')
      })
      await bed.api.delete(`${DEFAULT}/services/web`)
      await bed.until('the next in line', async () => (await ipOf('late')) === '198.51.100.1')
      await bed.api.delete(`${DEFAULT}/services/late`)
      await bed.until('it to be gone', async () => (await ipOf('late').catch(() => 'gone')) === 'gone')
      const lease = await bed.api.get<{ spec: { holderIdentity: string }; metadata: object }>(
        '/apis/coordination.k8s.io/v1/namespaces/spout/leases/spout-connector',
      )
      expect(lease.spec.holderIdentity).not.toBe('')
      expect(lost).toEqual([])
    } finally {
      await connector.stop()
    }
  })

  test('can do nothing else', async () => {
    const token = await bed.tokenOf('connector')
    expect(await allowed(token, [...NEVER, ...OF_CONFIG])).toEqual([])
    for (const namespace of ['default', 'kube-system'])
      expect(await rightsOf(token, namespace)).toEqual(textsOf(OF_THE_CONNECTOR))
    expect(await rightsOf(token, 'spout')).toEqual(textsOf([...OF_THE_CONNECTOR, ...CONNECTOR_LEASE_RULES]))
  })

  test('with the rights for rules by label it can read namespaces too, and still nothing else', async () => {
    const token = await bed.tokenOf('connector')
    for (const object of ACCESS['connector-namespaces-access'] ?? [])
      await bed.api.create<object>(`${RBAC}/${object.kind.toLowerCase()}s`, withoutReasons(object))
    await bed.until('the rights to be known', async () =>
      (await allowed(token, [['GET', '/api/v1/namespaces']])).includes('GET /api/v1/namespaces: done'),
    )
    const still = NEVER.filter(([method, where]) => !(method === 'GET' && where === '/api/v1/namespaces'))
    expect(await allowed(token, [...still, ...OF_CONFIG])).toEqual([])
    expect(await rightsOf(token, 'default')).toEqual(textsOf([...OF_THE_CONNECTOR, ...CONNECTOR_NAMESPACE_RULES]))
    await bed.api.delete(`${RBAC}/clusterrolebindings/spout-connector-namespaces`)
    await bed.until(
      'the rights to go',
      async () => (await allowed(token, [['GET', '/api/v1/namespaces']])).length === 0,
    )
  })

  test('with the rights for Gateways it can read Gateway API and write statuses, and still nothing else', async () => {
    const token = await bed.tokenOf('connector')
    for (const object of ACCESS['connector-gateways-access'] ?? [])
      await bed.api.create<object>(`${RBAC}/${object.kind.toLowerCase()}s`, withoutReasons(object))
    const gateways = '/apis/gateway.networking.k8s.io/v1'
    const routes = `${gateways}/namespaces/default/httproutes`
    const gained: typeof NEVER = [
      ['GET', `${gateways}/gateways`],
      ['GET', `${gateways}/httproutes`],
      ['PATCH', `${routes}/any/status`, {}],
    ]
    await bed.until('the rights to be known', async () => (await allowed(token, gained)).length === gained.length)
    const never: typeof NEVER = [
      ['POST', routes, { metadata: { name: 'thief' } }],
      ['PATCH', `${routes}/any`, {}],
      ['DELETE', `${routes}/any`],
      ['DELETE', `${gateways}/namespaces/default/gateways/any`],
      ['PATCH', `${gateways}/gatewayclasses/any`, {}],
      ['POST', `${gateways}/namespaces/default/referencegrants`, { metadata: { name: 'thief' } }],
    ]
    const still = NEVER.filter(([method, where]) => !(method === 'GET' && where === '/api/v1/namespaces'))
    expect(await allowed(token, [...still, ...never, ...OF_CONFIG])).toEqual([])
    expect(await rightsOf(token, 'default')).toEqual(textsOf([...OF_THE_CONNECTOR, ...CONNECTOR_GATEWAY_RULES]))
  })
})
