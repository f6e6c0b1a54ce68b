import { type Clock, type Logger, Secret } from '@spout/runtime'
import { ConfigError } from '@spout/runtime/config'
import { type Authenticator, OpenIdLogins, OpenIdProvider, pageCookie } from '@spout/server'
import { authoritiesOf } from './authorities.ts'
import type { ControlPlaneConfig } from './config.ts'
import type { ModelStore } from './model-store.ts'
import { settingFile } from './setting-file.ts'

/**
 * Logins by the provider of the settings; null when there is none. It is not asked before somebody logs in.
 * @throws ConfigError for settings that do not go together, and files that cannot be used
 */
export function openOidc(
  { oidc: config, api, ui }: Pick<ControlPlaneConfig, 'oidc' | 'api' | 'ui'>,
  { admission, view }: ModelStore,
  { tokens }: Authenticator,
  around: { readonly clock: Clock; readonly log: Logger },
): OpenIdLogins | null {
  if (config.issuer === '') return null
  if (!ui.enabled) throw new ConfigError('Field oidc.issuer: is for the web page, which ui.enabled turns off')
  const pageUrl = pageUrlOf(api.publicUrl)
  const { name, issuer, clientId, scopes, timeoutMs, grants } = config
  const claims = { user: config.userClaim, groups: config.groupsClaim }
  const provider = new OpenIdProvider({
    ...{ name, issuer, clientId, scopes, claims, timeoutMs, ...around },
    clientSecret: secretOf(config),
    redirectUri: new URL('log-in', pageUrl).href,
    ca: authoritiesOf('oidc.caFile', config.caFile),
  })
  const cookie = pageCookie(api.tls || pageUrl.startsWith('https:'), 'login')
  return new OpenIdLogins({
    ...{ provider, name, issuer, claims, grants, cookie, pageUrl },
    ...{ admission, view, tokens, clock: around.clock },
  })
}

/**
 * Where browsers find the page. It is never taken from a request: the provider would send the code of a login to
 * wherever a stranger says.
 */
function pageUrlOf(publicUrl: string): string {
  const url = URL.parse(publicUrl)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigError(
      'Field api.publicUrl: is needed with oidc.issuer, such as https://spout.example.com: the provider sends browsers back there',
    )
  return `${publicUrl.replace(/\/+$/, '')}/ui/`
}

function secretOf({ clientSecret, clientSecretFile: file }: ControlPlaneConfig['oidc']): Secret<string> | null {
  if (file === '') return clientSecret ?? null
  const text = settingFile('oidc.clientSecretFile', file).trim()
  if (text === '') throw new ConfigError('Field oidc.clientSecretFile: is empty')
  return new Secret(text)
}
