import { gatewayApiDefinitions, type Lab, startFastMember, waitFor } from '@spout/testkit'
import { installDefinitions } from '../../packages/intents/gateway/src/testing/install-gateway-api.fixture.ts'
import { cpuSeconds } from '../bed/processes.ts'
import { type ConnectedCluster, withConnectedCluster } from '../kubernetes/connected-cluster.ts'
import { CONNECTOR_AGENT } from '../kubernetes/connector.ts'
import { createGateway, GATEWAYS, OURS, type ShownGateway } from './objects.ts'

/** The port of HTTP listeners: the peer, which runs as a process of a host, moves those below 1024, and has 8080 itself. */
export const PORT = 8088
export const NODE = 'node1'
const MEMBER = 'tenant-a-member1'

/** One of the two whose Gateways are measured. */
export interface Side {
  readonly name: 'spout' | 'envoy'
  /** Its class. */
  readonly gatewayClass: string
  /** User agents of its requests to the API server. */
  readonly agents: readonly string[]
}

export const SPOUT: Side = { name: 'spout', gatewayClass: OURS, agents: [CONNECTOR_AGENT] }

/**
 * A whole Spout and a Kubernetes with Gateway API and no nodes: endpoints are ports of a fast member of the lab,
 * so that only what is measured uses the processor. The connector runs.
 */
export const withGateways = (work: (bed: ConnectedCluster) => Promise<void>, set: readonly string[] = []) =>
  withConnectedCluster({ nodes: [NODE], set }, async (bed) => {
    const { lab, cluster, connector } = bed
    await startFastMember(lab, MEMBER, { answer: 'port' })
    await installDefinitions(cluster.api, await gatewayApiDefinitions())
    await cluster.api.create('/apis/gateway.networking.k8s.io/v1/gatewayclasses', {
      ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass' },
      ...{ metadata: { name: OURS }, spec: { controllerName: 'spout.dev/gateway' } },
    })
    await connector.start()
    await work(bed)
  })

/** Creates a Gateway of ours with one HTTP listener. @returns its address once the nodes have it */
export async function startGateway(
  { cluster: { api } }: ConnectedCluster,
  name: string,
  namespace = 'default',
): Promise<string> {
  await createGateway(api, { name, namespace, gatewayClass: OURS, port: PORT })
  return waitFor(
    async () => {
      const { status } = await api.get<ShownGateway>(`${GATEWAYS(namespace)}/${name}`)
      const programmed = status?.conditions?.find(({ type }) => type === 'Programmed')
      return programmed?.status === 'True' && (status?.addresses?.[0]?.value ?? null)
    },
    { what: `Gateway ${name} to be programmed`, timeoutMs: 60_000, everyMs: 50 },
  )
}

const PARTS = { connector: 'connector', controlPlane: 'control-plane', agent: `agent-${NODE}` } as const

/** Processor seconds of our parts so far: on a machine that others use they say more than durations. */
export const cpuOf = ({ lab }: ConnectedCluster): Readonly<Record<keyof typeof PARTS, number>> => {
  const of = (part: keyof typeof PARTS) => cpuSeconds(pidOf(lab, PARTS[part]))
  return { connector: of('connector'), controlPlane: of('controlPlane'), agent: of('agent') }
}

export function pidOf(lab: Lab, name: string): number {
  const found = lab.process(name)
  if (found === null) throw new Error(`${name} does not run`)
  return found.pid
}
