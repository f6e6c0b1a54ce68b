import { type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { type Issued, issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, BOLT, CLIENT, member, PORT, vipOf } from './fixtures.ts'
import { SyslogServer } from './syslog-server.ts'

/** Of the members of both tenants: they have the same addresses, in networks of their own. */
const RECEIVER = '10.0.0.12'

let system: TestSystem
let acme: Tenant
let bolt: Tenant
let shop: ShownLoadBalancer
let blog: ShownLoadBalancer
let atAcme: SyslogServer
let atBolt: SyslogServer

beforeAll(async () => {
  // No directory: such a node offers syslog receivers alone.
  system = await TestSystem.start({ tenants: [ACME, BOLT], nodes: ['node1'] })
  acme = system.tenants[0]!
  bolt = system.tenants[1]!
  atAcme = new SyslogServer(system.lab, 'tenant-a-member2')
  atBolt = new SyslogServer(system.lab, 'tenant-b-member2')
  await atAcme.start()
  await atBolt.start()
  const make = (who: Tenant, name: string, accessLog: object) =>
    system.createLoadBalancer(who, {
      name,
      pools: [{ name: 'web', protocol: 'http', members: [member(1, PORT.http)] }],
      listeners: [{ name: 'logged', protocol: 'http', port: 80, defaultPool: 'web', accessLog }],
    })
  shop = await make(acme, 'shop', { format: '{client} {uri} {status}', syslog: { address: RECEIVER } })
  blog = await make(bolt, 'blog', { format: 'json', syslog: { address: RECEIVER, transport: 'tcp' } })
})
afterAll(() => system?.destroy())

const get = (of: ShownLoadBalancer, at: string, ...more: readonly string[]) =>
  system.lab.must('client', [
    ...['curl', '-s', '-o', '/dev/null', '--max-time', '60', ...more],
    `http://${vipOf(of)}${at}`,
  ])
/** The line with this text, once it came. */
const lineWith = (server: SyslogServer, text: string) =>
  waitFor(() => server.lines().find((line) => line.includes(text)), {
    what: `the line with ${text}`,
    timeoutMs: 40_000,
  })
const TIME = String.raw`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`

it('lines are messages of RFC 5424 to a receiver in the own network, over UDP and over TCP', async () => {
  await get(shop, '/of-acme')
  await get(blog, '/of-bolt', '-A', '\u001b[2J"')
  const overUdp = await lineWith(atAcme, '/of-acme')
  expect(overUdp).toMatch(
    new RegExp(`^1 134 ${TIME} ${vipOf(shop)} spout request 10\\.0\\.0\\.\\d+ ${CLIENT} /of-acme 200$`),
  )
  const overTcp = await lineWith(atBolt, '/of-bolt')
  expect(overTcp).toMatch(new RegExp(`^1 134 ${TIME} ${vipOf(blog)} spout request 10\\.0\\.0\\.\\d+ \\{`))
  expect(JSON.parse(overTcp.slice(overTcp.indexOf('{')))).toMatchObject({
    ...{ uri: '/of-bolt', client: CLIENT, 'user-agent': '\u001b[2J"', pool: blog.pools[0]!.id },
  })
  // The other tenant has a receiver of the same address in another network.
  expect(atAcme.lines().some((line) => line.includes('/of-bolt'))).toBe(false)
  expect(atBolt.lines().some((line) => line.includes('/of-acme'))).toBe(false)
})

it('a receiver that is away costs no request, and gets what waited once it is back', async () => {
  await atBolt.stop()
  const began = atBolt.lines().length
  // A connection that was there is found closed before the first of these.
  for (let at = 0; at < 20; at++) await get(blog, `/meanwhile/${at}`, '--fail')
  await atBolt.start()
  await lineWith(atBolt, '/meanwhile/19')
  const uris = atBolt
    .lines()
    .slice(began)
    .map((line) => /"uri":"([^"]+)"/.exec(line)?.[1])
  expect(uris).toEqual(Array.from({ length: 20 }, (_, at) => `/meanwhile/${at}`))
})

