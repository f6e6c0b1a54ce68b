import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { issueCertificate, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, CLIENT, member, vipOf } from './fixtures.ts'

const AUTHORITY = issueCertificate({ isAuthority: true, alternatives: '' })
const HELLO = 8443

let system: TestSystem
let acme: Tenant
let edge: ShownLoadBalancer

/** A member that ends TLS itself, with a certificate for this name. */
async function startMember(index: 1 | 2, name: string): Promise<void> {
  const { certificate, key } = issueCertificate({ names: [name], issuer: AUTHORITY })
  const file = path.join(system.lab.directory, `${name}.pem`)
  writeFileSync(file, certificate + key)
  const argv = ['openssl', 's_server', '-accept', String(HELLO), '-cert', file, '-key', file, '-www']
  await system.lab.start(`tenant-a-member${index}`, `tls-member${index}`, argv, { readyText: 'ACCEPT' })
}

const onHost = (compare: string, value: string) => ({ on: 'host', compare, values: [value] })
const toPool = (pool: string) => ({ type: 'forward', pools: [{ pool }] })

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME] })
  acme = system.tenants[0]!
  writeFileSync(path.join(system.lab.directory, 'ca.pem'), AUTHORITY.certificate)
  await startMember(1, 'shop.example.com')
  await startMember(2, 'any.apps.example.com')
  edge = await system.createLoadBalancer(acme, {
    name: 'edge',
    pools: ([1, 2] as const).map((index) => ({
      ...{ name: `pool${index}`, protocol: 'tcp-proxy', members: [member(index, HELLO)] },
    })),
    listeners: [
      {
        ...{ name: 'names', protocol: 'tls-passthrough', port: 443 },
        routes: [
          { conditions: [onHost('exact', 'shop.example.com')], action: toPool('pool1') },
          { conditions: [onHost('any-labels', 'apps.example.com')], action: toPool('pool2') },
        ],
      },
    ],
  })
})
afterAll(() => system?.destroy())

/** Asks by a name. curl trusts the test's authority alone, so a `200` is from the member that has the name. */
async function ask(name: string, seconds = 10): Promise<string> {
  const { code, stdout } = await system.lab.run('client', [
    ...['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', '--max-time', `${seconds}`],
    ...['--cacert', path.join(system.lab.directory, 'ca.pem'), '--resolve', `${name}:443:${vipOf(edge)}`],
    `https://${name}/`,
  ])
  return code === 0 ? stdout : `curl ${code}`
}

it('a client ends its TLS at the member that has the name, and a name that no route takes is refused', async () => {
  expect(await ask('shop.example.com')).toBe('200')
  expect(await ask('any.apps.example.com')).toBe('200')
  // The alert `unrecognized_name` (curl: CURLE_SSL_CONNECT_ERROR).
  expect(await ask('other.example.com')).toBe('curl 35')
})

it('a listener lets in its allowed sources alone', async () => {
  const [{ id } = { id: '' }] = edge.listeners
  const allow = (allowedCidrs: readonly string[] | null) =>
    system.api(acme, 'PATCH', `/load-balancers/${edge.id}/listeners/${id}`, { allowedCidrs })
  await allow(['192.0.2.0/24'])
  // Whoever is not let in gets no answer.
  await waitFor(async () => (await ask('shop.example.com', 3)) !== '200', { what: 'the client to be kept out' })
  await allow([`${CLIENT}/32`])
  await waitFor(async () => (await ask('shop.example.com')) === '200', { what: 'the client to be let in' })
})
