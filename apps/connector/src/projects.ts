import { Endpoints } from '@spout/client/endpoints'
import type { Sessions } from '@spout/client/native-api'
import { type PodWay, type ProjectRule, sessionsOf } from '@spout/connector'
import { externalRanges } from '@spout/intent-service'
import type { Clock } from '@spout/runtime'
import { ConfigError } from '@spout/runtime/config'
import type { ConnectorConfig, ProjectSettings } from './config.ts'

/** A project that the connector works in, and how it logs in there. */
export interface ConfiguredProject {
  /** Null for the one project that all namespaces belong to. */
  readonly rule: ProjectRule | null
  readonly sessions: Sessions
  readonly addressPools: readonly string[]
  /** The network whose routes to pods the connector keeps; null: it changes no routes. */
  readonly routesOfNetwork: string | null
  readonly podWay: PodWay
}

/**
 * The projects of the settings: those of the rules, else the one that `spout` logs in to.
 * @throws ConfigError
 */
export function configuredProjects(config: ConnectorConfig, clock: Clock): readonly ConfiguredProject[] {
  const { projects, services, network } = config
  const endpoints = new Endpoints(config.spout.endpoint)
  const routesOf = (name: string): string | null => (services.mode === 'direct' && name !== '' ? name : null)
  if (projects.length === 0)
    return [
      {
        rule: null,
        sessions: sessionsOf(endpoints, config.spout, 'spout', clock),
        addressPools: services.addressPools,
        routesOfNetwork: routesOf(network.name),
        podWay: network,
      },
    ]
  for (const name of ['tokenFile', 'applicationCredentialId', 'serviceAccountTokenFile'] as const)
    if (config.spout[name] !== '')
      throw new ConfigError(`spout.${name}: cannot be combined with projects; each project has a credential of its own`)
  return projects.map((project, at) => {
    const field = `projects.${at}`
    const before = projects.slice(0, at)
    if (before.some(({ name }) => name === project.name))
      throw new ConfigError(
        `${field}.name: another rule has the name "${project.name}"; one rule is enough for a project`,
      )
    if (project.default && before.some((other) => other.default))
      throw new ConfigError(`${field}.default: another rule is the default`)
    const rule = ruleOf(project)
    if (rule.namespaces.length === 0 && rule.labels === null && !rule.isDefault)
      throw new ConfigError(`${field}: has neither namespaces nor namespaceLabels, nor is it the default`)
    return {
      rule,
      sessions: sessionsOf(endpoints, project, field, clock),
      addressPools: project.addressPools.length > 0 ? project.addressPools : services.addressPools,
      routesOfNetwork: routesOf(project.network || network.name),
      podWay: {
        routers: project.routers.length > 0 ? project.routers : network.routers,
        podCidrs: project.podCidrs.length > 0 ? project.podCidrs : network.podCidrs,
      },
    }
  })
}

/** @throws ConfigError */
export function checkExternalRanges({ services }: ConnectorConfig): void {
  for (const [at, text] of services.externalIPs.entries())
    try {
      externalRanges([text])
    } catch (error) {
      throw new ConfigError(`services.externalIPs.${at}: ${(error as Error).message}`)
    }
}

const ruleOf = ({ name, namespaces, namespaceLabels, default: isDefault }: ProjectSettings): ProjectRule => ({
  project: name,
  namespaces,
  labels: Object.keys(namespaceLabels).length === 0 ? null : namespaceLabels,
  isDefault,
})
