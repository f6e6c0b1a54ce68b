import { receiveEvents, waitFor } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Method, openTestBed, type TestBed } from '../testing/test-bed.ts'

import { ROUTES } from './routes.ts'

/** What is in every name, address and figure of the other tenant, and nowhere else. */
const SECRETS = /zqx|10\.77\.|203\.0\.113\.|\b31337\b/i

let bed: TestBed
let url: string
let admin: string
let own: { readonly projectId: string; readonly token: string; readonly userId: string }
let theirs: { readonly projectId: string; readonly token: string }
let publicPoolId: string
/** The other tenant's objects by the path of their collection, and their parts. */
let objects: Readonly<Record<string, string>>
let parts: Readonly<Record<string, string>>

const call = async (method: Method, path: string, token: string, payload?: unknown) => {
  const { status, body } = await bed.askNative(method, path, token, payload)
  expect([path, status, body]).toEqual([path, expect.toSatisfy((code: number) => code < 300), body])
  return body
}

beforeAll(async () => {
  bed = await openTestBed()
  url = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  admin = await bed.adminLogin()
  const tenant = async (name: string) => {
    const { id: projectId } = await bed.admission.createProject({ name, description: name })
    return { projectId, ...(await bed.login(`user of ${name}`, projectId, 'member')) }
  }
  own = await tenant('own')
  theirs = await tenant('zqx-project')
  const pool = (name: string, net: string, projectIds: readonly string[] | null) =>
    call('POST', '/address-pools', admin, {
      ...{ name, cidr: `${net}.0/24`, ranges: [{ first: `${net}.10`, last: `${net}.99` }], projectIds },
      quarantineSeconds: 3600,
    })
  publicPoolId = (await pool('public', '198.51.100', null)).id
  const closedPool = await pool('zqx-pool', '203.0.113', [theirs.projectId])
  await theirObjects(closedPool.id)
})
afterAll(() => bed.close())

/** One of everything that belongs to the other tenant, or is closed to all but it. */
async function theirObjects(poolId: string): Promise<void> {
  const { token, projectId } = theirs
  const network = await call('POST', '/networks', token, { name: 'zqx-network', description: 'zqx' })
  const subnet = await call('POST', `/networks/${network.id}/subnets`, token, { name: 'zqx', cidr: '10.77.0.0/24' })
  const group = await call('POST', '/node-groups', admin, {
    name: 'zqx-group',
    announcer: 'l2',
    projectIds: [projectId],
  })
  const offered = await call('POST', '/load-balancer-classes', admin, { name: 'zqx-class', projectIds: [projectId] })
  const { certificate: chain, key } = issueCertificate({ names: ['zqx.example'] })
  const certificate = await call('POST', '/certificates', token, { name: 'zqx-certificate', chain, key })
  const claim = await call('POST', '/domain-claims', token, { domain: 'zqx.example' })
  const address = await call('POST', '/addresses', token, { name: 'zqx-address', poolId, use: 'floating' })
  const credential = await call('POST', '/application-credentials', token, { name: 'zqx-program', description: 'zqx' })
  const rested = await call('POST', '/addresses', token, { name: 'zqx-rests', poolId: publicPoolId, use: 'floating' })
  await bed.askNative('DELETE', `/addresses/${rested.id}`, token)
  const members = [{ name: 'zqx-member', address: '10.77.0.11', port: 8080 }]
  const balancer = await call('POST', '/load-balancers', token, {
    ...{ name: 'zqx-web', description: 'zqx', tags: ['zqx'], annotations: { 'kubernetes.service.1': 'zqx/web' } },
    vips: [poolId, publicPoolId].map((each) => ({ from: 'pool', poolId: each })),
    pools: [{ name: 'zqx-pool', protocol: 'http', members, monitor: { type: 'http', http: { path: '/zqx' } } }],
    listeners: [
      {
        ...{ name: 'zqx-listener', protocol: 'http', port: 80, defaultPool: 'zqx-pool' },
        routes: [{ name: 'zqx-route', action: { type: 'forward', pools: [{ pool: 'zqx-pool' }] } }],
      },
    ],
  })
  bed.status.set(balancer.id, { provisioning: 'error', reason: 'KernelRefused', message: 'zqx' })
  bed.figures.set(balancer.id, { connectionsPerSecond: 31_337, bytesPerSecond: 31_337 })
  bed.figures.series.set(balancer.id, { openConnections: [31_337] })
  const [pool, listener] = [balancer.pools[0], balancer.listeners[0]]
  const transition = { poolId: pool.id, memberId: pool.members[0].id, health: 'down', reason: 'zqx' } as const
  bed.figures.transitions.set(balancer.id, [{ at: '2026-01-01T00:00:00.000Z', nodeName: 'n1', ...transition }])
  objects = {
    ...{ networks: network.id, 'node-groups': group.id, 'load-balancer-classes': offered.id, addresses: address.id },
    'application-credentials': credential.id,
    ...{ certificates: certificate.id, 'domain-claims': claim.id, 'load-balancers': balancer.id, projects: projectId },
    ...{ 'address-pools': poolId, users: bed.view.list('user').find(({ name }) => name.includes('zqx'))?.id ?? '' },
  }
  parts = {
    ...{ subnets: subnet.id, listeners: listener.id, pools: pool.id, members: pool.members[0].id },
    ...{ routes: listener.routes[0].id, vips: balancer.vips[0].address },
  }
}

