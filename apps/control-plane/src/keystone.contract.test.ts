import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { OpenStackProgram, TypedPage } from '@spout/testkit'
import { KeystoneServer, LONGEST_KEYSTONE_START_MS } from '@spout/testkit/keystone-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

// Debian's Keystone and `openstack` client. The client only knows Keystone, whose catalog has an entry for Spout.
const SUBNET = '9f2f3a3e-6d0d-4c39-8f0e-0c7a4b1c5d11'
const PASSWORD = 'a-password-for-tests'

let keystone: KeystoneServer
let program: OpenStackProgram
/** Without a cache each request asks Keystone, so the test need not wait. */
let controlPlane: ControlPlaneProcess
let adminToken: string
const ids: Record<string, string> = {}

const wordsOf = (command: string): readonly string[] => command.split(' ').slice(1)

/** What docs/keystone.md says to type, typed for these servers. */
const page = new TypedPage('keystone.md', (command) => {
  const here = command
    .replace('https://spout.example:9130', controlPlane?.address ?? '')
    .replace('--password-prompt', `--password ${PASSWORD}`)
  const env = {
    ...{ OS_AUTH_URL: keystone.url, OS_IDENTITY_API_VERSION: '3', OS_PROJECT_NAME: 'admin' },
    ...{ OS_USERNAME: 'admin', OS_PASSWORD: keystone.adminPassword },
    ...{ OS_USER_DOMAIN_NAME: 'Default', OS_PROJECT_DOMAIN_NAME: 'Default' },
  }
  return program.run(wordsOf(here), { env })
})

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly token: string
}

async function ask(url: string, token: string | null, method = 'GET', body?: object): Promise<Answer> {
  const answer = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...(token !== null && { 'x-auth-token': token }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new Error(`${method} ${url}`, { cause: error })
  })
  const text = await answer.text()
  return {
    status: answer.status,
    body: text === '' ? {} : JSON.parse(text),
    token: answer.headers.get('x-subject-token') ?? '',
  }
}

const octavia = (token: string | null, where = 'loadbalancers', method = 'GET', body?: object): Promise<Answer> =>
  ask(`${controlPlane.address}/load-balancer/v2/lbaas/${where}`, token, method, body)
const create = (token: string) => octavia(token, 'loadbalancers', 'POST', { loadbalancer: { vip_subnet_id: SUBNET } })

/** Makes or changes something in Keystone, as its administrator. @returns its id */
async function make(where: string, root: string, fields: object, method = 'POST'): Promise<string> {
  const { status, body } = await ask(`${keystone.url}/${where}`, adminToken, method, { [root]: fields })
  if (status >= 300) throw new Error(`${method} ${where}: ${status} ${JSON.stringify(body)}`)
  return (body[root] as { readonly id: string }).id
}

const grant = async (where: string, user: string, role: string): Promise<void> => {
  const answer = await ask(`${keystone.url}/${where}/users/${ids[user]}/roles/${ids[role]}`, adminToken, 'PUT')
  expect(answer.status).toBe(204)
}

/** A login at Keystone. @returns the token */
async function login(user: string, scope?: object, identity?: object): Promise<string> {
  const password = user === 'admin' ? keystone.adminPassword : PASSWORD
  const known = user === 'admin' ? { name: user, domain: { id: 'default' } } : { id: ids[user] }
  const { status, token, body } = await ask(`${keystone.url}/auth/tokens`, null, 'POST', {
    auth: {
      identity: identity ?? { methods: ['password'], password: { user: { ...known, password } } },
      ...(scope !== undefined && { scope }),
    },
  })
  if (status !== 201) throw new Error(`login of ${user}: ${status} ${JSON.stringify(body)}`)
  return token
}

const inProject = (project: string) => ({ project: { id: ids[project] } })

async function newUser(name: string, project: string, ...roles: readonly string[]): Promise<void> {
  ids[name] = await make('users', 'user', { name, password: PASSWORD })
  for (const role of roles) await grant(`projects/${ids[project]}`, name, role)
}

const OCTAVIA_ROLES = ['admin', 'member', 'observer', 'global_observer', 'quota_admin'].map(
  (of) => `load-balancer_${of}`,
)

