/** A user with a token. */
export interface Account {
  readonly user: string
  readonly password: string
  readonly project: string
  readonly projectId: string
  /** Bearer token of this user for this project. */
  readonly token: string
}

/** How to reach a running system. */
export interface SystemAccess {
  /** Base URL of every surface. */
  readonly endpoint: string
  /** URL of the control plane's metrics and readiness. */
  readonly statusUrl: string
  readonly admin: Account
  readonly projects: readonly Account[]
}

/** Calls the native API. @throws Error with the problem's text when it is refused */
export async function callApi<T = unknown>(
  endpoint: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(`${endpoint}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/** Gets a token from the Keystone API, as any OpenStack client does. */
export async function passwordToken(
  endpoint: string,
  { user, password, project }: Pick<Account, 'user' | 'password' | 'project'>,
): Promise<{ token: string; projectId: string }> {
  const domain = { name: 'Default' }
  const auth = {
    identity: { methods: ['password'], password: { user: { name: user, password, domain } } },
    scope: { project: { name: project, domain } },
  }
  const response = await fetch(`${endpoint}/identity/v3/auth/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auth }),
  })
  const token = response.headers.get('x-subject-token')
  if (!response.ok || token === null)
    throw new Error(`no token for ${user}: ${response.status} ${await response.text()}`)
  const { token: document } = (await response.json()) as { token: { project: { id: string } } }
  return { token, projectId: document.project.id }
}