/** The path of an operation, with the other tenant's ids in it. */
const theirPath = (path: string): string =>
  path
    .split('/')
    .map((name, at, all) => {
      const before = all[at - 1] ?? ''
      if (!name.startsWith(':')) return name
      // Kinds that only administrators know: whatever the id, the answer must be the same.
      return (name === ':id' ? objects[before] : parts[before]) ?? publicPoolId
    })
    .join('/')

test('no operation answers a name, an address or a figure of another tenant', async () => {
  let asked = 0
  const wasAsked = new Set<string>()
  for (const { method, path, query = {}, previews } of ROUTES) {
    // These answers stay open: the next test reads them. The token is needed until the end.
    if (path === '/events' || (method === 'DELETE' && ['/tokens/current', '/session'].includes(path))) continue
    const filled = theirPath(path)
    const queries = [
      '',
      ...('project' in query ? [`?project=${theirs.projectId}`] : []),
      ...('span' in query ? ['?span=day'] : []),
      ...(previews ? ['?dryRun=true'] : []),
    ]
    for (const each of queries) {
      const { status, body } = await bed.askNative(
        method,
        `${filled}${each}`,
        own.token,
        method === 'GET' ? undefined : {},
      )
      for (const part of filled.split('/')) if (part.length > 6) wasAsked.add(part)
      // An answer may repeat what it was asked for, and the audit log what this tenant tried.
      const repeated = path === '/audit' ? [...wasAsked] : filled.split('/').filter((part) => wasAsked.has(part))
      const answered = repeated.reduce((text, part) => text.replaceAll(part, ''), JSON.stringify(body) ?? '')
      expect([method, path, answered.match(SECRETS)?.[0]]).toEqual([method, path, undefined])
      expect([method, path, status]).toEqual([method, path, expect.toSatisfy((code: number) => code < 500)])
      asked++
    }
  }
  expect(asked).toBeGreaterThan(ROUTES.length)
})

test('a pool open to both shows a tenant its own addresses, and no count of the others', async () => {
  const mine = await call('POST', '/load-balancers', own.token, {
    name: 'mine',
    vips: [{ from: 'pool', poolId: publicPoolId }],
  })
  const usage = await call('GET', `/address-pools/${publicPoolId}/usage`, own.token)
  expect(usage).toMatchObject({ total: null, free: null, taken: 1, resting: 0 })
  expect(usage.parts).toMatchObject([
    { first: mine.vips[0].address, state: 'taken', by: { use: 'vip', projectName: 'own', loadBalancerName: 'mine' } },
  ])
  const all = await call('GET', `/address-pools/${publicPoolId}/usage`, admin)
  expect(all).toMatchObject({ total: 90, free: 87, taken: 2, resting: 1 })
  expect(all.parts.map(({ state }: { state: string }) => state).sort()).toEqual(['free', 'resting', 'taken', 'taken'])
  expect(JSON.stringify(all)).toMatch(SECRETS)
  await call('DELETE', `/load-balancers/${mine.id}`, own.token)
})