beforeAll(async () => {
  keystone = await KeystoneServer.start()
  program = new OpenStackProgram()
  adminToken = await login('admin', { project: { name: 'admin', domain: { id: 'default' } } })
  for (const name of [...OCTAVIA_ROLES, 'unheard-of']) ids[name] = await make('roles', 'role', { name })
  const { body } = await ask(`${keystone.url}/roles`, adminToken)
  for (const { id, name } of body['roles'] as { id: string; name: string }[]) ids[name] = id
  for (const name of ['service', 'shop', 'mapped', 'roles']) ids[name] = await make('projects', 'project', { name })
  for (const words of ['role create', 'user create', 'role add']) await page.type(`openstack ${words}`)
  await newUser('alice', 'shop', 'member')
  controlPlane = await ControlPlaneProcess.start([
    `admin.password=${PASSWORD}`,
    'octavia.noop=true',
    ...[`keystone.url=${keystone.url}`, `keystone.password=${PASSWORD}`, 'keystone.project=service'],
    // The machine may be busy.
    ...['keystone.cacheSeconds=0', 'keystone.timeoutMs=60000'],
    `keystone.projects=[{id: ${ids['mapped']}, project: admin}]`,
  ])
  for (const type of ['load-balancer', 'network', 'key-manager']) {
    await page.type('openstack service create')
    await page.type(`openstack endpoint create --region RegionOne ${type}`)
  }
}, LONGEST_KEYSTONE_START_MS)
afterAll(async () => {
  await controlPlane?.[Symbol.asyncDispose]()
  await program?.[Symbol.asyncDispose]()
  await keystone?.[Symbol.asyncDispose]()
})

describe('the openstack client', () => {
  const openstack = async (env: Readonly<Record<string, string>>, ...words: readonly string[]) => {
    const given = { OS_IDENTITY_API_VERSION: '3', ...env, OS_AUTH_URL: keystone.url }
    const { code, stdout, stderr } = await program.run([...words, '-f', 'json'], { env: given })
    if (code !== 0) throw new Error(`openstack ${words.join(' ')}: ${stderr}`)
    return JSON.parse(stdout) as Readonly<Record<string, unknown>>
  }
  /** As the page says that she logs in. */
  const alice: Readonly<Record<string, string>> = Object.fromEntries(
    wordsOf(page.take('export OS_AUTH_URL=').command.replace('=…', `=${PASSWORD}`)).map((word) => word.split('=')),
  )

  test('makes load balancers in a project that Spout had never seen', async () => {
    await openstack(alice, 'network', 'create', 'inner')
    await openstack(alice, 'subnet', 'create', '--network', 'inner', '--subnet-range', '10.0.0.0/24', 'inner')
    const { command } = page.take('openstack loadbalancer create')
    expect(page.left).toEqual([])
    const made = await openstack(alice, ...wordsOf(command.replace(SUBNET, 'inner')))
    expect(made).toMatchObject({ provisioning_status: 'ACTIVE' })
    expect(String(made['project_id']).replaceAll('-', '')).toBe(ids['shop'])
    expect(await openstack(alice, 'loadbalancer', 'list')).toMatchObject([{ name: 'web' }])
  })

  test('with an application credential, which has the roles that it was given', async () => {
    const words = ['application', 'credential', 'create', 'robot']
    const { id, secret } = await openstack(alice, ...words, '--role', 'member')
    const robot = {
      OS_AUTH_TYPE: 'v3applicationcredential',
      ...{ OS_APPLICATION_CREDENTIAL_ID: String(id), OS_APPLICATION_CREDENTIAL_SECRET: String(secret) },
    }
    expect(await openstack(robot, 'loadbalancer', 'list')).toMatchObject([{ name: 'web' }])
    await grant(`projects/${ids['shop']}`, 'alice', 'load-balancer_admin')
    const identity = { methods: ['application_credential'], application_credential: { id, secret } }
    const [limited, whole] = [await login('alice', undefined, identity), await login('alice', inProject('shop'))]
    const quota = (token: string) => octavia(token, `quotas/${ids['shop']}`, 'PUT', { quota: { listener: 7 } })
    expect([(await quota(limited)).status, (await quota(whole)).status]).toEqual([403, 202])
  })
})

