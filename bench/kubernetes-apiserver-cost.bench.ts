/**
 * The cost of Services for the API server, from its audit log: writes per created Service, and the connector's open
 * watches at several numbers of Services. MetalLB has its own Services at the same time.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { waitFor } from '@spout/testkit'
import { countedText } from './kubernetes/audit-log.ts'
import { type ConnectedCluster, withConnectedCluster } from './kubernetes/connected-cluster.ts'
import { CONNECTOR_AGENT } from './kubernetes/connector.ts'
import { METALLB_AGENTS, METALLB_CLASS, metallbImages, startMetallb } from './kubernetes/metallb.ts'
import { createServices } from './kubernetes/objects.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_WRITES = 3
const options = benchOptions()
const STEPS = options.quick ? [10, 30] : [50, 500]
const PEER_SERVICES = options.quick ? 10 : 50
/** Events are written after the work is done. */
const SETTLE_MS = 5000

interface WithAddress {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly loadBalancerClass?: string }
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly unknown[] } }
}

/** MetalLB's writes until all of its Services have an address, and a while longer. */
async function peerWrites({ cluster, audit }: ConnectedCluster) {
  const from = audit.end
  await createServices(cluster.api, 'peer', STEPS.at(-1) ?? 0, (STEPS.at(-1) ?? 0) + PEER_SERVICES, {
    loadBalancerClass: METALLB_CLASS,
  })
  await waitFor(
    async () => {
      const { items } = await cluster.api.list<WithAddress & { readonly metadata: never }>('/api/v1/services')
      const done = items.filter(
        ({ spec, status }) =>
          spec.loadBalancerClass === METALLB_CLASS && (status?.loadBalancer?.ingress ?? []).length > 0,
      )
      return done.length === PEER_SERVICES
    },
    { what: 'MetalLB to give addresses', timeoutMs: 60_000, everyMs: 100 },
  )
  await pause(SETTLE_MS)
  return audit.writesSince(from, METALLB_AGENTS)
}

const images = await metallbImages()
const set = ['services.addressPools=[wide]']
await withConnectedCluster({ nodes: ['node1'], workers: ['worker1'], images, set }, async (bed) => {
  const { cluster, connector, audit } = bed
  const watches = () => audit.openWatches([CONNECTOR_AGENT])
  await startMetallb(cluster)
  await connector.start()
  await connector.idle(0)
  await pause(SETTLE_MS)
  const from = audit.end
  const open: Record<string, number> = { watchesAt0: watches() }
  let made = 0
  for (const step of STEPS) {
    await createServices(cluster.api, 'ours', made, step)
    made = step
    await connector.idle(made, 120_000)
    await pause(SETTLE_MS)
    open[`watchesAt${step}`] = watches()
  }
  const ours = audit.writesSince(from, [CONNECTOR_AGENT])
  const peer = await peerWrites(bed)
  const writesPerService = ours.length / made
  const peerWritesPerService = peer.length / PEER_SERVICES
  const constant = new Set(Object.values(open)).size === 1 && open['watchesAt0'] !== 0
  printRow(
    {
      name: 'apiserver-cost',
      ours: { writesPerService, ...open },
      peer: { writesPerService: peerWritesPerService, watches: audit.openWatches(METALLB_AGENTS) },
      comparedWith: 'MetalLB 0.15.2, controller and one speaker',
      ratio: writesPerService / peerWritesPerService,
      goal: `<= ${GOAL_WRITES} writes per Service created; the connector's open watches constant in the number of Services`,
      pass: writesPerService <= GOAL_WRITES && constant,
      detail: {
        services: made,
        writes: countedText(ours),
        peerServices: PEER_SERVICES,
        peerWrites: countedText(peer),
        measured: "the API server's audit log by user agent: writes, and watches that were answered and have not ended",
      },
    },
    options,
  )
})
