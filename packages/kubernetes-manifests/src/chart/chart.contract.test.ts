import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureHelm, KubernetesCluster, Lab, LONGEST_BUILD_MS, must, run, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { agentConfig } from '../../../../apps/agent/src/config.ts'
import { connectorConfig } from '../../../../apps/connector/src/config.ts'
import { controlPlaneConfig } from '../../../../apps/control-plane/src/config.ts'
import { CONTROL_PLANE_HOST } from '../in-cluster/names.ts'
import type { KubernetesObject } from '../in-cluster/pod.ts'
import { NAMESPACE } from '../namespace.ts'

/** The chart by the real Helm, and as the real API server takes it. No pod runs here: `in-cluster.e2e.test.ts`. */

const DEPLOY = path.join(import.meta.dirname, '../../../../deploy')
const CHART = path.join(DEPLOY, 'chart/spout')
const KUBE_VERSION = ['--kube-version', '1.36.0']

/** Killed in its midst, Helm would leave a release that nothing can change. */
const LONGEST_MS = 300_000

let helmProgram: string
let directory: string
beforeAll(async () => {
  helmProgram = await ensureHelm()
  directory = mkdtempSync(path.join(tmpdir(), 'spout-helm-'))
}, LONGEST_BUILD_MS)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const argvOf = (words: readonly string[]): readonly string[] => [helmProgram, ...words]
const environment = () => ({ HELM_CACHE_HOME: directory, HELM_CONFIG_HOME: directory, HELM_DATA_HOME: directory })
const helm = (...words: readonly string[]) => must(argvOf(words), { env: environment(), timeoutMs: LONGEST_MS })
/** What Helm says when it refuses. */
async function refusal(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(argvOf(words), { env: environment(), timeoutMs: LONGEST_MS })
  expect(code, stdout).not.toBe(0)
  return stderr
}

type Found = KubernetesObject & { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }
const objectsOf = (text: string): readonly Found[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Found | null)
    .filter((object) => object !== null)
const keyOf = ({ kind, metadata }: Found): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
const byKey = (objects: readonly Found[]) => new Map(objects.map((object) => [keyOf(object), object]))

/** Annotations that the chart adds, and the text of settings apart from its form. */
const ADDED = ['spout.dev/settings', 'helm.sh/resource-policy']
const comparable = (object: Found): unknown =>
  JSON.parse(
    JSON.stringify(
      object.kind === 'ConfigMap' && object.data !== undefined
        ? { ...object, data: Object.fromEntries(Object.entries(object.data).map(([key, text]) => [key, parse(text)])) }
        : object,
      (key, value: unknown) => {
        if (key !== 'annotations') return value
        const rest = Object.entries(value as object).filter(([name]) => !ADDED.includes(name))
        return rest.length === 0 ? undefined : Object.fromEntries(rest)
      },
    ),
  )

const rendered = async (...words: readonly string[]) =>
  objectsOf(await helm('template', 'spout', CHART, '--namespace', NAMESPACE, ...KUBE_VERSION, ...words))
const file = (name: string): string => readFileSync(path.join(DEPLOY, 'kubernetes', name), 'utf8')

