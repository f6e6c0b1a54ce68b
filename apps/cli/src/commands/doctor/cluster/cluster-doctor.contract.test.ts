import { writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  bundled,
  checkoutShell,
  issueCertificate,
  KubernetesCluster,
  Lab,
  LONGEST_BUILD_MS,
  must,
  type PageShell,
  PRODUCT_ENVIRONMENT,
  THIS_CHECKOUT,
  TypedPage,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildProgram } from '../../../program.ts'

/**
 * Against a real API server with the objects of spout.yaml. The test plays Kubernetes' controllers, its kubelets and our
 * programs. In e2e/kubernetes/in-cluster.e2e.test.ts all of these are there.
 */

const SPOUT_YAML = path.join(THIS_CHECKOUT, 'deploy/kubernetes/spout.yaml')
const NODES = ['worker1', 'worker2']
const WORKLOADS = [
  ['deployments', 'control-plane', 1],
  ['deployments', 'configuration', 1],
  ['deployments', 'connector', 2],
  ['daemonsets', 'agent', 2],
] as const

let lab: Lab
let cluster: KubernetesCluster
/** Of an administrator in a checkout. */
let shell: PageShell
beforeAll(async () => {
  lab = await Lab.create()
  cluster = await KubernetesCluster.start(lab)
  // It would write what its pods are, which wait for real nodes.
  await cluster.controlPlane.stopControllerManager()
  const main = bundled(path.join(THIS_CHECKOUT, 'apps/cli/src/main.ts'))
  shell = checkoutShell({ lab, cluster, programs: { spout: [process.execPath, main] }, env: PRODUCT_ENVIRONMENT })
}, LONGEST_BUILD_MS)
afterAll(async () => {
  await cluster?.destroy()
  await lab?.destroy()
})

interface Shown {
  readonly level: string
  readonly check: string
  readonly code?: string
  readonly subject: string | null
  readonly message: string
  readonly fix: string | null
}

async function doctor(kubeconfig = cluster.kubeconfigFile) {
  let text = ''
  const write = (more: string) => {
    text += more
  }
  const program = buildProgram({ env: {}, colour: false, write, signal: new AbortController().signal })
  const words = ['doctor', '--kubeconfig', kubeconfig, '--all', '-o', 'json']
  const need = await program.parseAsync(words, { from: 'user' }).then(
    () => null,
    (error: Error) => error.message,
  )
  if (text === '') throw new Error(need ?? 'nothing was said')
  const findings = JSON.parse(text) as readonly Shown[]
  return { need, findings, codes: findings.flatMap((one) => one.code ?? []) }
}
/** The one finding of this code. The API server heeds a change of rights or kinds a moment later. */
const found = (code: string): Promise<Shown> =>
  waitFor(
    async () => {
      const own = (await doctor()).findings.filter((one) => one.code === code)
      return own.length === 1 && own[0]
    },
    { what: `one finding ${code}` },
  )
const kubectl = (...words: readonly string[]) => must([...cluster.kubectl, ...words])
/** Types a command of a fix as it stands. */
const type = async (fix: string | null): Promise<void> => {
  const said = await shell((fix ?? '').replace(/ \(.*/, ''))
  expect(said.code, said.stderr).toBe(0)
}
const merge = (where: string, patch: object) => cluster.api.patch(where, patch)

let pods = 0
/** A pod that runs on a node, as its kubelet would show it. */
async function runPod(program: string, node: string, ip: string, namespace = 'spout'): Promise<void> {
  pods += 1
  const name = `${program}-${pods}`
  const labels = { 'app.kubernetes.io/name': 'spout', 'app.kubernetes.io/component': program }
  const where = `/api/v1/namespaces/${namespace}/pods`
  await cluster.api.create(where, {
    metadata: { name, ...(namespace === 'spout' && { labels }) },
    spec: {
      ...{ nodeName: node, hostNetwork: program === 'agent', containers: [{ name: program, image: 'spout:0.1.0' }] },
      ...(namespace === 'spout' && { serviceAccountName: 'agent' }),
    },
  })
  const startTime = new Date().toISOString()
  await merge(`${where}/${name}/status`, {
    status: {
      ...{ phase: 'Running', startTime, podIP: ip, podIPs: [{ ip }] },
      conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: startTime }],
    },
  })
}

/** As a kubelet renews it, whose clock may be wrong. */
const renewLease = (node: string, aheadMs = 0) =>
  cluster.api.apply(`/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${node}`, {
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: node } },
    spec: {
      ...{ holderIdentity: node, leaseDurationSeconds: 40 },
      renewTime: new Date(Date.now() + aheadMs).toISOString().replace('Z', '000Z'),
    },
  })

