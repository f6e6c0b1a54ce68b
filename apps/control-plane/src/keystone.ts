import type { Clock, Logger } from '@spout/runtime'
import { KeystoneClient, KeystoneProjects, KeystoneTokens, type ServiceCredential } from '@spout/server'
import { authoritiesOf } from './authorities.ts'
import type { ControlPlaneConfig } from './config.ts'
import type { ModelStore } from './model-store.ts'

export interface Keystone {
  readonly tokens: KeystoneTokens
  close(): void
}

/** The Keystone of the settings; null when there is none. It is not asked before a request needs it. */
export function openKeystone(
  { keystone: config, admin }: Pick<ControlPlaneConfig, 'keystone' | 'admin'>,
  { admission, view }: ModelStore,
  around: { readonly clock: Clock; readonly log: Logger },
): Keystone | null {
  if (config.url === '') return null
  const client = new KeystoneClient({
    url: config.url,
    credential: credentialOf(config),
    ca: authoritiesOf('keystone.caFile', config.caFile),
    timeoutMs: config.timeoutMs,
  })
  const projects = new KeystoneProjects({
    ...{ admission, view, log: around.log },
    mapped: new Map(config.projects.map(({ id, project }) => [id, project])),
    createsProjects: config.createProjects,
    systemProject: admin.project,
  })
  const tokens = new KeystoneTokens({
    ...{ client, projects, ...around },
    cacheMs: config.cacheSeconds * 1000,
    outageMs: config.outageSeconds * 1000,
  })
  return { tokens, close: () => client.close() }
}

/** One of the two is set: the settings were checked. */
function credentialOf(config: ControlPlaneConfig['keystone']): ServiceCredential {
  const { applicationCredentialId, applicationCredentialSecret, password } = config
  if (applicationCredentialSecret !== undefined) return { applicationCredentialId, secret: applicationCredentialSecret }
  if (password === undefined) throw new Error('keystone.password is not set')
  const { user, userDomain, project, projectDomain } = config
  return { user, userDomain, password, project, projectDomain }
}
