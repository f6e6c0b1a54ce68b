import type { PlaceName } from '@spout/testkit'
import { type InClusterLab, startInClusterLab, WORKERS } from '../../e2e/kubernetes/in-cluster-lab.ts'
import { serviceBody, servicesIn } from '../../e2e/kubernetes/services.ts'
import { giveMetallbPool, installMetallb, METALLB_CLASS, metallbImages } from './metallb.ts'
import { UNCHECKED } from './objects.ts'

export const COMPARED_WITH =
  'MetalLB 0.15.2 in L2 mode, kube-proxy in nftables mode behind it, on the same nodes with the same pods'

/** All on the nodes' segment, so that the router and one of the nodes are on every way. */
const PEERS = '198.51.100.128/26'
const OURS = `apiVersion: spout.dev/v1alpha1
kind: AddressPool
metadata: {name: bench}
spec:
  subnet: 198.51.100.0/24
  addresses: [{first: 198.51.100.16, last: 198.51.100.127}]
`
const INSTALL =
  'helm install spout deploy/chart/spout --namespace spout --create-namespace --set image=registry.example.net/spout:0.1.0,returnPath=node'

/** A cluster of two nodes whose Services MetalLB's and Spout's programs announce on the same nodes. Spout is not installed yet. */
export async function withMetallbInCluster(work: (lab: InClusterLab) => Promise<void>): Promise<void> {
  const lab = await startInClusterLab(await metallbImages())
  try {
    await installMetallb(lab.cluster)
    await giveMetallbPool(lab.cluster, PEERS)
    await work(lab)
  } finally {
    await lab.destroy()
  }
}

/** Spout by its chart, with return path `node`; its Services are those without a class. */
export async function installSpout(lab: InClusterLab): Promise<void> {
  const { code, stderr } = await lab.shell(INSTALL)
  if (code !== 0) throw new Error(`helm install: ${stderr}`)
  await lab.apply(OURS)
  await lab.allReady()
}

/** Pods that answer HTTP have this label; `at` is the name of their node. */
const POD = { app: 'bench' } as const
/** What the pods themselves answer on, apart from the ports of programs that a benchmark starts in them. */
const POD_PORT = 8081

/** Starts a pod on each node. @returns by node, the place of the lab that the pod is */
export async function startPods({ cluster }: InClusterLab): Promise<ReadonlyMap<string, PlaceName>> {
  const container = { name: 'bench', image: 'web', ports: [{ name: 'http', containerPort: POD_PORT }] }
  for (const node of WORKERS) {
    const labels = { ...POD, at: node }
    await cluster.api.create('/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: `at-${node}` },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            terminationGracePeriodSeconds: 0,
            nodeSelector: { 'kubernetes.io/hostname': node },
            containers: [container],
          },
        },
      },
    })
  }
  const pods = await cluster.readyPods(WORKERS.length, `app=${POD.app}`)
  return new Map(pods.map((pod) => [pod.spec.nodeName ?? '', cluster.podPlace(pod)]))
}

export interface BalancedSpec {
  readonly name: string
  readonly side: 'ours' | 'peer'
  readonly policy: 'Local' | 'Cluster'
  /** The node of its pod. Null: both pods. */
  readonly at: string | null
  /** Ports of both the Service and the pods, beside HTTP. */
  readonly ports: readonly number[]
  /** Whether Spout checks the pods. A server that takes one client at a time takes a check for one. Default: true. */
  readonly isChecked?: boolean
}

export interface Balanced {
  readonly name: string
  readonly address: string
  /** The node that the router sends packets for the address to. */
  readonly owner: string
}

const selectorOf = (at: string | null) => (at === null ? POD : { ...POD, at })

/** Creates a Service and waits until a pod answers at its address. */
export async function balance(
  lab: InClusterLab,
  { name, side, policy, at, ports, isChecked = true }: BalancedSpec,
): Promise<Balanced> {
  const spec = {
    selector: selectorOf(at),
    externalTrafficPolicy: policy,
    ...(side === 'peer' ? { loadBalancerClass: METALLB_CLASS } : {}),
    ports: [
      { name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' },
      ...ports.map((port) => ({ name: `p${port}`, port, targetPort: port, protocol: 'TCP' })),
    ],
  }
  const body = serviceBody(name, POD.app, spec, isChecked ? {} : UNCHECKED)
  await lab.cluster.api.create(servicesIn('default'), body)
  const address = await lab.answering(name)
  return { name, address, owner: await ownerOf(lab, address) }
}

/** Leaves a Service the pod of one node alone. */
export const keepPodOf = ({ cluster }: InClusterLab, { name }: Balanced, node: string): Promise<unknown> =>
  cluster.api.patch(`${servicesIn('default')}/${name}`, { spec: { selector: selectorOf(node) } })

const MOST_TRIES = 16

/**
 * Creates Services until one is as wanted: which node gets an address is for either side to say.
 * @throws Error when none is
 */
export async function balanceUntil(
  lab: InClusterLab,
  specOf: (n: number) => BalancedSpec,
  isWanted: (found: Balanced, spec: BalancedSpec) => boolean,
): Promise<Balanced> {
  for (let n = 0; n < MOST_TRIES; n++) {
    const spec = specOf(n)
    const found = await balance(lab, spec)
    if (isWanted(found, spec)) return found
  }
  throw new Error(`none of ${MOST_TRIES} Services like ${specOf(0).name} is where it is wanted`)
}

/** By the router's neighbour table. @throws Error when no node has the hardware address that is in it */
async function ownerOf({ lab, cluster }: InClusterLab, address: string): Promise<string> {
  const [neighbour] = JSON.parse(await lab.must('router', ['ip', '-j', 'neighbour', 'show', address])) as readonly {
    readonly lladdr?: string
  }[]
  for (const { name } of cluster.nodes) {
    const [link] = JSON.parse(await lab.must(name, ['ip', '-j', 'link', 'show', 'dev', 'data0'])) as readonly {
      readonly address: string
    }[]
    if (link?.address === neighbour?.lladdr) return name
  }
  throw new Error(`no node has ${address}: ${JSON.stringify(neighbour)}`)
}