const available = (count: number) => ({
  ...{ replicas: count, readyReplicas: count, availableReplicas: count, updatedReplicas: count },
})

/** What controllers, kubelets and programs do after `kubectl apply`. */
async function bringUp(): Promise<void> {
  await renewLease('worker1')
  await renewLease('worker2')
  for (const [plural, name, count] of WORKLOADS) {
    const scheduled = {
      ...{ currentNumberScheduled: count, desiredNumberScheduled: count, numberMisscheduled: 0 },
      ...{ numberReady: count, numberAvailable: count },
    }
    await merge(`/apis/apps/v1/namespaces/spout/${plural}/${name}/status`, {
      status: plural === 'daemonsets' ? scheduled : available(count),
    })
    for (const node of NODES.slice(0, count)) await runPod(name, node, node === 'worker1' ? '10.244.0.9' : '10.244.1.9')
  }
  const claim = '/api/v1/namespaces/spout/persistentvolumeclaims/control-plane/status'
  await merge(claim, { status: { phase: 'Bound' } })
  const { certificate } = issueCertificate({ isAuthority: true, days: 3650 })
  await merge('/api/v1/namespaces/spout/configmaps/authority', { data: { 'ca.crt': certificate } })
  await cluster.api.create('/apis/coordination.k8s.io/v1/namespaces/spout/leases', {
    metadata: { name: 'spout-connector' },
    spec: {
      ...{ holderIdentity: 'connector-3_a', leaseDurationSeconds: 3600 },
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    },
  } as object)
  // As kubeadm writes it.
  await kubeProxy({ mode: 'nftables', ipvs: { strictARP: false } })
}

const kubeProxy = (settings: object) =>
  cluster.api.apply('/api/v1/namespaces/kube-system/configmaps/kube-proxy', {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kube-proxy' } },
    data: { 'config.conf': JSON.stringify({ kind: 'KubeProxyConfiguration', ...settings }) },
  })

const ready = (name: string, status: 'True' | 'False', reason: string, message: string, free = 1) =>
  merge(`/apis/spout.dev/v1alpha1/addresspools/${name}/status`, {
    status: {
      addresses: { total: 235, used: 235 - free, resting: 0, free },
      conditions: [
        { type: 'Ready', status, observedGeneration: 1, lastTransitionTime: new Date().toISOString(), reason, message },
      ],
    },
  })

test('a cluster without Spout says so, and how it is installed', async () => {
  for (const [index, name] of NODES.entries())
    await cluster.api.create('/api/v1/nodes', { metadata: { name }, spec: { podCIDRs: [`10.244.${index}.0/24`] } })
  const { need, codes } = await doctor()
  expect([need, codes]).toEqual(['1 finding needs you', ['NotInstalled']])
})

test('one whose programs do not come up says which, and what they wait for', async () => {
  await kubectl('apply', '--filename', SPOUT_YAML)
  const { findings, codes } = await doctor()
  expect([...new Set(codes)].sort()).toEqual([
    ...['AuthorityUnpublished', 'KubeProxyUnseen', 'PoolMissing', 'ProgramDown', 'VolumeMissing'],
  ])
  expect(findings.filter((one) => one.code === 'ProgramDown').map(({ subject }) => subject)).toEqual([
    ...['deployment/configuration', 'deployment/connector', 'deployment/control-plane', 'daemonset/agent'],
  ])
})

test('one that is in order has nothing to do', async () => {
  await bringUp()
  await cluster.api.create('/apis/spout.dev/v1alpha1/addresspools', {
    ...{ apiVersion: 'spout.dev/v1alpha1', kind: 'AddressPool', metadata: { name: 'public' } },
    spec: { subnet: '198.51.100.0/24', addresses: [{ first: '198.51.100.16', last: '198.51.100.250' }] },
  })
  expect(await found('ObjectUnheeded')).toMatchObject({ subject: 'AddressPool public' })
  await ready('public', 'True', 'Applied', '')
  const { findings } = await doctor()
  expect(findings.filter(({ level }) => level !== 'ok')).toEqual([])
  expect(findings.map(({ check }) => check)).toEqual([
    ...['API server', 'kinds', 'programs', 'foundations', 'rights', 'nodes'],
    ...['kube-proxy', 'return path', 'other balancers', 'configuration', 'Services'],
  ])
  expect(await shell('spout doctor --kubeconfig "$KUBECONFIG"')).toMatchObject({ code: 0, stdout: 'Nothing to do.\n' })
})