it('another receiver is used from then on, without a reload, and none at all', async () => {
  const place = `/load-balancers/${shop.id}/listeners/${shop.listeners[0]!.id}`
  await system.api(acme, 'PATCH', place, { accessLog: { syslog: { transport: 'tcp' } } })
  await system.active(acme, shop.id)
  await get(shop, '/over-tcp')
  await lineWith(atAcme, '/over-tcp')
  await system.api(acme, 'PATCH', place, { accessLog: null })
  await system.active(acme, shop.id)
  await get(shop, '/none')
  await system.api(acme, 'PATCH', place, { accessLog: { syslog: { address: RECEIVER } } })
  await system.active(acme, shop.id)
  await get(shop, '/json')
  await lineWith(atAcme, '/json')
  expect(atAcme.lines().some((line) => line.includes('/none'))).toBe(false)
})

it('over TLS both sides show certificates, and the load balancer says why a receiver gets nothing', async () => {
  const authority = issueCertificate({ isAuthority: true })
  const stranger = issueCertificate({ isAuthority: true })
  const of = (issuer: Issued) => issueCertificate({ alternatives: `IP:${RECEIVER}`, issuer })
  const store = async (name: string, { certificate, key }: Issued, keyed: boolean): Promise<string> => {
    const body = { name, chain: certificate, ...(keyed ? { key } : {}) }
    return (await system.api<{ id: string }>(acme, 'POST', '/certificates', body)).id
  }
  const caCertificateId = await store('log-ca', authority, false)
  const clientCertificateId = await store('log-sender', issueCertificate({ issuer: authority }), true)
  const place = `/load-balancers/${shop.id}/listeners/${shop.listeners[0]!.id}`
  const tls = { caCertificateId, clientCertificateId }
  const accessLog = { format: '{uri}', syslog: { address: RECEIVER, port: 514, transport: 'tls', tls } }
  await atAcme.stop()
  const authorities = authority.certificate
  await atAcme.start({ ...of(stranger), authorities })
  await system.api(acme, 'PATCH', place, { accessLog })
  await system.active(acme, shop.id)
  await get(shop, '/before-tls')
  const servingOf = async () =>
    (await system.api<{ status: { serving: { message: string } } }>(acme, 'GET', `/load-balancers/${shop.id}`)).status
      .serving.message
  const why = await waitFor(
    async () => {
      const message = await servingOf()
      return message.includes('given authority') && message
    },
    { what: 'the reason' },
  )
  expect(why).toMatch(/listener logged does not reach 10\.0\.0\.12 from node \S+: .*not from the given authority\.$/)
  await atAcme.stop()
  await atAcme.start({ ...of(authority), authorities })
  // What waited comes once the receiver is who it should be.
  await lineWith(atAcme, '/before-tls')
  await waitFor(async () => !(await servingOf()).includes('does not reach'), { what: 'a word that it is reached' })
  await get(shop, '/over-tls')
  await lineWith(atAcme, '/over-tls')
  await expect(system.api(acme, 'DELETE', `/certificates/${caCertificateId}`)).rejects.toThrow(/listener logged/)
  await system.api(acme, 'PATCH', place, { accessLog: { syslog: { address: RECEIVER } } })
})

it.each([
  ['169.254.169.254', /accessLog\.syslog\.address/],
  ['198.18.0.1', /accessLog\.syslog\.address.*management/],
  ['203.0.113.10', /accessLog\.syslog\.address/],
  ['10.0.0.1', /accessLog\.syslog\.address.*gateway/],
])('a receiver at %s is refused with field and reason', async (address, why) => {
  const place = `/load-balancers/${shop.id}/listeners/${shop.listeners[0]!.id}`
  await expect(system.api(acme, 'PATCH', place, { accessLog: { syslog: { address } } })).rejects.toThrow(why)
})

it('a node that writes no files says so', async () => {
  const place = `/load-balancers/${shop.id}/listeners/${shop.listeners[0]!.id}`
  await system.api(acme, 'PATCH', place, { accessLog: { syslog: null } })
  const shown = await waitFor(
    async () => {
      const now = await system.api<{ status: unknown }>(acme, 'GET', `/load-balancers/${shop.id}`)
      const text = JSON.stringify(now.status)
      return text.includes('l7.access-log') && text
    },
    { what: 'the reason' },
  )
  expect(shown).toContain('FeatureUnavailable')
})
