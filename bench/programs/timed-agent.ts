/**
 * The node agent, composed as in `apps/agent`, with two timestamps: when lines of the state stream arrived, and when
 * the packet path's driver had the kernel's answer. One JSON object per line; times in ns on CLOCK_MONOTONIC.
 */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { NodeAgent } from '@spout/agent'
import type { AgentLink } from '@spout/client/agent-link'
import type { DataPlaneDriver } from '@spout/dataplane'
import { systemClock } from '@spout/runtime'
import { loadConfig } from '@spout/runtime/config'
import { createLogger } from '@spout/runtime/logger'
import { certificateDirectory } from '../../apps/agent/src/certificate-directory.ts'
import { agentConfig } from '../../apps/agent/src/config.ts'
import { openDataPlane } from '../../apps/agent/src/data-plane.ts'
import { NodeIdentity } from '../../apps/agent/src/identity.ts'

/** Output of this program for each apply of the packet path's driver. */
export interface AppliedLine {
  readonly entries: number
  readonly lastKey: string
  /** When the first line arrived that no earlier apply had covered. */
  readonly arrivedNs: string
  readonly doneNs: string
  readonly failed: number
}

let arrivedNs: bigint | null = null

const stamped = (link: AgentLink): AgentLink => ({
  ...link,
  async *state(signal) {
    for await (const lines of link.state(signal)) {
      if (lines.some(({ type }) => type === 'put')) arrivedNs ??= process.hrtime.bigint()
      yield lines
    }
  },
})

const timed = (driver: DataPlaneDriver): DataPlaneDriver => ({
  name: driver.name,
  features: driver.features,
  render: (wanted) => driver.render(wanted),
  prepare: (soon) => driver.prepare?.(soon),
  adopt: (previous) => driver.adopt(previous),
  async apply(changes, signal) {
    const applied = await driver.apply(changes, signal)
    const doneNs = process.hrtime.bigint()
    const line: AppliedLine = {
      entries: changes.put.length,
      lastKey: changes.put.at(-1)?.key ?? '',
      arrivedNs: String(arrivedNs ?? doneNs),
      doneNs: String(doneNs),
      failed: applied.filter(({ state }) => state === 'failed').length,
    }
    arrivedNs = null
    process.stdout.write(`${JSON.stringify(line)}\n`)
    return applied
  },
  observe: () => driver.observe(),
  stats: () => driver.stats(),
  get counters() {
    return driver.counters
  },
  close: () => driver.close(),
})

// The agent must not log to standard output, which carries the timestamps.
const log = createLogger({ name: 'timed-agent', level: 'error' })
const { config } = loadConfig(agentConfig, { set: process.argv.slice(2) })
const clock = systemClock
const identity = await NodeIdentity.open({
  file: path.join(config.stateDirectory, 'identity.json'),
  url: config.server.url,
  enrolmentTokenFile: config.server.enrolmentTokenFile,
  clock,
  log,
})
const dataPlane = await openDataPlane(config, clock, log, {
  metricsOf: (listenerId) => agent.metricsOf(listenerId),
  onRequest: (request) => agent.carried(request),
  accessLogs: false,
  syslog: false,
})
const link = stamped(identity.link)
const agent: NodeAgent = new NodeAgent({
  session: randomUUID(),
  stateFile: path.join(config.stateDirectory, 'entries.journal'),
  link: () => link,
  certificateDirectory: certificateDirectory(config),
  domains: dataPlane.domains,
  drivers: dataPlane.drivers.map((driver) => (driver.name === 'nftables' ? timed(driver) : driver)),
  followers: dataPlane.followers,
  announcer: dataPlane.announcers,
  group: dataPlane.group,
  flows: () => dataPlane.flows.report(),
  fabricAddress: () => dataPlane.fabricAddress.read(),
  checks: dataPlane.checks,
  clock,
  random: Math.random,
  log,
})
dataPlane.helper.onRestart(() => agent.lookAgain())
await agent.start()