describe('roles', () => {
  /** The statuses of four requests: read a project's load balancers, create one, read those of others, set a quota. */
  test.each([
    ['reader', [200, 403, false, 403]],
    ['member', [200, 201, false, 403]],
    ['admin', [200, 201, true, 202]],
    ['load-balancer_observer', [200, 403, false, 403]],
    ['load-balancer_global_observer', [200, 403, true, 403]],
    ['load-balancer_member', [200, 201, false, 403]],
    ['load-balancer_quota_admin', [403, 403, false, 202]],
    ['load-balancer_admin', [200, 201, true, 202]],
    ['unheard-of', [403, 403, false, 403]],
  ] as const)('%s', async (role, [read, write, others, quota]) => {
    await newUser(`user-${role}`, 'roles', role)
    const token = await login(`user-${role}`, inProject('roles'))
    const listed = await octavia(token)
    const seen = ((listed.body['loadbalancers'] ?? []) as { project_id: string }[]).map(({ project_id: id }) => id)
    const [made, changed] = [
      await create(token),
      await octavia(token, `quotas/${ids['roles']}`, 'PUT', { quota: { pool: 7 } }),
    ]
    expect([
      listed.status,
      made.status,
      seen.some((id) => id.replaceAll('-', '') === ids['shop']),
      changed.status,
    ]).toEqual([read, write, others, quota])
  })

  test('on the system: its admin changes everything, its reader sees everything', async () => {
    await newUser('auditor', 'shop')
    await grant('system', 'auditor', 'reader')
    const system = { system: { all: true } }
    const [auditor, admin] = [await login('auditor', system), await login('admin', system)]
    const { body } = await octavia(auditor)
    expect(body['loadbalancers']).toContainEqual(expect.objectContaining({ name: 'web' }))
    expect((await create(auditor)).status).toBe(403)
    expect((await create(admin)).status).toBe(201)
  })

  test('without a project a token opens nothing', async () => {
    const unscoped = await login('alice', { unscoped: {} })
    expect((await octavia(unscoped)).status).toBe(403)
  })

  test('a mapped project is the one here', async () => {
    await newUser('operator', 'mapped', 'member')
    const { body } = await create(await login('operator', inProject('mapped')))
    const local = await ask(`${controlPlane.address}/api/v1/tokens`, null, 'POST', {
      ...{ userName: 'admin', password: PASSWORD, projectName: 'admin' },
    })
    expect((body['loadbalancer'] as { project_id: string }).project_id).toBe(local.body['projectId'])
  })
})

describe('a token ends', () => {
  test('when it is revoked, and its stream with it', async () => {
    const token = await login('alice', inProject('shop'))
    expect((await octavia(token)).status).toBe(200)
    const watch = await fetch(`${controlPlane.address}/api/v1/load-balancers?watch=1`, {
      headers: { 'x-auth-token': token },
    })
    expect(watch.status).toBe(200)
    const revoked = await fetch(`${keystone.url}/auth/tokens`, {
      method: 'DELETE',
      headers: { 'x-auth-token': adminToken, 'x-subject-token': token },
    })
    expect(revoked.status).toBe(204)
    expect((await octavia(token)).status).toBe(401)
    expect(await watch.text()).toContain('Unauthenticated')
  })

  test.each([
    ['its project is disabled', 'projects', 'project', (id: string) => ids[`project-${id}`]],
    ['its domain is disabled', 'domains', 'domain', (id: string) => ids[`domain-${id}`]],
    ['its user is disabled', 'users', 'user', (id: string) => ids[`user-${id}`]],
  ])('when %s', async (what, where, root, idOf) => {
    const key = root
    ids[`domain-${key}`] = await make('domains', 'domain', { name: `domain of ${what}` })
    const domain = { domain_id: ids[`domain-${key}`] }
    ids[`project-${key}`] = await make('projects', 'project', { name: 'shop', ...domain })
    ids[`user-${key}`] = await make('users', 'user', { name: 'alice', password: PASSWORD, ...domain })
    await grant(`projects/${ids[`project-${key}`]}`, `user-${key}`, 'member')
    const token = await login(`user-${key}`, inProject(`project-${key}`))
    expect((await create(token)).status).toBe(201)
    await make(`${where}/${idOf(key)}`, root, { enabled: false }, 'PATCH')
    expect((await octavia(token)).status).toBe(401)
  })

  test('is refused when it is none, in the API of Spout, too', async () => {
    expect((await octavia('made-up')).status).toBe(401)
    expect((await ask(`${controlPlane.address}/api/v1/networks`, 'x'.repeat(5000))).status).toBe(401)
  })
})

