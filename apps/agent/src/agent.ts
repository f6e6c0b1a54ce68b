import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { NodeAgent } from '@spout/agent'
import type { ProbeLimits } from '@spout/dataplane'
import { Lifecycle, type Logger, systemClock } from '@spout/runtime'
import { certificateDirectory } from './certificate-directory.ts'
import type { AgentConfig } from './config.ts'
import { openDataPlane } from './data-plane.ts'
import { NodeIdentity } from './identity.ts'
import { identityFile, stateFile } from './state-files.ts'

/**
 * Composes the parts and starts them. A node with an identity starts without the control plane: it takes over what
 * exists and continues from its state file.
 */
export async function startAgent(config: AgentConfig, log: Logger): Promise<Lifecycle> {
  const clock = systemClock
  const identity = await NodeIdentity.open({
    file: identityFile(config),
    url: config.server.url,
    enrolmentTokenFile: config.server.enrolmentTokenFile,
    pod:
      config.server.serviceAccountTokenFile === ''
        ? null
        : { tokenFile: config.server.serviceAccountTokenFile, caFile: config.server.caFile },
    clock,
    log,
  })
  const dataPlane = await openDataPlane(config, clock, log, {
    metricsOf: (listenerId) => agent.metricsOf(listenerId),
    onRequest: (request) => agent.carried(request),
    accessLogs: config.accessLogs.directory !== '',
    syslog: existsSync(config.accessLogs.sender),
  })
  const agent: NodeAgent = new NodeAgent({
    session: randomUUID(),
    stateFile: stateFile(config),
    link: () => identity.link,
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
  const lifecycle = new Lifecycle({ log }).add(identity).add(dataPlane).add(agent)
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
