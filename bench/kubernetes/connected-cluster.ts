import { callApi, KubernetesCluster, type KubernetesOptions } from '@spout/testkit'
import { type SpoutBed, withSpout } from '../bed/spout-bed.ts'
import { AuditLog } from './audit-log.ts'
import { Connector } from './connector.ts'
import { metric } from './prometheus.ts'

/** A whole Spout, a Kubernetes in the network of tenant-a, and a connector between them that is not started yet. */
export interface ConnectedCluster extends SpoutBed {
  readonly cluster: KubernetesCluster
  readonly connector: Connector
  readonly audit: AuditLog
}

export interface ConnectedClusterOptions {
  /** Load-balancer nodes. */
  readonly nodes: readonly string[]
  /** Kubernetes nodes with a kubelet and kube-proxy. */
  readonly workers?: readonly string[]
  readonly images?: KubernetesOptions['images']
  /** Settings of the connector. */
  readonly set?: readonly string[]
}

/** Node objects without a kubelet stay ready for the time of a benchmark. */
const NODES_STAY = ['--node-monitor-grace-period=24h', '--node-startup-grace-period=24h']
/** Shared addresses (RFC 6598) for more Services than the fabric has addresses. */
const WIDE = { name: 'wide', cidr: '100.64.0.0/16', ranges: [{ first: '100.64.0.10', last: '100.64.255.250' }] }

/** Sets the bed up, runs the work, and removes the bed, whatever the outcome. */
export async function withConnectedCluster(
  { nodes, workers = [], images = {}, set = [] }: ConnectedClusterOptions,
  work: (bed: ConnectedCluster) => Promise<void>,
): Promise<void> {
  await withSpout({ nodes, members: false }, async (bed) => {
    const { lab, access, gateway } = bed
    const { endpoint, admin } = access
    await callApi(endpoint, admin.token, 'POST', '/address-pools', { ...WIDE, gatewayIp: null })
    const audit = new AuditLog(lab)
    await using cluster = await KubernetesCluster.start(lab, {
      segment: 'tenant-a',
      images,
      apiServerFlags: audit.flags,
      controllerManagerFlags: workers.length === 0 ? NODES_STAY : [],
      garbage: 'usual',
    })
    await Promise.all(workers.map((name) => cluster.addNode(name)))
    const settings = [`network.name=${gateway.networkId}`, ...set]
    const connector = await Connector.prepare({ lab, access, tenant: gateway, cluster, set: settings })
    await work({ ...bed, cluster, connector, audit })
  })
}

/** How many load balancers have been confirmed by every node that carries them, and how many have not. */
export async function confirmed({ access }: SpoutBed): Promise<{ readonly active: number; readonly others: number }> {
  const text = await (await fetch(`${access.statusUrl}/metrics`)).text()
  const active = metric(text, 'spout_load_balancers', 'provisioning="active"')
  return { active, others: metric(text, 'spout_load_balancers') - active }
}
