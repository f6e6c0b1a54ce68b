import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { ensureEnvoyGateway, type Lab, must } from '@spout/testkit'
import { installDefinitions } from '../../packages/intents/gateway/src/testing/install-gateway-api.fixture.ts'
import { ENVOY_VERSION, envoyProgram } from '../bed/envoy.ts'
import type { LineProgram } from '../bed/native.ts'
import { addPeerDomain } from '../bed/peer-domain.ts'
import type { ConnectedCluster } from '../kubernetes/connected-cluster.ts'
import { PORT, type Side } from './gateway-bed.ts'
import { createBackend, createGateway, createRoute, HTTP_ROUTES, toService } from './objects.ts'

const CONTROLLER = 'gateway.envoyproxy.io/gatewayclass-controller'
const NAMESPACE = 'envoy-gateway-system'
const NODE = 'node1'
const SEGMENT = 'tenant-a'
const INDEX = 3
/** Where clients reach it, and on the management network, which leads to the API server. */
const ADDRESS = `192.0.2.${INDEX}`
const managementAddress = ({ number }: Lab): string => `198.18.${number}.10`

/** Envoy Gateway with its Envoy in a namespace beside ours. */
export const ENVOY: Side = { name: 'envoy', gatewayClass: 'envoy', agents: ['envoy-gateway'] }
const PEER = `Envoy Gateway 1.9.1 with Envoy ${ENVOY_VERSION}, same API server, member and hops`
export const COMPARED_WITH = `${PEER}, in turns`
/** Both controllers look at all routes, so ours does not run while the peer is measured, nor the peer before. */
export const COMPARED_AFTER = `${PEER}, after ours in the same run`

/**
 * Ends our connector, starts Envoy Gateway and makes a Gateway of its class.
 * @returns the address at which clients reach that, once it carries a route
 */
export async function peerInstead(bed: ConnectedCluster, prober: LineProgram): Promise<string> {
  const { cluster, connector } = bed
  const { name, gatewayClass } = ENVOY
  await connector.kill()
  const address = await startEnvoyGateway(bed)
  await createGateway(cluster.api, { name, namespace: 'default', gatewayClass, port: PORT })
  const hostname = 'ready.example.com'
  await createBackend(cluster.api, 'ready')
  await createRoute(cluster.api, { name: 'ready', gateway: name, hostname, rules: toService('ready') })
  const answered = async () => !(await prober.ask(`${address} ${PORT} ${hostname}`)).startsWith('-1')
  if (!((await answered()) || (await answered()))) throw new Error(`${name} never answered`)
  await cluster.api.delete(`${HTTP_ROUTES()}/ready`)
  return address
}

/**
 * Starts Envoy Gateway as a process, with Envoy as its child: it takes its objects from the cluster (provider `Custom`,
 * resources `Kubernetes`, infrastructure `Host`). Envoy has one thread, as our proxy has.
 * @returns the address at which clients reach its Gateways
 */
export async function startEnvoyGateway({ lab, cluster }: ConnectedCluster): Promise<string> {
  const { program, definitions } = await ensureEnvoyGateway()
  const directory = path.join(lab.directory, 'envoy-gateway')
  const home = (name: string): string => path.join(directory, name)
  const binary = path.join(home('data'), 'envoy-versions', ENVOY_VERSION, 'bin')
  mkdirSync(binary, { recursive: true })
  cpSync(await envoyProgram(), path.join(binary, 'envoy'))
  await installDefinitions(cluster.api, definitions)
  await createClass({ cluster })

  const { namespace } = await addPeerDomain(lab, {
    ...{ name: 'envoy', node: NODE, segment: SEGMENT, index: INDEX, destination: ADDRESS },
  })
  await must(['ip', '-n', namespace, 'address', 'add', `${ADDRESS}/32`, 'dev', 'lo'])
  await addManagement(lab, namespace)
  await must([program, 'certgen', '--local', '--config-home', home('config')])
  const file = home('config.json')
  writeFileSync(
    file,
    JSON.stringify({
      ...{ apiVersion: 'gateway.envoyproxy.io/v1alpha1', kind: 'EnvoyGateway' },
      gateway: { controllerName: CONTROLLER },
      logging: { level: { default: 'error' } },
      provider: {
        type: 'Custom',
        custom: {
          resource: { type: 'Kubernetes', kubernetes: { leaderElection: { disable: true } } },
          infrastructure: {
            type: 'Host',
            host: {
              configHome: home('config'),
              dataHome: home('data'),
              stateHome: home('state'),
              runtimeDir: path.join(lab.runDirectory, 'envoy'),
            },
          },
        },
      },
    }),
  )
  // It looks for its certificates in /certs alone.
  mkdirSync('/certs', { recursive: true })
  const mounted = 'mount --bind "$1" /certs && shift && exec "$@"'
  const argv = [program, 'server', '--config-path', file]
  await lab.start(
    'envoy',
    'envoy-gateway',
    ['unshare', '--mount', 'sh', '-c', mounted, 'sh', path.join(home('config'), 'certs', 'envoy-gateway'), ...argv],
    { env: { KUBECONFIG: cluster.kubeconfigFile, ENVOY_GATEWAY_NAMESPACE: NAMESPACE } },
  )
  return ADDRESS
}

async function createClass({ cluster: { api } }: Pick<ConnectedCluster, 'cluster'>): Promise<void> {
  await api.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } })
  const group = 'gateway.envoyproxy.io'
  await api.create(`/apis/${group}/v1alpha1/namespaces/${NAMESPACE}/envoyproxies`, {
    ...{ apiVersion: `${group}/v1alpha1`, kind: 'EnvoyProxy', metadata: { name: 'host' } },
    spec: { concurrency: 1, provider: { type: 'Host', host: { envoyVersion: ENVOY_VERSION } } },
  })
  await api.create('/apis/gateway.networking.k8s.io/v1/gatewayclasses', {
    ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass', metadata: { name: ENVOY.gatewayClass } },
    spec: {
      controllerName: CONTROLLER,
      parametersRef: { group, kind: 'EnvoyProxy', name: 'host', namespace: NAMESPACE },
    },
  })
}

/** A cable to the management network. */
async function addManagement(lab: Lab, namespace: string): Promise<void> {
  const batch = (inside: string, lines: readonly string[]) =>
    must(['ip', '-n', inside, '-batch', '-'], { input: `${lines.join('\n')}\n` })
  await batch(lab.namespace('fabric'), [
    `link add name envoy-mgmt type veth peer name mgmt0 netns ${namespace}`,
    'link set dev envoy-mgmt master br-mgmt',
    'link set dev envoy-mgmt up',
  ])
  await batch(namespace, [`address add ${managementAddress(lab)}/24 dev mgmt0`, 'link set dev mgmt0 up'])
}
