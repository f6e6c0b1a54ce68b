import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Issued, issueCertificate, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, BOLT, member, PORT, vipOf } from './fixtures.ts'

const AUTHORITY = issueCertificate({ isAuthority: true, alternatives: '' })
const issue = (...names: readonly string[]): Issued => issueCertificate({ names, issuer: AUTHORITY })

let system: TestSystem
let acme: Tenant
let bolt: Tenant
let shop: ShownLoadBalancer
const given: Issued[] = []
/** Certificate ids by name. */
const ids = new Map<string, string>()

/** Stores a certificate. */
async function store(tenant: Tenant, name: string, issued: Issued): Promise<string> {
  given.push(issued)
  const body = { name, chain: issued.certificate, key: issued.key }
  const { id } = await system.api<{ id: string }>(tenant, 'POST', '/certificates', body)
  ids.set(name, id)
  return id
}

async function replace(name: string, issued: Issued): Promise<void> {
  given.push(issued)
  await system.api(acme, 'PATCH', `/certificates/${ids.get(name)}`, { chain: issued.certificate, key: issued.key })
}

const poolOf = (name: string, index: 1 | 2) => ({ name, protocol: 'http', members: [member(index, PORT.http)] })
const onHost = (value: string) => ({ on: 'host', compare: 'exact', values: [value] })

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT] })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  writeFileSync(path.join(system.lab.directory, 'ca.pem'), AUTHORITY.certificate)
  const certificateIds = [
    await store(acme, 'shop', issue('shop.example.com')),
    await store(acme, 'blog', issue('blog.example.com', '*.blog.example.com')),
  ]
  shop = await system.createLoadBalancer(acme, {
    name: 'shop',
    pools: [poolOf('one', 1), poolOf('two', 2)],
    listeners: [
      {
        name: 'secure',
        protocol: 'https',
        port: 443,
        defaultPool: 'one',
        insertHeaders: ['x-forwarded-proto'],
        tls: { certificateIds },
        routes: [
          { conditions: [onHost('blog.example.com')], action: { type: 'forward', pools: [{ pool: 'two' }] } },
          {
            conditions: [onHost('old.example.com')],
            action: { type: 'redirect', code: 301, host: 'shop.example.com' },
          },
        ],
      },
      {
        name: 'plain',
        protocol: 'http',
        port: 80,
        routes: [{ action: { type: 'redirect', code: 301, scheme: 'https' } }],
      },
    ],
  })
})
afterAll(() => system?.destroy())

const secure = (): string =>
  `/load-balancers/${shop.id}/listeners/${shop.listeners.find(({ name }) => name === 'secure')!.id}`

const plain = (): string =>
  `/load-balancers/${shop.id}/listeners/${shop.listeners.find(({ name }) => name === 'plain')!.id}`

/** Of `open sesame`. */
const HASH = '$2b$10$56J/MIMRCISG9/Dp2POMO.f6Sb9xXl/.LVUI7tfnDpnexAJ5MgOki'

interface Answer {
  readonly exit: number
  readonly said: string
}

/** What curl gets from the internet. It trusts the test's authority alone. */
async function curl(url: string, ...options: readonly string[]): Promise<Answer> {
  const { hostname } = new URL(url)
  const to = [80, 443].flatMap((port) => ['--resolve', `${hostname}:${port}:${vipOf(shop)}`])
  const form = [
    '-sS',
    '--max-time',
    '10',
    '--cacert',
    path.join(system.lab.directory, 'ca.pem'),
    ...to,
    ...options,
    url,
  ]
  const { code, stdout, stderr } = await system.lab.run('client', ['curl', ...form])
  return { exit: code ?? -1, said: `${stdout}${stderr}` }
}

const nameOf = ({ said }: Answer): string | undefined => /tenant-a-member\d/.exec(said)?.[0]

/** The serial number of the certificate that clients of this name are shown. */
async function serialFor(name: string): Promise<string> {
  const { said } = await curl(`https://${name}/`, '-v', '--insecure', '-o', '/dev/null')
  return /subject: (.*)/.exec(said)?.[1] ?? said
}
const subjectOf = ({ certificate }: Issued): string =>
  execFileSync('openssl', ['x509', '-noout', '-subject'], { input: certificate, encoding: 'utf8' })
    .replace(/^subject=/, '')
    .replaceAll(' = ', '=')
    .replaceAll(', ', '; ')
    .trim()