test('while Keystone is away known tokens and own users go on, others get 503 with the reason', async () => {
  const [known, fresh] = [await login('alice', inProject('shop')), await login('alice', inProject('shop'))]
  expect((await octavia(known)).status).toBe(200)
  await keystone.goAway()
  expect((await octavia(known)).status).toBe(200)
  const { status, body } = await octavia(fresh)
  expect({ status, ...body }).toMatchObject({ status: 503, faultstring: 'Keystone is not available: ECONNREFUSED' })
  const own = await ask(`${controlPlane.address}/api/v1/tokens`, null, 'POST', {
    ...{ userName: 'admin', password: PASSWORD, projectName: 'admin' },
  })
  expect((await octavia(String(own.body['token']))).status).toBe(200)
  await keystone.comeBack()
  await expect.poll(async () => (await octavia(fresh)).status, { timeout: 20_000 }).toBe(200)
})

test('a Keystone token is not revoked, exchanged or multiplied here', async () => {
  const token = await login('alice', inProject('shop'))
  expect((await ask(`${controlPlane.address}/api/v1/tokens/current`, token, 'DELETE')).status).toBe(403)
  const user = ids['alice']?.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const credentials = `${controlPlane.address}/identity/v3/users/${user}/application_credentials`
  const made = await ask(credentials, token, 'POST', { application_credential: { name: 'x' } })
  expect(made).toMatchObject({ status: 403, body: { error: { message: expect.stringContaining('Keystone') } } })
  const exchanged = await ask(`${controlPlane.address}/identity/v3/auth/tokens`, null, 'POST', {
    auth: { identity: { methods: ['token'], token: { id: token } } },
  })
  expect(exchanged.status).toBe(401)
})

test('the web page may use a token of Keystone, until that is revoked there', async () => {
  const token = await login('alice', inProject('shop'))
  const session = (method: string, cookie: string | null, body?: object) =>
    fetch(`${controlPlane.address}/api/v1/session`, {
      method,
      headers: { 'content-type': 'application/json', 'spout-page': '1', ...(cookie !== null && { cookie }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  expect((await session('POST', null, { token: 'made-up' })).status).toBe(401)
  const opened = await session('POST', null, { token })
  const cookie = opened.headers.getSetCookie().join().split(';', 1)[0] ?? ''
  expect(await opened.json()).toMatchObject({ keystone: true, projectName: 'shop', projects: [{ name: 'shop' }] })
  expect((await session('GET', cookie)).status).toBe(200)
  await fetch(`${keystone.url}/auth/tokens`, {
    method: 'DELETE',
    headers: { 'x-auth-token': adminToken, 'x-subject-token': token },
  })
  const ended = await session('GET', cookie)
  expect([ended.status, await ended.json()]).toMatchObject([401, { code: 'SessionEnded' }])
})

test('no log has a token or a password', async () => {
  const token = await login('alice', inProject('shop'))
  expect((await create(token)).status).toBe(201)
  const written = (): string => {
    const files = readdirSync(controlPlane.stateDirectory, { recursive: true, withFileTypes: true })
    const texts = files
      .filter((each) => each.isFile())
      .map((each) => readFileSync(path.join(each.parentPath, each.name), 'latin1'))
    return [controlPlane.log, ...texts].join('\n')
  }
  await expect.poll(() => written().includes('"userName":"alice"'), { timeout: 20_000 }).toBe(true)
  const all = written()
  // Each of Keystone's tokens begins with this.
  const secrets = [token, keystone.adminPassword, 'gAAAAA', adminToken]
  expect(secrets.filter((secret) => all.includes(secret))).toEqual([])
})
