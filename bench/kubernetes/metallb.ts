import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { ensureMetallb, type KubernetesCluster, type KubernetesOptions, must, waitFor } from '@spout/testkit'

const VERSION = 'v0.15.2'
const IMAGE = { controller: `quay.io/metallb/controller:${VERSION}`, speaker: `quay.io/metallb/speaker:${VERSION}` }
const NAMESPACE = 'metallb-system'
/** `spec.loadBalancerClass` of MetalLB's Services. */
export const METALLB_CLASS = 'metallb.io/peer'
/** User agents of its requests to the API server: the names of its programs. */
export const METALLB_AGENTS = ['controller/', 'speaker/', 'metallb-'] as const
/** In the tenant's segment, outside its subnet: clients need a route to it. */
export const METALLB_RANGE = '10.0.1.0/24'

/** MetalLB's programs by their image names, for `KubernetesOptions`. */
export async function metallbImages(): Promise<NonNullable<KubernetesOptions['images']>> {
  const { controller, speaker } = await ensureMetallb()
  return { [IMAGE.controller]: [controller], [IMAGE.speaker]: [speaker] }
}

/**
 * MetalLB in L2 mode, from its own manifest: its definitions, accounts and roles; the controller as a pod, a speaker in
 * each node's network. Without its admission webhook, which needs a certificate volume, and with unencrypted member
 * list traffic, because its key comes in a volume too: the test bed's pods have none.
 */
export async function startMetallb(cluster: KubernetesCluster): Promise<void> {
  await installMetallb(cluster)
  await giveMetallbPool(cluster, METALLB_RANGE)
}

/**
 * Only its programs, ready: without a pool they give no Service an address.
 * @param ofClass its Services: of `METALLB_CLASS`, or, as MetalLB is mostly installed, those without a class
 */
export async function installMetallb(cluster: KubernetesCluster, { ofClass = true } = {}): Promise<void> {
  const manifest = path.join(await moduleDirectory(), 'config/manifests/metallb-native.yaml')
  const wanted = /^kind: (Namespace|CustomResourceDefinition|ServiceAccount|(Cluster)?Role(Binding)?)$/m
  const parts = readFileSync(manifest, 'utf8').split(/^---$/m)
  const file = path.join(cluster.lab.directory, 'metallb.yaml')
  writeFileSync(file, parts.filter((part) => wanted.test(part)).join('---'))
  await must([...cluster.kubectl, 'apply', '--server-side', '-f', file])
  const apps = `/apis/apps/v1/namespaces/${NAMESPACE}`
  await cluster.api.create(`${apps}/deployments`, { metadata: { name: 'controller' }, spec: controllerSpec(ofClass) })
  await cluster.api.create(`${apps}/daemonsets`, { metadata: { name: 'speaker' }, spec: speakerSpec(ofClass) })
  await cluster.readyPods(1 + cluster.nodes.length, 'app=metallb', NAMESPACE)
}

/** @param range its addresses, as CIDR */
export async function giveMetallbPool(cluster: KubernetesCluster, range: string, name = 'bench'): Promise<void> {
  const custom = `/apis/metallb.io/v1beta1/namespaces/${NAMESPACE}`
  const made = { namespace: NAMESPACE, name }
  await waitFor(
    () =>
      cluster.api.apply(`${custom}/ipaddresspools/${name}`, {
        ...{ apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool', metadata: made },
        spec: { addresses: [range] },
      }),
    { what: 'the address pool to be taken', everyMs: 100 },
  )
  await cluster.api.apply(`${custom}/l2advertisements/${name}`, {
    ...{ apiVersion: 'metallb.io/v1beta1', kind: 'L2Advertisement', metadata: made },
    spec: { ipAddressPools: [name] },
  })
}

/** Directory of the module's sources, found with any Go. */
async function moduleDirectory(): Promise<string> {
  const answer = await must(['go', 'mod', 'download', '-json', `go.universe.tf/metallb@${VERSION}`], {
    timeoutMs: 300_000,
    env: { GO111MODULE: 'on', GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOWORK: 'off' },
  })
  return (JSON.parse(answer) as { Dir: string }).Dir
}

const ports = [{ name: 'monitoring', containerPort: 7472 }]
const readinessProbe = { httpGet: { path: '/metrics', port: 'monitoring' }, periodSeconds: 1 }

const classOf = (ofClass: boolean): readonly string[] => (ofClass ? [`--lb-class=${METALLB_CLASS}`] : [])

function controllerSpec(ofClass: boolean): object {
  const labels = { app: 'metallb', component: 'controller' }
  const args = ['--port=7472', '--log-level=info', '--webhook-mode=disabled', ...classOf(ofClass)]
  const env = [
    { name: 'METALLB_DEPLOYMENT', value: 'controller' },
    { name: 'METALLB_NAMESPACE', value: NAMESPACE },
  ]
  const container = { name: 'controller', image: IMAGE.controller, args, env, ports, readinessProbe }
  const spec = { serviceAccountName: 'controller', terminationGracePeriodSeconds: 0, containers: [container] }
  return { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } }
}

function speakerSpec(ofClass: boolean): object {
  const labels = { app: 'metallb', component: 'speaker' }
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } })
  const env = [
    field('METALLB_NODE_NAME', 'spec.nodeName'),
    field('METALLB_POD_NAME', 'metadata.name'),
    field('METALLB_HOST', 'status.hostIP'),
    field('METALLB_ML_BIND_ADDR', 'status.podIP'),
    { name: 'METALLB_ML_LABELS', value: 'app=metallb,component=speaker' },
    { name: 'METALLB_NAMESPACE', value: NAMESPACE },
  ]
  const args = ['--port=7472', '--log-level=info', ...classOf(ofClass)]
  const container = { name: 'speaker', image: IMAGE.speaker, args, env, ports, readinessProbe }
  const spec = {
    ...{ serviceAccountName: 'speaker', hostNetwork: true, terminationGracePeriodSeconds: 0 },
    containers: [container],
  }
  return { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } }
}