/** Files of certificates on the nodes. */
const onNodes = (): readonly string[] => globSync(path.join(system.lab.runDirectory, '*-certificates', '*'))

describe('HTTPS', () => {
  it('serves each name by its certificate, and its routes', async () => {
    expect(nameOf(await curl('https://shop.example.com/'))).toBe('tenant-a-member1')
    expect(nameOf(await curl('https://blog.example.com/'))).toBe('tenant-a-member2')
    expect(nameOf(await curl('https://a.blog.example.com/'))).toBe('tenant-a-member1')
    const redirected = await curl(
      'https://old.example.com/a?b=c',
      '--insecure',
      '-o',
      '/dev/null',
      '-w',
      '%{redirect_url}',
    )
    expect(redirected.said).toBe('https://shop.example.com/a?b=c')
  })

  it('sends clients of HTTP there', async () => {
    const { said } = await curl('http://shop.example.com/a', '-o', '/dev/null', '-w', '%{http_code} %{redirect_url}')
    expect(said).toBe('301 https://shop.example.com/a')
    expect(nameOf(await curl('http://shop.example.com/a', '--location'))).toBe('tenant-a-member1')
  })

  it.each([
    ['h2', '2'],
    ['http1.1', '1.1'],
  ])('speaks %s', async (option, version) => {
    const { said } = await curl(
      'https://shop.example.com/',
      `--${option.replace('h2', 'http2')}`,
      '-w',
      ' %{http_version}',
    )
    expect(said).toMatch(new RegExp(` ${version}$`))
  })

  it('shows the first certificate to other names, or refuses them', async () => {
    expect(await serialFor('other.example.com')).toBe(subjectOf(given[0]!))
    await system.api(acme, 'PATCH', secure(), { tls: { unknownNames: 'refuse' } })
    await system.active(acme, shop.id)
    const refused = await curl('https://other.example.com/', '--insecure')
    expect(refused).toMatchObject({ exit: 35, said: expect.stringContaining('unrecognized name') })
    expect(nameOf(await curl('https://shop.example.com/'))).toBe('tenant-a-member1')
  })

  it('refuses versions below the lowest that is allowed', async () => {
    expect((await curl('https://shop.example.com/', '--tls-max', '1.2')).exit).toBe(0)
    await system.api(acme, 'PATCH', secure(), { tls: { minVersion: '1.3' } })
    await system.active(acme, shop.id)
    expect((await curl('https://shop.example.com/', '--tls-max', '1.2')).exit).toBe(35)
    expect((await curl('https://shop.example.com/')).exit).toBe(0)
  })

  it('tells clients to insist on TLS, for as long as it says', async () => {
    const header = async () => {
      const { said } = await curl('https://shop.example.com/', '-o', '/dev/null', '-D', '-')
      return /^strict-transport-security: (.*)$/im.exec(said)?.[1]?.trim() ?? null
    }
    expect(await header()).toBeNull()
    for (const [hsts, expected] of [
      [
        { maxAgeSeconds: 31_536_000, includeSubdomains: true, preload: true },
        'max-age=31536000; includeSubDomains; preload',
      ],
      [{ maxAgeSeconds: 60, includeSubdomains: false, preload: false }, 'max-age=60'],
      [null, null],
    ] as const) {
      await system.api(acme, 'PATCH', secure(), { tls: { hsts } })
      await system.active(acme, shop.id)
      expect(await header()).toBe(expected)
    }
  })

  it('shows a replaced certificate to the next client, and none fails meanwhile', async () => {
    const failures: Answer[] = []
    let asked = 0
    let isOver = false
    const asking = [1, 2].map(async () => {
      while (!isOver) {
        asked++
        const answer = await curl('https://shop.example.com/', '-o', '/dev/null')
        if (answer.exit !== 0) failures.push(answer)
      }
    })
    for (let round = 0; round < 5; round++) {
      const next = issue('shop.example.com')
      await replace('shop', next)
      await waitFor(async () => (await serialFor('shop.example.com')) === subjectOf(next), {
        what: 'the new certificate',
      })
      // A busy machine asks less often.
      await waitFor(() => asked > 3 * (round + 1), { what: 'requests meanwhile' })
    }
    isOver = true
    await Promise.all(asking)
    expect(failures).toEqual([])
    expect(asked).toBeGreaterThan(10)
    const nodes = await system.nodes()
    await waitFor(() => onNodes().length === 2 * nodes.length, { what: 'old versions to be gone from the nodes' })
  })

  it('refuses what cannot be, with the field and the reason', async () => {
    const foreign = await store(bolt, 'foreign', issue('bolt.example.com'))
    for (const [change, reason] of [
      [{ tls: { certificateIds: [foreign] } }, /tls\.certificateIds\[0\]/],
      [{ tls: { certificateIds: [] } }, /tls\.certificateIds/],
      [{ tls: null }, /tls/],
      [{ tls: { minVersion: '1.0' } }, /tls\.minVersion/],
      [{ protocol: 'http' }, /tls: belongs to listeners of protocol https/],
    ] as const)
      await expect(system.api(acme, 'PATCH', secure(), change)).rejects.toThrow(reason)
    await expect(system.api(acme, 'DELETE', `/certificates/${ids.get('blog')}`)).rejects.toThrow(
      /in use by listener secure of load balancer shop/,
    )
    expect(nameOf(await curl('https://blog.example.com/'))).toBe('tenant-a-member2')
  })

  it('asks for the passwords of a list of users, also of another one', async () => {
    const users = (first: string) => ({ users: `${first}:${HASH}\n` })
    const { id } = await system.api<{ id: string }>(acme, 'POST', '/certificates', { name: 'staff', ...users('joe') })
    const action = { type: 'forward', pools: [{ pool: 'one' }], basicAuthentication: { usersId: id } }
    const { routes } = await system.api<{ routes: readonly { id: string }[] }>(acme, 'GET', plain())
    const conditions = [onHost('staff.example.com')]
    await system.api(acme, 'POST', `${plain()}/routes`, { conditions, action, before: routes[0]?.id })
    await system.active(acme, shop.id)
    const as = (...options: readonly string[]) =>
      curl('http://staff.example.com/', '-o', '/dev/null', '-w', '%{http_code}', ...options)
    expect((await as()).said).toBe('401')
    expect((await as('-u', 'joe:open sesame')).said).toBe('200')
    await system.api(acme, 'PATCH', `/certificates/${id}`, users('ann'))
    await waitFor(async () => (await as('-u', 'ann:open sesame')).said === '200', { what: 'another user' })
    expect((await as('-u', 'joe:open sesame')).said).toBe('401')
    await expect(system.api(acme, 'DELETE', `/certificates/${id}`)).rejects.toThrow(/in use by listener plain/)
    // Nobody else may name it.
    await expect(system.api(bolt, 'GET', `/certificates/${id}`)).rejects.toThrow()
  })

  it('leaves no private key, and no hash of a password, where it does not belong', async () => {
    const lines = [...given.map(({ key }) => key.split('\n')[2]!), HASH]
    const texts = new Map<string, string>()
    for (const file of globSync(path.join(system.lab.directory, '**'), { withFileTypes: true }))
      if (file.isFile())
        texts.set(path.join(file.parentPath, file.name), readFileSync(path.join(file.parentPath, file.name), 'latin1'))
    for (const file of globSync('/proc/[0-9]*/{cmdline,environ}'))
      try {
        texts.set(file, readFileSync(file, 'latin1'))
      } catch {
        // The process has ended.
      }
    for (const url of [`/load-balancers/${shop.id}`, '/certificates', `/load-balancers/${shop.id}/explain`, '/audit'])
      texts.set(url, JSON.stringify(await system.api(acme, 'GET', url)))
    for (const file of globSync(path.join(system.lab.runDirectory, '*/*/*.{cfg,map,json,list}')))
      texts.set(file, readFileSync(file, 'latin1'))
    expect([...texts.keys()].some((file) => file.endsWith('haproxy.cfg'))).toBe(true)
    expect([...texts.keys()].some((file) => file.endsWith('.journal'))).toBe(true)
    const found = [...texts].filter(([, text]) => lines.some((line) => text.includes(line))).map(([file]) => file)
    expect(found).toEqual([])
    const kept = onNodes()
    expect(kept.some((file) => lines.some((line) => readFileSync(file, 'latin1').includes(line)))).toBe(true)
    for (const file of kept) expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('takes keys from the nodes when no listener uses them any more', async () => {
    await system.api(acme, 'DELETE', secure())
    await system.api(acme, 'DELETE', plain())
    await system.active(acme, shop.id)
    await waitFor(() => onNodes().length === 0, { what: 'keys to be gone from the nodes' })
    await system.api(acme, 'DELETE', `/certificates/${ids.get('blog')}`)
    expect((await curl('https://shop.example.com/')).exit).not.toBe(0)
  })
})
