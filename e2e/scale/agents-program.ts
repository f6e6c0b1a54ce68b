import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { NodeAgent } from '@spout/agent'
import { RecordedAnnouncer, RecordedDomains, RecordedDriver, RecordedGroup, RecordedNode } from '@spout/agent/testing'
import { createAgentLink } from '@spout/client/agent-link'
import { enrol } from '@spout/client/enrolment'
import { silentLogger, systemClock } from '@spout/runtime'
import { execOk } from '@spout/sys'
import type { AgentsConfig } from './agents.ts'

/**
 * Many agents in one process: the agent's own code from the link to the reports, over nodes in memory. Run with the
 * file that `AgentsConfig` describes. Prints `enrolled`, then `ready`; at SIGUSR2 a line of JSON with what happened
 * since the last one.
 */
const config = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as AgentsConfig
const ENROLLED_AT_ONCE = 8
const MOST_ATTEMPTS = 5

/** A node's own address on a fabric that does not exist; each has another. */
const fabricAddressOf = (index: number): string => `100.64.${index >> 8}.${index & 255}`

const PEM = /-----BEGIN (PRIVATE KEY|CERTIFICATE REQUEST)-----[^-]+-----END \1-----\n/g

/** One key for all of them; each gets its own certificate. */
async function request(): Promise<{ readonly key: string; readonly csr: string }> {
  const curve = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
  const output = await execOk([
    'openssl',
    'req',
    '-new',
    '-newkey',
    ...curve,
    '-nodes',
    '-keyout',
    '-',
    '-subj',
    '/CN=scale',
  ])
  const blocks = new Map(Array.from(output.matchAll(PEM), ([pem, label]) => [label, pem]))
  return { key: blocks.get('PRIVATE KEY') ?? '', csr: blocks.get('CERTIFICATE REQUEST') ?? '' }
}

let connections = 0
const nodes: RecordedNode[] = []

/** On a busy machine an answer may be late: the token is valid until it was used. */
async function enrolled(token: string, csr: string): ReturnType<typeof enrol> {
  for (let attempt = 1; ; attempt++)
    try {
      return await enrol(config.url, token, csr)
    } catch (error) {
      if (attempt === MOST_ATTEMPTS) throw error
    }
}

async function agentOf(index: number, token: string, { key, csr }: Awaited<ReturnType<typeof request>>) {
  const { certificate, ca } = await enrolled(token, csr)
  const link = createAgentLink({ url: config.url, ca, certificate, key })
  const node = new RecordedNode()
  nodes.push(node)
  return new NodeAgent({
    session: randomUUID(),
    stateFile: path.join(config.directory, `scale-${index}.journal`),
    link: () => ({
      ...link,
      state: (signal) => {
        connections++
        return link.state(signal)
      },
    }),
    certificateDirectory: path.join(config.directory, `scale-${index}.certificates`),
    domains: new RecordedDomains(node),
    drivers: [new RecordedDriver(node)],
    announcer: new RecordedAnnouncer(node),
    group: new RecordedGroup(node),
    flows: async () => null,
    fabricAddress: async () => fabricAddressOf(index),
    checks: [],
    clock: systemClock,
    random: Math.random,
    log: silentLogger(),
  })
}

process.on('SIGUSR2', () => {
  const changes = nodes.flatMap((node) => node.take())
  console.log(JSON.stringify({ event: 'counted', connections, changes: changes.length, some: changes.slice(0, 5) }))
  connections = 0
})

const made = await request()
const agents: NodeAgent[] = []
for (let first = 0; first < config.tokens.length; first += ENROLLED_AT_ONCE) {
  const tokens = config.tokens.slice(first, first + ENROLLED_AT_ONCE)
  agents.push(...(await Promise.all(tokens.map((token, at) => agentOf(first + at, token, made)))))
}
console.log('enrolled')
for (const agent of agents) await agent.start()
console.log('ready')