/** Every test below begins and ends with a cluster that is in order. */
const inOrder = () => expect.poll(async () => (await doctor()).codes).toEqual([])

test('the level of Pod Security refuses agents', async () => {
  await kubectl('label', 'namespace', 'spout', 'pod-security.kubernetes.io/enforce=baseline', '--overwrite')
  await type((await found('PodsForbidden')).fix)
  await inOrder()
})

test('kinds that are missing, or older', async () => {
  await kubectl('delete', 'crd', 'bgppeers.spout.dev')
  const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodegroups.spout.dev'
  const at = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/secondChanceSeconds'
  await kubectl('patch', 'crd', 'nodegroups.spout.dev', '--type=json', `--patch=[{"op":"remove","path":"${at}"}]`)
  expect(await found('KindOld')).toMatchObject({
    ...{ subject: 'nodegroups.spout.dev', message: 'It lacks v1alpha1 spec.secondChanceSeconds.' },
  })
  await type((await found('KindMissing')).fix)
  expect(JSON.stringify(await cluster.api.get(crd))).toContain('secondChanceSeconds')
  await kubectl('wait', '--for=condition=Established', 'crd/bgppeers.spout.dev')
  await inOrder()
})

test('what docs/doctor.md shows: a binding that is gone, kube-proxy without strictARP, a label that names no group', async () => {
  await kubectl('delete', 'clusterrolebinding', 'spout-connector')
  await kubeProxy({ mode: 'ipvs', ipvs: { strictARP: false } })
  await kubectl('label', 'node', 'worker2', 'spout.dev/node-group=egde')
  await found('RightMissing')
  const page = new TypedPage('doctor.md', shell)
  page.leaveOut('spout-agent doctor', 'it looks at a node: e2e/doctor.e2e.test.ts')
  const { command, printed } = page.take('spout doctor --kubeconfig')
  const { code, stdout, stderr } = await shell(command)
  expect({ code, lines: `${stdout}${stderr}`.trimEnd().split('\n') }).toEqual({ code: 1, lines: printed })
  expect(page.left).toEqual([])
  await type((await found('GroupUnknown')).fix)
  await kubectl('apply', '--filename', SPOUT_YAML)
  await kubeProxy({ mode: 'ipvs', ipvs: { strictARP: true } })
  await inOrder()
})

test('the clock of a node is ahead', async () => {
  await renewLease('worker1', 90_000)
  expect(await found('ClockDiffers')).toMatchObject({
    subject: 'worker1',
    message: expect.stringMatching(/ 9\d s ahead| 89 s ahead/),
  })
  await renewLease('worker1')
  await inOrder()
})

