import { BadCloud, type Cloud } from './cloud.ts'

/** Access to a cloud's Octavia and Neutron: their base URLs, and the headers that authenticate a request. */
export interface Access {
  readonly endpoint: string
  /** Null where no Neutron is known. */
  readonly networkEndpoint: string | null
  readonly headers: Readonly<Record<string, string>>
}

interface Service {
  readonly type: string
  readonly endpoints: readonly { readonly interface: string; readonly region_id?: string; readonly url: string }[]
}

/** Logs in at Keystone, as API reference "Identity v3, authentication and token management" says. @throws BadCloud */
export async function login(cloud: Cloud, signal: AbortSignal): Promise<Access> {
  const { auth, authType } = cloud
  if (authType === 'none') {
    const projectId = auth['project_id']
    const headers: Access['headers'] = projectId === undefined ? {} : { 'x-project-id': projectId }
    return { endpoint: cloud.endpoint ?? '', networkEndpoint: cloud.networkEndpoint, headers }
  }
  const base = auth['auth_url']!.replace(/\/+$/, '')
  const url = `${/\/v3$/.test(base) ? base : `${base}/v3`}/auth/tokens`
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ auth: { identity: identityOf(cloud), ...scopeOf(cloud) } }),
    signal,
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    throw new BadCloud(`${url}: ${cause}`)
  })
  const token = response.headers.get('x-subject-token')
  if (!response.ok || token === null) throw new BadCloud(`${url}: the login was refused with ${response.status}`)
  const body = (await response.json()) as { readonly token?: { readonly catalog?: readonly Service[] } }
  const catalog = body.token?.catalog ?? []
  return {
    endpoint: cloud.endpoint ?? octaviaOf(cloud, catalog),
    networkEndpoint: cloud.networkEndpoint ?? endpointOf(cloud, catalog, 'network') ?? null,
    headers: { 'x-auth-token': token },
  }
}

function octaviaOf(cloud: Cloud, catalog: readonly Service[]): string {
  const found = endpointOf(cloud, catalog, 'load-balancer')
  if (found !== undefined) return found
  const where = cloud.region === null ? '' : ` in region ${cloud.region}`
  throw new BadCloud(`the catalog has no ${cloud.interface} endpoint of a load-balancer service${where}`)
}

const endpointOf = (
  { region, interface: side }: Cloud,
  catalog: readonly Service[],
  wanted: string,
): string | undefined =>
  catalog
    .filter(({ type }) => type === wanted)
    .flatMap(({ endpoints }) => endpoints)
    .find((one) => one.interface === side && (region === null || one.region_id === region))?.url

function identityOf({ auth, authType }: Cloud): object {
  if (authType === 'token') return { methods: ['token'], token: { id: auth['token'] } }
  const domain = domainOf(auth, 'user')
  const user = {
    ...(auth['user_id'] === undefined ? { name: auth['username'], domain } : { id: auth['user_id'] }),
  }
  if (authType === 'password')
    return { methods: ['password'], password: { user: { ...user, password: auth['password'] } } }
  const {
    application_credential_id: id,
    application_credential_name: name,
    application_credential_secret: secret,
  } = auth
  const credential = id === undefined ? { name, user } : { id }
  return { methods: ['application_credential'], application_credential: { ...credential, secret } }
}

/** An application credential needs no scope: it is of the project that it was made for. */
function scopeOf({ auth, authType }: Cloud): object {
  if (authType === 'applicationCredential') return {}
  if (auth['system_scope'] === 'all') return { scope: { system: { all: true } } }
  const { project_id: id, project_name: name } = auth
  if (id !== undefined) return { scope: { project: { id } } }
  return name === undefined ? {} : { scope: { project: { name, domain: domainOf(auth, 'project') } } }
}

function domainOf(auth: Cloud['auth'], of: 'user' | 'project'): object {
  const id = auth[`${of}_domain_id`]
  return id === undefined ? { name: auth[`${of}_domain_name`] ?? auth['domain_name'] ?? 'Default' } : { id }
}