test('a network that its segment has no place for is refused without a word of whose networks it carries', async () => {
  const { status, body } = await bed.askNative('POST', '/networks', own.token, { name: 'mine' })
  const neutron = await bed.ask('POST', '/network/v2.0/networks', own.token, { network: { name: 'mine' } })
  const reason = "an administrator chooses the segment of this project's networks"
  expect([status, body]).toMatchObject([403, { code: 'Forbidden', detail: `Not allowed: ${reason}` }])
  expect([neutron.status, JSON.stringify(neutron.body)]).toEqual([403, expect.stringContaining(reason)])
  for (const answer of [body, neutron.body]) expect(JSON.stringify(answer)).not.toMatch(/physnet|another|other project/)
  // Who may know of all projects is told.
  const asked = await bed.askNative('POST', '/networks', admin, { name: 'mine', projectId: own.projectId })
  expect([asked.status, asked.body.detail]).toEqual([
    400,
    expect.stringContaining('carries a network of another project'),
  ])
})

test('no stream tells a name, an address or a figure of another tenant, whatever changes', async () => {
  const lost = new AbortController()
  const watches = ROUTES.filter(
    ({ method, access, query }) => method === 'GET' && access === 'reader' && query?.['watch'] !== undefined,
  )
  expect(watches.length).toBeGreaterThan(5)
  const open = (path: string) =>
    fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${own.token}` }, signal: lost.signal })
  const topics = `load-balancers,objects,load-balancer:${objects['load-balancers']}`
  const paths = [
    ...watches.flatMap(({ path }) => [`${path}?watch=1`, `${path}?watch=1&brief=1`]),
    `/events?topics=${topics}`,
  ]
  const streams = await Promise.all(paths.map(open))
  const texts = streams.map((stream) => ({ text: '', stream }))
  const read = Promise.all(
    texts.map(async (one) => {
      for await (const chunk of one.stream.body!.pipeThrough(new TextDecoderStream())) one.text += chunk
    }),
  )
  const all = await receiveEvents(`${url}/api/v1/events?topics=load-balancers,objects`, admin)
  await changeTheirs()
  // Changes that are told together show what there is in the end, so those come first.
  for (let event = await all.next(); event?.data.name !== 'zqx-renamed'; event = await all.next())
    expect(event).not.toBeNull()
  await call('DELETE', `/load-balancers/${objects['load-balancers']}`, theirs.token)
  for (let event = await all.next(); event?.event !== 'gone'; event = await all.next()) expect(event).not.toBeNull()
  all.close()
  // Told in order, so what was told of the other tenant came before these.
  const segment = { physicalNetwork: 'physnet1', vlan: 7 }
  const network = await call('POST', '/networks', admin, { name: 'mine', projectId: own.projectId, segment })
  const mine = await call('POST', '/load-balancers', own.token, {
    name: 'mine',
    vips: [{ from: 'pool', poolId: publicPoolId }],
  })
  const isTold = (of: string, id: string) =>
    texts.every(({ text }, at) => !paths[at]?.startsWith(of) || text.includes(id))
  await waitFor(
    () =>
      ['/networks?', '/events?'].every((of) => isTold(of, network.id)) &&
      ['/load-balancers?', '/events?'].every((of) => isTold(of, mine.id)),
    { what: 'the own objects to be told' },
  )
  await bed.authenticator.tokens.revokeUser(own.userId)
  await read
  for (const [at, { text }] of texts.entries()) {
    expect([paths[at], text.match(SECRETS)?.[0]]).toEqual([paths[at], undefined])
    expect(text).toContain('Unauthenticated')
    for (const id of Object.values(objects))
      if (id !== publicPoolId) expect([paths[at], text.includes(id)]).toEqual([paths[at], false])
  }
})

async function changeTheirs(): Promise<void> {
  const { token, projectId } = theirs
  const id = objects['load-balancers'] ?? ''
  bed.status.set(id, { provisioning: 'error', message: 'zqx changed' })
  bed.figures.set(id, { connectionsPerSecond: 131_337, bytesPerSecond: 1 })
  await bed.admission.changeProject(projectId, { name: 'zqx-renamed' })
  await call('PATCH', `/load-balancers/${id}`, token, { name: 'zqx-renamed' })
  await call('PATCH', `/certificates/${objects['certificates']}`, token, { name: 'zqx-renamed' })
  await call('PATCH', `/node-groups/${objects['node-groups']}`, admin, { description: 'zqx' })
  await call('POST', '/networks', token, { name: 'zqx-another' })
}