test('MetalLB takes the same Services, and has the same addresses', async () => {
  await cluster.api.create('/api/v1/namespaces', { metadata: { name: 'metallb-system' } })
  const workload = (image: string, own: object) => ({
    metadata: { name: image.split('/')[1]!.split(':')[0]! },
    spec: {
      selector: { matchLabels: { app: image } },
      template: {
        metadata: { labels: { app: image } },
        spec: { containers: [{ name: 'a', image: `quay.io/${image}` }] },
      },
      ...own,
    },
  })
  const apps = '/apis/apps/v1/namespaces/metallb-system'
  const labelled = (name: string) =>
    JSON.parse(JSON.stringify(workload(name, {})).replaceAll(`"app":"${name}"`, '"app":"metallb"'))
  await cluster.api.create(`${apps}/deployments`, labelled('metallb/controller:v0.15.2'))
  await cluster.api.create(`${apps}/daemonsets`, labelled('metallb/speaker:v0.15.2'))
  await merge(`${apps}/daemonsets/speaker/status`, {
    status: { currentNumberScheduled: 2, desiredNumberScheduled: 2, numberMisscheduled: 0, numberReady: 2 },
  })
  await cluster.api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'ipaddresspools.metallb.io' },
    spec: {
      ...{ group: 'metallb.io', scope: 'Namespaced', names: { kind: 'IPAddressPool', plural: 'ipaddresspools' } },
      versions: [
        {
          ...{ name: 'v1beta1', served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  })
  await kubectl('wait', '--for=condition=Established', 'crd/ipaddresspools.metallb.io')
  await cluster.api.create('/apis/metallb.io/v1beta1/namespaces/metallb-system/ipaddresspools', {
    ...{ apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', metadata: { name: 'first' } },
    spec: { addresses: ['198.51.100.240/28', '203.0.113.0/28'] },
  })
  expect(await found('PoolShared')).toMatchObject({
    ...{
      subject: 'public',
      message: expect.stringContaining("MetalLB's pool first has 198.51.100.240-198.51.100.255, too"),
    },
  })
  await type((await found('ServicesManagedTwice')).fix)
  expect((await doctor()).codes).toEqual(['PoolShared'])
  await kubectl('--namespace', 'metallb-system', 'delete', 'daemonset', 'speaker')
  await inOrder()
})

test('what is refused is said with the reason: a pool, a Service', async () => {
  await ready('public', 'False', 'Invalid', 'spec.subnet: overlaps another pool')
  expect(await found('ObjectRefused')).toMatchObject({ message: 'Invalid: spec.subnet: overlaps another pool' })
  await ready('public', 'True', 'Applied', '', 0)
  expect(await found('PoolFull')).toMatchObject({ message: 'None of its 235 addresses is free.' })
  await ready('public', 'True', 'Applied', '')
  await kubectl('create', 'service', 'loadbalancer', 'web', '--tcp=80')
  const conditions = [
    {
      ...{ type: 'spout.dev/Programmed', status: 'False', reason: 'PoolNotFound', message: 'No pool "x".' },
      lastTransitionTime: new Date().toISOString(),
    },
  ]
  await merge('/api/v1/namespaces/default/services/web/status', { status: { conditions } })
  expect(await found('ServiceRefused')).toMatchObject({
    ...{ subject: 'default/web', fix: 'spout explain service default/web --kubeconfig FILE' },
  })
  await kubectl('delete', 'service', 'web')
  await inOrder()
})

test('settings that no pod has read, and what they ask of the network', async () => {
  await runPod('elsewhere', 'worker2', '192.168.7.7', 'default')
  expect(await found('PodsOutside')).toMatchObject({ message: expect.stringContaining('192.168.7.7') })
  const map = '/api/v1/namespaces/spout/configmaps/control-plane'
  const { data } = await cluster.api.get<{ data: Record<string, string> }>(map)
  const text = data['control-plane.yaml']!.replace('returnPath: snat', 'returnPath: node')
  // Times in objects are in whole seconds.
  const second = () => Math.floor(Date.now() / 1000)
  const before = second()
  await expect.poll(second).toBeGreaterThan(before)
  await merge(map, { data: { 'control-plane.yaml': text } })
  const { codes } = await doctor()
  expect(codes.sort()).toEqual(['PodsOutside', 'SettingsUnread', 'SourcesMayBeChecked'])
  await kubectl('patch', 'node', 'worker1', '--patch', '{"spec":{"providerID":"aws:///eu-central-1a/i-0a"}}')
  expect(await found('SourcesChecked')).toMatchObject({ subject: 'aws' })
  expect(await found('SettingsUnread')).toMatchObject({
    ...{ fix: 'kubectl --namespace spout rollout restart deployment/control-plane' },
  })
})

test('who may not look is told so; no API server, no options', async () => {
  const { status } = await cluster.api.create<object & { status?: { token: string } }>(
    '/api/v1/namespaces/default/serviceaccounts/default/token',
    { spec: { expirationSeconds: 3600 } } as object,
  )
  const kubeconfig = path.join(lab.directory, 'nobody.kubeconfig')
  const words = ['config', 'view', '--minify', '--flatten', '--output', 'json']
  const config = JSON.parse(await kubectl(...words))
  config.users[0].user = { token: status!.token }
  writeFileSync(kubeconfig, JSON.stringify(config))
  const { findings } = await doctor(kubeconfig)
  expect(findings.filter(({ level }) => level === 'ok').map(({ check }) => check)).toEqual(['API server'])
  const others = findings.filter(({ level }) => level !== 'ok')
  for (const { message, fix } of others)
    expect([message, fix]).toEqual([
      expect.stringMatching(/^It could not be looked at: .* 403 Forbidden/),
      'look with the account of a cluster administrator',
    ])
  config.clusters[0].cluster.server = 'https://127.0.0.1:1'
  writeFileSync(kubeconfig, JSON.stringify(config))
  expect(await shell(`spout doctor --kubeconfig ${kubeconfig}`)).toMatchObject({ code: 1, stdout: '' })
  expect(await shell('spout doctor --context other')).toMatchObject({
    ...{ code: 2, stderr: 'spout: --context needs --kubeconfig\n' },
  })
})
