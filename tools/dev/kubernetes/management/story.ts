import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Kubernetes, KubernetesCluster, type Lab, waitFor } from '@spout/testkit'
import { UsageError } from '../../verb.ts'
import { connectorConfigFile, connectorState, PROGRAM, startConnector } from '../connector.ts'
import { Kubectl } from '../kubectl.ts'
import { BASE, type Scene } from '../scene.ts'
import { OutsideClient } from '../shop/outside-client.ts'
import { CLUSTER, CLUSTER_OPTIONS } from './cluster.ts'
import { ACCESS_MANIFESTS, CONNECTOR, CREDENTIAL_COMMAND, writeSettings } from './connector.ts'

const HOST = 'wiki.example.org'
const FILES = `${BASE}/management`
const TENANT = ['--as', 'alice', '--namespace', 'acme'] as const
const INGRESS = '/apis/networking.k8s.io/v1/namespaces/acme/ingresses/wiki'
/** How long the first answer may take, from a new address and with a connector that has just started. */
const SERVED_WITHIN_MS = 60_000

interface Ingress extends Kubernetes.KubernetesObject {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
}

export interface ManagementClusterResult {
  readonly kubeconfig: string
  readonly host: string
  readonly address: string
}

/**
 * Shows a cluster of the provider: a tenant writes an Ingress into its namespace there, for pods of the tenant's own
 * cluster. If the Ingress exists already, it is only shown.
 * @throws UsageError when the cluster was never completed
 */
export async function tellManagementCluster(scene: Scene): Promise<ManagementClusterResult> {
  const { cluster: tenants, teller } = scene
  const { lab } = tenants
  const cluster = KubernetesCluster.open(lab, CLUSTER) ?? (await begin(scene))
  if (connectorState(lab, CONNECTOR) === 'absent')
    throw new UsageError("the provider's cluster of the last ./dev up did not get far enough: run ./dev down first")
  const kubectl = new Kubectl(cluster, teller, `kubectl --kubeconfig ${cluster.kubeconfigFile}`)
  const isNew = (await cluster.api.get<Ingress>(INGRESS).catch(() => null)) === null
  if (isNew) {
    teller.heading('alice, who has this namespace and no more, publishes pods of her own cluster there')
    await kubectl.run(...TENANT, 'apply', '--filename', `${FILES}/wiki.yaml`)
    await kubectl.run(...TENANT, 'apply', '--filename', await writeMembers(scene))
  } else teller.heading("What alice has in the provider's cluster")
  const address = await waitFor(
    async () => (await cluster.api.get<Ingress>(INGRESS)).status?.loadBalancer?.ingress?.[0]?.ip,
    { what: 'an address for Ingress wiki', timeoutMs: SERVED_WITHIN_MS },
  )
  await kubectl.show(...TENANT, 'get', 'ingress', 'wiki')
  await new OutsideClient(lab, teller).show({ to: address, url: `http://${HOST}/` }, /^\{.*"host":"wiki\.example\.org"/)
  if (isNew) await tellRefusal(kubectl, scene)
  return { kubeconfig: cluster.kubeconfigFile, host: HOST, address }
}

/** The provider's side: its cluster, the policies, the namespace, and one connector for all tenants. */
async function begin({ access, cluster: { lab }, teller }: Scene): Promise<KubernetesCluster> {
  teller.heading('A cluster of the provider, in which tenants have namespaces')
  const cluster = await KubernetesCluster.start(lab, CLUSTER_OPTIONS)
  teller.event(`it is at ${cluster.url}; it has no nodes, because members are pods of the tenants' own clusters`)
  const kubectl = new Kubectl(cluster, teller, `kubectl --kubeconfig ${cluster.kubeconfigFile}`)
  const files = ['deploy/kubernetes/management-cluster.yaml', ...ACCESS_MANIFESTS, `${FILES}/namespace.yaml`]
  await kubectl.run('apply', ...files.flatMap((file) => ['--filename', file]))
  const account = ['create', 'token', 'connector', '--namespace', 'spout', '--duration', '8760h'] as const
  const token = await kubectl.run(...account)
  teller.command(`openstack ${CREDENTIAL_COMMAND}   # alice's, for the provider's connector`)
  await writeSettings(lab, access, cluster.api.access, token.trim())
  teller.command(`node ${PROGRAM} --config ${connectorConfigFile(lab, CONNECTOR)}`)
  await startConnector(lab, CONNECTOR)
  teller.event('one connector makes load balancers of what tenants write there, in their own projects')
  await untilPoliciesHold(cluster)
  return cluster
}

/** The API server takes a moment to put policies in force. */
const untilPoliciesHold = (cluster: KubernetesCluster): Promise<boolean> =>
  waitFor(async () => (await writeOthersHost(cluster)).code !== 0, {
    what: 'the policies to be in force',
    timeoutMs: 60_000,
  })

const writeOthersHost = ({ lab, kubectl }: KubernetesCluster) =>
  lab.run('host', [...kubectl, ...TENANT, 'create', '--dry-run=server', '--filename', `${FILES}/others-host.yaml`])

async function tellRefusal(kubectl: Kubectl, { teller }: Scene): Promise<void> {
  teller.heading('alice asks for a host that is not hers')
  const refusal = await kubectl.refused(...TENANT, 'apply', '--filename', `${FILES}/others-host.yaml`)
  teller.answer(refusal)
}

/** Writes the EndpointSlice of the wiki: the pods of `web` in the tenant's own cluster. */
async function writeMembers({ cluster }: Scene): Promise<string> {
  const pods = await waitFor(
    async () => {
      const found = (await cluster.pods('app=web')).flatMap(({ status }) => status?.podIP ?? [])
      return found.length > 0 && found
    },
    { what: 'pods of web' },
  )
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'wiki-1', labels: { 'kubernetes.io/service-name': 'wiki' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: pods.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  }
  const file = membersFile(cluster.lab)
  // JSON is YAML too.
  writeFileSync(file, `${JSON.stringify(slice, null, 2)}\n`)
  return file
}

const membersFile = (lab: Lab): string => path.join(lab.directory, CLUSTER, 'wiki-members.yaml')
