/**
 * One more node in a cluster whose Services use node ports, which changes every load balancer: from the write that
 * gives the Node its address, until the load-balancer node has confirmed all. The nodes are only objects.
 */
import { callApi, waitFor } from '@spout/testkit'
import { type ConnectedCluster, confirmed, withConnectedCluster } from './kubernetes/connected-cluster.ts'
import { lookMs, watchForChange } from './kubernetes/current.ts'
import { addressNode, createNode, createService, forEachNumber, UNCHECKED } from './kubernetes/objects.ts'
import { median, spread } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const options = benchOptions()
const ROUNDS = options.quick ? 2 : 3
/** Time limit for balancing everything: set-up, not measured. */
const LONGEST_MS = 900_000

interface Scale {
  readonly name: string
  readonly nodes: number
  readonly services: number
  readonly goalMs: number
}

const EIGHTY: Scale = options.quick
  ? { name: 'eighty-nodes', nodes: 8, services: 10, goalMs: 1000 }
  : { name: 'eighty-nodes', nodes: 80, services: 50, goalMs: 1000 }
const THOUSAND: Scale = options.quick
  ? { name: 'thousand-nodes', nodes: 100, services: 50, goalMs: 3000 }
  : { name: 'thousand-nodes', nodes: 1000, services: 500, goalMs: 3000 }

const NODES_CIDR = '10.1.0.0/16'
const nodeName = (n: number): string => `fake-${n}`
const nodeAddress = (n: number): string => `10.1.${Math.floor(n / 250)}.${(n % 250) + 1}`

async function addNodes({ cluster: { api } }: ConnectedCluster, from: number, to: number): Promise<void> {
  await forEachNumber(from, to, async (n) => {
    await createNode(api, nodeName(n))
    await addressNode(api, nodeName(n), nodeAddress(n))
  })
}

async function addServices({ cluster: { api } }: ConnectedCluster, from: number, to: number): Promise<void> {
  await forEachNumber(from, to, (n) => createService(api, { name: `service-${n}`, annotations: UNCHECKED }))
}

/** Adds a node, several times. @returns how long each took until everything was up to date */
async function measure(bed: ConnectedCluster, scale: Scale): Promise<readonly number[]> {
  const samples: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const n = scale.nodes + round
    await createNode(bed.cluster.api, nodeName(n))
    await bed.connector.idle(scale.services, LONGEST_MS)
    // Before the first round the node is still applying the set-up.
    await waitFor(
      async () => {
        const { active, others } = await confirmed(bed)
        return active === scale.services && others === 0
      },
      { what: 'the node to have confirmed what was set up', timeoutMs: LONGEST_MS, everyMs: 100 },
    )
    const { current } = await watchForChange(bed)
    const startedMs = performance.now()
    await addressNode(bed.cluster.api, nodeName(n), nodeAddress(n))
    const done = await current()
    samples.push(performance.now() - startedMs)
    if (!done) break
  }
  return samples
}

async function row(bed: ConnectedCluster, scale: Scale): Promise<void> {
  const samples = await measure(bed, scale)
  const { p50Ms, minMs, maxMs } = spread(samples)
  printRow(
    {
      name: scale.name,
      ours: { p50Ms, minMs, maxMs },
      peer: null,
      comparedWith: 'nothing: the bound is absolute',
      ratio: null,
      goal: `node set +1 at ${scale.nodes} nodes x ${scale.services} Services by node ports: all current <= ${scale.goalMs} ms`,
      pass: maxMs <= scale.goalMs,
      detail: {
        rounds: samples.length,
        eachMs: samples.map(Math.round).join(', '),
        members: scale.nodes * scale.services,
        resolutionMs: median([await lookMs(bed), await lookMs(bed), await lookMs(bed)]),
        connectorMb: bed.connector.memoryMb.now,
        measured: 'before the write of the Node until every load balancer is changed and confirmed by the node',
      },
    },
    options,
  )
}

const set = ['services.mode=node-ports', 'services.addressPools=[wide]']
await withConnectedCluster({ nodes: ['node1'], set }, async (bed) => {
  const { access, gateway } = bed
  const routes = [{ to: NODES_CIDR, via: '10.0.0.11' }]
  await callApi(access.endpoint, access.admin.token, 'PUT', `/networks/${gateway.networkId}/routes`, { routes })
  await addNodes(bed, 0, EIGHTY.nodes)
  await bed.connector.start()
  await addServices(bed, 0, EIGHTY.services)
  await bed.connector.idle(EIGHTY.services, LONGEST_MS)
  await row(bed, EIGHTY)

  // Restarts the connector: following a thousand additions one by one would take long.
  await bed.connector.kill()
  await addNodes(bed, EIGHTY.nodes + ROUNDS, THOUSAND.nodes)
  await addServices(bed, EIGHTY.services, THOUSAND.services)
  await bed.connector.start()
  await bed.connector.idle(THOUSAND.services, LONGEST_MS)
  await row(bed, THOUSAND)
})