describe('helm template', () => {
  it('with the store in the cluster has the objects of control-plane-store.yaml too, and no claim', async () => {
    const found = byKey(await rendered('--set', 'store.kind=cluster'))
    for (const object of objectsOf(file('control-plane-store.yaml')))
      expect(comparable(found.get(keyOf(object))!)).toEqual(comparable(object))
    expect([...found.keys()].filter((key) => key.startsWith('PersistentVolumeClaim'))).toEqual([])
    const settings = found.get('ConfigMap spout/control-plane')?.data?.['control-plane.yaml'] ?? ''
    expect(parse(settings)).toMatchObject({
      store: { engine: 'kubernetes', kubernetes: { keysSecret: 'control-plane-keys' } },
      kubernetes: { enabled: true },
    })
  })

  it('with several control planes each has a name that stays, and agents and connectors know all', async () => {
    const found = byKey(await rendered('--set', 'store.kind=cluster,controlPlane.replicas=3'))
    const text = (program: string) => parse(found.get(`ConfigMap spout/${program}`)?.data?.[`${program}.yaml`] ?? '')
    const hosts = [0, 1, 2].map((number) => `control-plane-${number}.spout.svc`)
    // The common name outlives a change of their number.
    const asked = [...hosts, CONTROL_PLANE_HOST]
    const { server } = agentConfig.parse(text('agent'))
    expect([server.url, ...server.others]).toEqual(asked.map((host) => `https://${host}:9131`))
    for (const program of ['connector', 'configuration'])
      expect(connectorConfig.parse(text(program)).spout.endpoint).toEqual(asked.map((host) => `https://${host}:9130`))
    const { agentLink, peers } = controlPlaneConfig.parse(text('control-plane'))
    expect(agentLink.names).toEqual(expect.arrayContaining([...hosts, CONTROL_PLANE_HOST]))
    expect(peers).toEqual({ url: '', host: '::', port: 9133 })
    expect(found.has('Deployment spout/control-plane')).toBe(false)
    const { spec } = found.get('StatefulSet spout/control-plane') as { spec: object }
    expect(spec).toMatchObject({
      replicas: 3,
      podManagementPolicy: 'Parallel',
      template: {
        spec: {
          topologySpreadConstraints: [{ topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' }],
          containers: [
            {
              lifecycle: { preStop: { sleep: { seconds: 3 } } },
              env: expect.arrayContaining([
                { name: 'SPOUT_PEERS_URL', value: 'https://$(POD_NAME).spout.svc:9133' },
                { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
              ]),
            },
          ],
        },
      },
    })
    expect(spec).not.toHaveProperty('strategy')
    for (const number of [0, 1, 2])
      expect(found.get(`Service spout/control-plane-${number}`)?.spec).toMatchObject({
        selector: { 'statefulset.kubernetes.io/pod-name': `control-plane-${number}` },
        publishNotReadyAddresses: true,
        ports: [{ port: 9130 }, { port: 9131 }, { port: 9133 }],
      })
    expect(found.get('PodDisruptionBudget spout/control-plane')?.spec).toMatchObject({ maxUnavailable: 1 })
  })

  it('prints the objects of spout.yaml, but for the namespace, which Helm makes', async () => {
    const expected = byKey(objectsOf(file('spout.yaml')).filter(({ kind }) => kind !== 'Namespace'))
    const found = byKey(await rendered())
    expect([...found.keys()].sort()).toEqual([...expected.keys()].sort())
    for (const [key, object] of found) expect(comparable(object), key).toEqual(comparable(expected.get(key) as Found))
  })

  it('in another namespace, nothing names ours', async () => {
    const text = await helm('template', 'lb', CHART, '--namespace', 'edge', ...KUBE_VERSION)
    const elsewhere = file('spout.yaml')
      .replaceAll(/(?<=\bnamespace: )spout$/gm, 'edge')
      .replaceAll(CONTROL_PLANE_HOST, CONTROL_PLANE_HOST.replace(NAMESPACE, 'edge'))
      .replaceAll(/(?<= )spout\/(?=[a-z])/g, 'edge/')
    const expected = byKey(objectsOf(elsewhere).filter(({ kind }) => kind !== 'Namespace'))
    for (const object of objectsOf(text))
      expect(comparable(object)).toEqual(comparable(expected.get(keyOf(object)) as Found))
  })

  it('with Gateway API has the rights of connector-gateways-access.yaml too', async () => {
    const found = byKey(await rendered('--set', 'gatewayApi=true'))
    for (const object of objectsOf(file('connector-gateways-access.yaml')))
      expect(found.get(keyOf(object))).toEqual(object)
  })

  it('puts values where they belong', async () => {
    const values = [
      'image=registry.example.net/spout:2,imagePullSecrets[0].name=registry',
      'announcer=bgp,localAs=4200000000,managementCidrs={192.0.2.0/24},fabricCidrs={198.51.100.0/24}',
      'shares.packetsPerProcessor=1000000,agent.nodeSelector.edge=yes,fabricReaches=198.51.100.1',
      'links[0].cidr=100.64.0.0/20,links[0].router=100.64.0.1,store.volume.storageClassName=fast',
    ]
    const found = byKey(await rendered(...values.flatMap((each) => ['--set', each])))
    const settings = (program: string) =>
      parse(found.get(`ConfigMap spout/${program}`)?.data?.[`${program}.yaml`] ?? '')
    expect(settings('control-plane')).toMatchObject({
      network: { managementCidrs: ['192.0.2.0/24'], fabricCidrs: ['198.51.100.0/24'] },
      nodes: { announcer: 'bgp', localAs: 4_200_000_000 },
      kubernetes: { network: { links: [{ cidr: '100.64.0.0/20', router: '100.64.0.1' }] } },
    })
    expect(settings('connector')).toMatchObject({ network: { routers: ['100.64.0.1'] } })
    expect(settings('agent')).toMatchObject({
      fabric: { interface: '', reaches: '198.51.100.1' },
      protectedCidrs: ['192.0.2.0/24'],
      shares: { packetsPerProcessor: 1_000_000 },
    })
    expect(found.get('DaemonSet spout/agent')?.spec).toMatchObject({
      template: {
        spec: {
          nodeSelector: { 'kubernetes.io/os': 'linux', edge: 'yes' },
          imagePullSecrets: [{ name: 'registry' }],
          containers: [{ image: 'registry.example.net/spout:2' }],
        },
      },
    })
    expect(found.get('PersistentVolumeClaim spout/control-plane')?.spec).toMatchObject({ storageClassName: 'fast' })
  })

  it('with monitoring has the alerts and the dashboard as they are', async () => {
    const kinds = ['podMonitor', 'prometheusRule', 'dashboard'].map((kind) => `monitoring.${kind}.enabled=true`)
    const labels = 'monitoring.prometheusRule.labels.release=prometheus'
    const found = byKey(await rendered('--set', [...kinds, labels].join()))
    const published = (name: string) => readFileSync(path.join(DEPLOY, 'monitoring', name), 'utf8')
    const rule = found.get('PrometheusRule spout/spout')
    expect(rule?.spec).toEqual(parse(published('alerts.yaml')))
    expect(rule?.metadata.labels).toEqual({ 'app.kubernetes.io/name': 'spout', release: 'prometheus' })
    const dashboard = found.get('ConfigMap spout/dashboard')
    expect(JSON.parse(dashboard?.data?.['dashboard.json'] ?? '')).toEqual(JSON.parse(published('dashboard.json')))
    expect(dashboard?.metadata.labels).toMatchObject({ grafana_dashboard: '1' })
    expect(found.get('PodMonitor spout/spout')?.spec).toMatchObject({
      selector: { matchLabels: { 'app.kubernetes.io/name': 'spout' } },
      podMetricsEndpoints: [{ port: 'status' }],
    })
  })

  it('keeps the store where the values say', async () => {
    const volume = async (...values: readonly string[]) => {
      const found = byKey(await rendered(...values.flatMap((each) => ['--set', each])))
      const { spec } = found.get('Deployment spout/control-plane') ?? {}
      const { volumes } = (spec as { template: { spec: { volumes: readonly { name: string }[] } } }).template.spec
      return [volumes.filter(({ name }) => name === 'state'), found.has('PersistentVolumeClaim spout/control-plane')]
    }
    expect(await volume('store.kind=cluster')).toEqual([[{ name: 'state', emptyDir: {} }], false])
    expect(await volume('store.volume.enabled=false')).toEqual([[{ name: 'state', emptyDir: {} }], false])
    expect(await volume('store.volume.existingClaim=mine')).toEqual([
      [{ name: 'state', persistentVolumeClaim: { claimName: 'mine' } }],
      false,
    ])
  })
})

it('helm lint finds nothing', async () => {
  const said = await helm('lint', '--strict', CHART, ...KUBE_VERSION)
  expect(said).toContain('0 chart(s) failed')
  expect(said).not.toMatch(/\[(WARNING|ERROR)\]/)
})

/** A value, and what the refusal says. */
const WRONG = [
  ['imge=spout:2', 'imge'],
  ['announcer=ospf', '/announcer'],
  ['announcer=bgp', 'localAs: announcer bgp needs'],
  ['fabricInterface=eth1,fabricReaches=192.0.2.1', 'fabricReaches: is not used while fabricInterface'],
  ['fabricReaches=router', '/fabricReaches'],
  ['checks.ownShare=300', 'checks.ownShare: is more than'],
  ['shares.packetsPerProcessor=many', '/shares/packetsPerProcessor'],
  ['agent.tolerations[0].effect=Never', '/agent/tolerations/0/effect'],
  ['managementCidrs={10.0.0.0}', '/managementCidrs/0'],
  ['store.volume.size=lots', '/store/volume/size'],
  ['store.kind=etcd', '/store/kind'],
  ['controlPlane.replicas=2', 'controlPlane.replicas: more than one needs store.kind cluster'],
  ['controlPlane.replicas=0', '/controlPlane/replicas'],
  ['store.kind=cluster,store.volume.existingClaim=mine', 'store.volume.existingClaim: is not used'],
  ['monitoring.podMonitor.enabled=true', 'no matches for kind "PodMonitor"'],
] as const

describe('on the API server', { timeout: 4 * LONGEST_MS }, () => {
  let lab: Lab
  let cluster: KubernetesCluster
  beforeAll(async () => {
    lab = await Lab.create()
    cluster = await KubernetesCluster.start(lab)
  }, LONGEST_BUILD_MS)
  afterAll(async () => {
    await cluster?.destroy()
    await lab?.destroy()
  })
  const onCluster = () => ['--kubeconfig', cluster.kubeconfigFile, '--namespace', NAMESPACE]
  const names = async (kinds: string) =>
    (await must([...cluster.kubectl, 'get', kinds, '--namespace', NAMESPACE, '--output', 'name'])).trim().split('\n')
  const generations = async () =>
    Object.fromEntries(
      (
        await must([
          ...[...cluster.kubectl, 'get', 'deployments,daemonsets', '--namespace', NAMESPACE, '--output'],
          'jsonpath={range .items[*]}{.metadata.name} {.metadata.generation}{"\\n"}{end}',
        ])
      )
        .trim()
        .split('\n')
        .map((line) => line.split(' ')),
    ) as Readonly<Record<string, string>>
  const rolled = async (change: () => Promise<unknown>): Promise<readonly string[]> => {
    const before = await generations()
    await change()
    const after = await generations()
    return Object.keys(after)
      .filter((name) => after[name] !== before[name])
      .sort()
  }
  const revision = async () =>
    (JSON.parse(await helm('status', 'spout', '--output', 'json', ...onCluster())) as { version: number }).version
  const upgrade = (...values: readonly string[]) =>
    helm('upgrade', 'spout', CHART, ...onCluster(), ...values.flatMap((each) => ['--set', each]))

  it('is installed by one command, which says what to do next', async () => {
    const said = await helm('install', 'spout', CHART, ...onCluster(), '--create-namespace')
    expect(said).toContain('kind: AddressPool')
    expect(said).toContain('status-token')
    expect(Object.keys(await generations()).sort()).toEqual(['agent', 'configuration', 'connector', 'control-plane'])
    expect(await names('crds')).toContain('customresourcedefinition.apiextensions.k8s.io/addresspools.spout.dev')
  })

  it('an upgrade replaces only pods whose settings changed, and leaves the authority alone', async () => {
    const patch = JSON.stringify({ data: { 'ca.crt': 'authority' } })
    await must([...cluster.kubectl, 'patch', 'configmap', 'authority', '--namespace', NAMESPACE, '--patch', patch])
    expect(await rolled(() => upgrade('gatewayApi=true'))).toEqual([])
    const changed = () => upgrade('gatewayApi=true', 'managementCidrs={192.0.2.0/24}')
    expect(await rolled(changed)).toEqual(['agent', 'control-plane'])
    const kept = await must([
      ...[...cluster.kubectl, 'get', 'configmap', 'authority', '--namespace', NAMESPACE],
      ...['--output', 'jsonpath={.data.ca\\.crt}'],
    ])
    expect(kept).toBe('authority')
  })

  it('wrong values are refused by name, and nothing changes', async () => {
    const before = await revision()
    const refused = async () => {
      for (const [value, named] of WRONG)
        expect(await refusal('upgrade', 'spout', CHART, ...onCluster(), '--set', value)).toContain(named)
    }
    expect(await rolled(refused)).toEqual([])
    expect(await revision()).toBe(before)
  })

  it('a second one in the cluster is refused: its nodes and kinds are those of the first', async () => {
    await must([...cluster.kubectl, 'create', 'namespace', 'second'])
    const where = ['--kubeconfig', cluster.kubeconfigFile, '--namespace', 'second']
    expect(await refusal('install', 'second', CHART, ...where)).toMatch(
      /exists and cannot be imported into the current/,
    )
    const made = await must([...cluster.kubectl, 'get', 'deployments', '--namespace', 'second', '--output', 'name'])
    expect(made).toBe('')
  })

  it('uninstalling leaves the kinds, their objects and the claim of the store; installing again finds them', async () => {
    const pool = {
      ...{ apiVersion: 'spout.dev/v1alpha1', kind: 'AddressPool', metadata: { name: 'public' } },
      spec: { subnet: '198.51.100.0/24', addresses: [{ first: '198.51.100.16', last: '198.51.100.250' }] },
    }
    await must([...cluster.kubectl, 'apply', '--filename', '-'], { input: JSON.stringify(pool) })
    const kinds = await names('crds')
    await helm('uninstall', 'spout', ...onCluster())
    await waitFor(async () => (await names('deployments,daemonsets')).join('') === '', { what: 'the programs to go' })
    expect(await names('crds')).toEqual(kinds)
    expect(await names('addresspools')).toEqual(['addresspool.spout.dev/public'])
    expect(await names('persistentvolumeclaims')).toEqual(['persistentvolumeclaim/control-plane'])
    await helm('install', 'spout', CHART, ...onCluster())
    expect(await names('deployments')).toHaveLength(3)
    expect(await names('addresspools')).toEqual(['addresspool.spout.dev/public'])
  })
})
