/**
 * An agent is killed by SIGKILL and restarted on a node that carries many load balancers: how long until it is in sync
 * again, and what it changed in the kernel. The kernel's own count of transactions is the evidence.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { callApi, type SystemAccess, startAgent, waitFor } from '@spout/testkit'
import { Filler } from './bed/fill.ts'
import { compile } from './bed/native.ts'
import { domainNamespaces, proxyProcesses } from './bed/processes.ts'
import { withSpout } from './bed/spout-bed.ts'
import { median } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_MS = 2000
const NODE = 'node1'
const OBSERVED_MS = 3000

const options = benchOptions()
const COUNT = options.quick ? 200 : 1000
const ROUNDS = options.quick ? 1 : 5

interface NodeView {
  readonly name: string
  readonly status: { readonly connection: string; readonly inSync: boolean; readonly session?: string }
}

async function nodeView({ endpoint, admin }: SystemAccess): Promise<NodeView | undefined> {
  const { items } = await callApi<{ items: NodeView[] }>(endpoint, admin.token, 'GET', '/nodes')
  return items.find(({ name }) => name === NODE)
}

/** The log's last line of an event. */
const lastEvent = (logFile: string, event: string): Readonly<Record<string, unknown>> | null => {
  const line = readFileSync(logFile, 'utf8')
    .split('\n')
    .findLast((text) => text.includes(`"event":"${event}"`))
  return line === undefined ? null : (JSON.parse(line) as Record<string, unknown>)
}

await withSpout({ nodes: [NODE], members: false }, async (bed) => {
  const { lab, access } = bed
  await (await Filler.create(bed)).fillTo(COUNT)
  const binary = await compile(lab, 'nft-generation')
  const transactions = async (): Promise<number> => {
    let sum = 0
    for (const namespace of [lab.namespace(NODE), ...domainNamespaces(lab)])
      sum += Number((await lab.must('host', ['nsenter', `--net=/run/netns/${namespace}`, '--', binary])).trim())
    return sum
  }
  const proxies = await proxyProcesses(lab)
  const readyMs: number[] = []
  const changed: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const agent = lab.process(`agent-${NODE}`)
    if (agent === null) throw new Error('the agent does not run')
    await lab.stop(agent, 'SIGKILL')
    // The control plane shows the dead agent's last report until it misses it: that must not count as the new one's.
    await waitFor(async () => (await nodeView(access))?.status.connection !== 'connected', {
      what: 'the node to be missed',
    })
    const before = await transactions()
    const started = performance.now()
    const { logFile } = await startAgent(lab, access, NODE)
    await waitFor(
      async () => {
        const status = (await nodeView(access))?.status
        return status?.connection === 'connected' && status.inSync
      },
      { what: 'the agent to be in sync', everyMs: 2 },
    )
    readyMs.push(performance.now() - started)
    // Corrections on its first pass, which come within this time, count too.
    await pause(OBSERVED_MS)
    changed.push((await transactions()) - before)
    const adopted = lastEvent(logFile, 'adopted')
    if (Number(adopted?.entries) < COUNT) throw new Error(`adopted ${String(adopted?.entries)} entries of ${COUNT}`)
  }
  const ours = {
    p50Ms: median(readyMs),
    minMs: Math.min(...readyMs),
    maxMs: Math.max(...readyMs),
    transactions: Math.max(...changed),
  }
  printRow(
    {
      name: 'restart-adopt',
      ours,
      peer: null,
      comparedWith: 'nothing: the bound is absolute',
      ratio: null,
      goal: `agent kill -9 and restart at 1000 load balancers: 0 kernel transactions, <= ${GOAL_MS} ms`,
      pass: ours.maxMs <= GOAL_MS && ours.transactions === 0,
      detail: {
        loadBalancers: COUNT,
        rounds: ROUNDS,
        proxiesReplaced: (await proxyProcesses(lab)).filter((process) => !proxies.includes(process)).length,
        measured: 'from starting the process until it has adopted, connected, and the node shows in sync',
      },
    },
    options,
  )
})
