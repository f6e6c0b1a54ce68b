import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  callApi,
  type Daemon,
  isAlive,
  type Lab,
  PRODUCT_ENVIRONMENT,
  type SystemAccess,
  waitFor,
} from '@spout/testkit'

const PROGRAM = path.join(import.meta.dirname, 'agents-program.ts')

/** Configuration of the agents' program. */
export interface AgentsConfig {
  /** URL of the agent link. */
  readonly url: string
  /** One enrolment token for each agent. */
  readonly tokens: readonly string[]
  /** Directory for the agents' state files. */
  readonly directory: string
}

/** What the agents did since the last count. */
export interface AgentsCount {
  /** Requested state streams. */
  readonly connections: number
  /** Changes of the nodes' state and announcements. */
  readonly changes: number
  readonly some: readonly string[]
}

interface GroupedNodes {
  /** Prefix of the node names. */
  readonly name?: string
  readonly groupIds: readonly string[]
  readonly perGroup: number
}

/** Starts agents in one process, the same number in each group; resolves once all are enrolled and running. */
export async function startAgents(
  lab: Lab,
  access: SystemAccess,
  { name = 'scale', groupIds, perGroup }: GroupedNodes,
) {
  const tokens: string[] = []
  for (const [group, nodeGroupId] of groupIds.entries())
    for (let node = 0; node < perGroup; node++) {
      const body = { nodeName: `${name}-${group}-${node}`, nodeGroupId }
      const made = await callApi<{ token: string }>(
        access.endpoint,
        access.admin.token,
        'POST',
        '/enrolment-tokens',
        body,
      )
      tokens.push(made.token)
    }
  const config: AgentsConfig = { url: `https://${lab.hostAddress}:9131`, tokens, directory: lab.directory }
  const file = path.join(lab.directory, `${name}.json`)
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
  const daemon = await lab.start('host', name, [process.execPath, PROGRAM, file], { env: PRODUCT_ENVIRONMENT })
  const log = () => readFileSync(daemon.logFile, 'utf8')
  const says = async (text: string): Promise<void> => {
    const state = await waitFor(() => (log().split('\n').includes(text) ? 'said' : isAlive(daemon) ? null : 'ended'), {
      what: `the agents to say "${text}"`,
      timeoutMs: 1_200_000,
      everyMs: 100,
    })
    if (state === 'ended') throw new Error(`the agents ended: ${log().trim().slice(-2000)}`)
  }
  await says('enrolled')
  await says('ready')
  return { daemon, count: () => countOf(daemon, log) }
}

async function countOf(daemon: Daemon, log: () => string): Promise<AgentsCount> {
  const lines = () =>
    log()
      .split('\n')
      .filter((line) => line.includes('"counted"'))
  const before = lines().length
  process.kill(daemon.pid, 'SIGUSR2')
  const line = await waitFor(() => lines()[before] ?? null, { what: 'the agents to count' })
  return JSON.parse(line) as AgentsCount
}
