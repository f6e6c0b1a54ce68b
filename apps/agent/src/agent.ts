import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { NodeAgent } from '@spout/agent'
import type { ProbeLimits } from '@spout/dataplane'
import type { LocalPlan } from '@spout/plan/local'
import { type Clock, Lifecycle, type Logger, systemClock } from '@spout/runtime'
import { certificateDirectory } from './certificate-directory.ts'
import type { AgentConfig } from './config.ts'
import { type DataPlane, openDataPlane } from './data-plane.ts'
import { groupFabric } from './group-fabric.ts'
import { NodeIdentity, type NodeIdentityOptions } from './identity.ts'
import { LateIdentity } from './late-identity.ts'
import { hasLocalWork, linkUrlsOf } from './link-urls.ts'
import type { LocalPlans } from './settings.ts'
import { fabricFile, identityFile, stateFile, termFile } from './state-files.ts'

/**
 * Composes the parts and starts them. A node with an identity starts without the control plane: it takes over what
 * exists and continues from its state file.
 * @param onOtherFabric called once when the agent must be replaced, because its group names another fabric interface
 */
export async function startAgent(
  config: AgentConfig,
  plans: LocalPlans,
  log: Logger,
  onOtherFabric: () => void,
): Promise<Lifecycle> {
  const clock = systemClock
  const identity = await openIdentity(config, clock, log)
  const dataPlane = await openDataPlane(config, clock, log, {
    metricsOf: (listenerId) => agent.metricsOf(listenerId),
    onRequest: (request) => agent.carried(request),
    accessLogs: config.accessLogs.directory !== '',
    syslog: existsSync(config.accessLogs.sender),
  })
  const local = await localPlanOf(plans, dataPlane)
  const agent: NodeAgent = new NodeAgent({
    session: randomUUID(),
    stateFile: stateFile(config),
    termFile: termFile(config),
    link: identity && (() => identity.link),
    ...(identity && { servers: identity }),
    local,
    fabric: groupFabric(config, fabricFile(config), dataPlane.fabric, onOtherFabric),
    certificateDirectory: certificateDirectory(config),
    domains: dataPlane.domains,
    drivers: dataPlane.drivers,
    followers: dataPlane.followers,
    announcer: dataPlane.announcers,
    group: dataPlane.group,
    flows: () => dataPlane.flows.report(),
    fabricAddress: () => dataPlane.fabricAddress.read(),
    checks: dataPlane.checks,
    accessLogs: { files: await accessLogFiles(config), syslog: dataPlane.syslog },
    probeLimits: probeLimits(config),
    shares: dataPlane.shares,
    clock,
    random: Math.random,
    log,
  })
  dataPlane.helper.onRestart(() => agent.lookAgain())
  const lifecycle = new Lifecycle({ log })
  if (identity !== null) lifecycle.add(identity)
  lifecycle.add(dataPlane).add(agent)
  if (config.metrics.listen !== '') {
    const { agentMetrics } = await import('./metrics.ts')
    lifecycle.add(
      agentMetrics({
        ...config.metrics,
        figures: () => agent.figures,
        proxies: dataPlane.proxies,
        requestLines: dataPlane.requestLines,
        accessLogLines: () => agent.accessLogLines,
        syslogMessages: () => dataPlane.syslog.counts,
      }),
    )
  }
  await lifecycle.start()
  return lifecycle
}

/**
 * A node whose own settings name nothing needs its identity first. One that has such work starts without, and without
 * `server.url` it never has one.
 */
async function openIdentity(
  config: AgentConfig,
  clock: Clock,
  log: Logger,
): Promise<NodeIdentity | LateIdentity | null> {
  const [url, ...others] = linkUrlsOf(config)
  if (url === undefined) return null
  const { serviceAccountTokenFile: tokenFile, caFile, enrolmentTokenFile } = config.server
  const options: NodeIdentityOptions = {
    file: identityFile(config),
    ...{ url, others, enrolmentTokenFile },
    pod: tokenFile === '' ? null : { tokenFile, caFile },
    ...{ clock, log },
  }
  return hasLocalWork(config) ? new LateIdentity(options) : NodeIdentity.open(options)
}

/**
 * What this node gets by the settings that all nodes share. Null: they name nothing.
 * @throws Error if they do not name this node
 */
async function localPlanOf(plans: LocalPlans, { fabricAddress }: DataPlane): Promise<LocalPlan | null> {
  const nodes = Object.keys(plans)
  if (nodes.length === 0) return null
  const own = await fabricAddress.read()
  const plan = own === null ? undefined : plans[own]
  if (plan !== undefined) return plan
  throw new Error(`local.nodes: ${own ?? 'no address of the fabric interface'} is none of ${nodes.join(', ')}`)
}

/** Makes the directory of access logs, which besides root only its group may read. */
async function accessLogFiles({ accessLogs: { directory, megabytes, files } }: AgentConfig) {
  if (directory === '') return null
  await mkdir(directory, { recursive: true, mode: 0o750 })
  return { directory, files, mostBytes: megabytes * 1_000_000 }
}

const probeLimits = ({ checks: { mostOfProject, ...limits } }: AgentConfig): ProbeLimits => ({
  ...limits,
  mostOfOwner: mostOfProject,
})
