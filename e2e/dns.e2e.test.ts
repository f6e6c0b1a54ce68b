import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { addressOf, NameServer } from '@spout/dns'
import { type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { TestNameServer } from '@spout/testkit/name-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, BOLT, member, PORT, vipOf } from './fixtures.ts'

const ZONE = 'apps.example.org'
const NAME = `shop.${ZONE}`

let directory: string
let bind: TestNameServer
let system: TestSystem
let acme: Tenant
let bolt: Tenant

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'spout-dns-'))
  bind = await TestNameServer.start([{ name: ZONE }])
  const [key] = bind.keys
  const secretFile = path.join(directory, 'secret')
  await writeFile(secretFile, `${key!.secret}\n`, { mode: 0o600 })
  const zone = { name: ZONE, host: bind.host, port: bind.port, keyName: key!.name, secretFile }
  const set = [`dns.zones=${JSON.stringify([zone])}`, 'dns.ttlSeconds=60']
  system = await TestSystem.start({ tenants: [ACME, BOLT], nodes: ['node1'], set })
  acme = system.tenants[0]!
  bolt = system.tenants[1]!
})
afterAll(async () => {
  await system?.destroy()
  await bind?.stop()
  await rm(directory, { recursive: true, force: true })
})

const records = async () => {
  const { name, algorithm, secret } = bind.keys[1]!
  const key = { name, algorithm, secret: Buffer.from(secret, 'base64') }
  return new NameServer({ host: bind.host, port: bind.port, key }).query(NAME, 'A')
}
const addresses = async (): Promise<readonly string[]> => (await records()).map(addressOf)
const body = {
  name: 'shop',
  dnsNames: [NAME],
  pools: [{ name: 'web', protocol: 'http', members: [member(1, PORT.http)] }],
  listeners: [{ name: 'web', protocol: 'http', port: 80, defaultPool: 'web' }],
}

it('a name of the project leads to the load balancer, and is gone with it', async () => {
  const { access } = system
  await expect(system.createLoadBalancer(acme, body)).rejects.toThrow(`no domain of the project covers ${NAME}`)
  for (const tenant of [acme, bolt])
    await system.api(access.admin, 'PATCH', `/projects/${tenant.projectId}`, { domains: [`*.${ZONE}`] })
  const shop = await system.createLoadBalancer(acme, body)
  await waitFor(async () => (await addresses()).length > 0, { what: `${NAME} to be published` })
  expect(await addresses()).toEqual([vipOf(shop)])
  const [at] = await addresses()
  expect(await system.lab.must('client', ['curl', '-s', '--max-time', '60', `http://${at}/`])).not.toBe('')
  const explained = await waitFor(
    async () => {
      const { dns } = await system.api<{ dns: readonly { state: string; message: string }[] }>(
        ...([acme, 'GET', `/load-balancers/${shop.id}/explain`] as const),
      )
      return dns[0]?.state === 'published' && dns[0]
    },
    { what: 'the status of the name' },
  )
  expect(explained.message).toBe(`It is published with ${at}.`)

  const ttlIs = (ttl: number) =>
    waitFor(async () => (await records())[0]?.ttl === ttl, { what: `${NAME} to be kept for ${ttl} s` })
  await ttlIs(60)
  for (const [dnsTtlSeconds, ttl] of [
    [5, 5],
    [null, 60],
  ] as const) {
    await system.api(acme, 'PATCH', `/load-balancers/${shop.id}`, { dnsTtlSeconds })
    await ttlIs(ttl)
  }

  const take = (): Promise<ShownLoadBalancer> => system.createLoadBalancer(bolt, body)
  await expect(take()).rejects.toThrow(`another load balancer has the name ${NAME}`)
  await system.api(acme, 'DELETE', `/load-balancers/${shop.id}`)
  await waitFor(async () => (await addresses()).length === 0, { what: `${NAME} to be withdrawn` })
  const next = await take()
  await waitFor(async () => (await addresses())[0] === vipOf(next), { what: `${NAME} to lead to the other project` })
})
