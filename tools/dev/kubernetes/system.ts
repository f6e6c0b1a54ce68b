import {
  createPublicPool,
  createTenant,
  KubernetesCluster,
  type Lab,
  NODES,
  nodesInSync,
  type SystemAccess,
  startAgent,
} from '@spout/testkit'
import type { Teller } from '../story/teller.ts'
import { DEMO_TENANTS } from '../story/tenant.ts'
import { UsageError } from '../verb.ts'
import {
  ACCESS_MANIFESTS,
  CREDENTIAL_COMMAND,
  connectorConfigFile,
  connectorState,
  directoryOf,
  makeCredential,
  PROGRAM,
  startConnector,
  writeConnectorConfig,
  writeKubeconfig,
} from './connector.ts'
import { beginGatewayApi, type Installing } from './gateway-api.ts'
import { installKubectl, Kubectl } from './kubectl.ts'
import { CLUSTER } from './management/cluster.ts'
import { CONNECTOR as PROVIDERS_CONNECTOR } from './management/connector.ts'
import { SHOP_IMAGES } from './shop/images.ts'

const WORKERS = ['worker1', 'worker2'] as const
const TENANT = DEMO_TENANTS[0]!

/** Sets up the provider's side, a tenant with its own Kubernetes cluster, and the connector between them. */
export async function seedKubernetes(
  lab: Lab,
  access: SystemAccess,
  teller: Teller,
  images: Images,
): Promise<SystemAccess> {
  const starting = startCluster(lab, images)
  // Awaited below. If it fails before then, this keeps Node.js from ending the process for an unhandled rejection.
  starting.catch(() => {})
  await Promise.all(NODES.map((node) => startAgent(lab, access, node)))
  await createPublicPool(access)
  const seeded = { ...access, projects: [await createTenant(access, TENANT)] }
  await nodesInSync(seeded, NODES.length)
  teller.event('node1 and node2 enrolled with one-time tokens; both follow the control plane')
  teller.event(
    `tenant ${TENANT.project}: a project, its user ${TENANT.user}, a network 10.0.0.0/24 on a segment of its own`,
  )
  const crediting = makeCredential(seeded)
  crediting.catch(() => {})
  const { cluster, gatewayApi } = await starting
  installKubectl(lab, cluster)
  teller.event(
    `its Kubernetes at ${cluster.url}: etcd, API server, controller manager; nodes ${describeNodes(cluster)} stand in that network, each with kube-proxy`,
  )
  teller.heading(`${TENANT.user} lets the cluster have load balancers, and nothing else`)
  teller.command(`openstack ${CREDENTIAL_COMMAND}`)
  const credential = await crediting
  const kubectl = new Kubectl(cluster, teller)
  await gatewayApi.tell(teller)
  await kubectl.run('apply', ...ACCESS_MANIFESTS.flatMap((file) => ['--filename', file]))
  const token = await kubectl.run('create', 'token', 'connector', '--namespace', 'spout', '--duration', '8760h')
  writeKubeconfig(directoryOf(lab), cluster.api.access, token.trim())
  writeConnectorConfig(lab, seeded, credential)
  teller.command(`node ${PROGRAM} --config ${connectorConfigFile(lab)}`)
  await startConnector(lab)
  teller.event('the connector reads Services, Gateways, Ingresses, endpoints and nodes of the cluster')
  return seeded
}

type Images = Readonly<Record<string, readonly string[]>>

interface Started {
  readonly cluster: KubernetesCluster
  readonly gatewayApi: Installing
}

async function startCluster(lab: Lab, images: Images): Promise<Started> {
  const cluster = await KubernetesCluster.start(lab, { segment: 'tenant-a', images: { ...SHOP_IMAGES, ...images } })
  const gatewayApi = await beginGatewayApi(cluster)
  await Promise.all(WORKERS.map((name) => cluster.addNode(name)))
  return { cluster, gatewayApi }
}

const describeNodes = ({ nodes }: KubernetesCluster): string =>
  nodes.map(({ name, addresses }) => `${name} (${addresses[0]})`).join(' and ')

/** Restarts what has stopped meanwhile. @throws UsageError when the cluster was never completed */
export async function resumeKubernetes(lab: Lab): Promise<void> {
  const cluster = KubernetesCluster.open(lab)
  if (cluster === null || connectorState(lab) === 'absent')
    throw new UsageError('the last ./dev up --kubernetes did not get far enough: run ./dev down first')
  await resumeCluster(lab, cluster)
  if (connectorState(lab) === 'stopped') await startConnector(lab)
  const providers = KubernetesCluster.open(lab, CLUSTER)
  if (providers === null) return
  await resumeCluster(lab, providers)
  if (connectorState(lab, PROVIDERS_CONNECTOR) === 'stopped') await startConnector(lab, PROVIDERS_CONNECTOR)
}

async function resumeCluster(lab: Lab, { controlPlane, nodes }: KubernetesCluster): Promise<void> {
  const missing = (name: string): boolean => lab.process(name) === null
  const { name } = controlPlane.spec
  if (missing(`${name}-etcd`)) await controlPlane.startEtcd()
  if (missing(`${name}-kube-apiserver`)) await controlPlane.startApiServer()
  if (missing(`${name}-kube-controller-manager`)) await controlPlane.startControllerManager()
  for (const node of nodes) {
    if (missing(`kubelet-${node.name}`)) await node.startKubelet()
    if (missing(`kube-proxy-${node.name}`)) await node.startProxy()
  }
}
