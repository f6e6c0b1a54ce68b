import {
  addressOf,
  addressRecord,
  type DnsRecord,
  NameServer,
  removalOf,
  type TsigKey,
  TYPES,
  textOf,
} from '@spout/dns'
import type { LoadBalancer } from '@spout/model'
import { silentLogger, systemClock } from '@spout/runtime'
import { MemoryStore } from '@spout/store'
import { waitFor } from '@spout/testkit'
import { metaOf } from '@spout/testkit/model'
import { TestNameServer } from '@spout/testkit/name-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, uuid } from '../testing/model.ts'
import { DnsPublisher } from './dns-publisher.ts'

const ZONE = 'apps.example.org'
const NODE = uuid('node', 1)
const THEIRS = '"heritage=external-dns,external-dns/owner=cluster-7,external-dns/resource=service/default/web"'

let bind: TestNameServer
let plane: ControlPlane
/** The zone's records before anything was published. */
let original: readonly DnsRecord[]
const publishers: DnsPublisher[] = []

beforeAll(async () => {
  bind = await TestNameServer.start([
    {
      name: ZONE,
      records: [
        'foreign IN A 192.0.2.1',
        'alias IN CNAME foreign',
        'theirs IN A 192.0.2.2',
        `a-theirs IN TXT ${THEIRS}`,
        '*.wild IN A 192.0.2.3',
        '*.wild IN TXT "heritage=external-dns,external-dns/owner=spout"',
      ],
    },
  ])
  original = (await asked().transfer(ZONE)).filter(({ type }) => type !== TYPES.SOA)
})
afterAll(() => bind.stop())
beforeEach(async () => {
  plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', nodeGroup(1)], ['node', node(1)], ['network', network(1)])
  await plane.put(['project', project(['*.apps.example.org', 'shop.elsewhere.example'])])
  await plane.report(NODE)
})
afterEach(async () => {
  for (const publisher of publishers.splice(0)) await publisher.stop()
  await plane.stop()
})

const key = (at = 0): TsigKey => {
  const { name, algorithm, secret } = bind.keys[at]!
  return { name, algorithm, secret: Buffer.from(secret, 'base64') }
}
const project = (provenDomains: string[]) => ({ ...metaOf(uuid('project', 1), 'shop'), enabled: true, provenDomains })
const serverWith = (given: TsigKey) => new NameServer({ host: bind.host, port: bind.port, key: given })
const asked = () => serverWith(key(1))

function publish(options: { readonly key?: TsigKey; readonly sweepMs?: number } = {}): DnsPublisher {
  const publisher = new DnsPublisher({
    zones: [{ name: ZONE, server: serverWith(options.key ?? key()), serverText: `${bind.host} port ${bind.port}` }],
    ...{ owner: 'spout', ttlSeconds: 120, sweepMs: options.sweepMs ?? 3_600_000 },
    ...{ view: plane.view, status: plane.status, clock: systemClock, log: silentLogger() },
  })
  publisher.start()
  publishers.push(publisher)
  return publisher
}

/** Load balancer `number` with these names and public addresses. */
const named = (number: number, dnsNames: readonly string[], addresses: readonly string[], more = {}): LoadBalancer => {
  const plain = loadBalancer(number, { dnsNames: [...dnsNames], ...more })
  const vips = addresses.map((address, at) => ({
    ...{ ...plain.vips[0]!, address, addressId: uuid('other', number * 10 + at) },
  }))
  return { ...plain, vips }
}
const put = async (...all: readonly LoadBalancer[]) => {
  await plane.put(...all.map((each) => ['loadBalancer', each] as const))
  await plane.confirmAll(NODE)
}
const addresses = async (name: string): Promise<readonly string[]> => {
  const records = [...(await asked().query(name, 'A')), ...(await asked().query(name, 'AAAA'))]
  return records.map((record) => `${addressOf(record)} ${record.ttl}`).toSorted()
}
const resolves = (name: string, expected: readonly string[]) =>
  waitFor(async () => (await addresses(name)).join() === expected.join(), { what: `${name} to be ${expected}` })
const textsOf = (records: readonly DnsRecord[]) => records.map((record) => JSON.stringify(record))
const states = (publisher: DnsPublisher, number: number) =>
  publisher.names(uuid('lb', number)).map(({ state, reason, message }) => ({ state, reason, message }))
const failsWith = (publisher: DnsPublisher, number: number, reason: string) =>
  waitFor(() => states(publisher, number).find((each) => each.reason === reason && each), {
    what: `load balancer ${number} to say ${reason}`,
  })

test('a name is published once its address is announced, follows its addresses, and goes with it', async () => {
  const name = `shop.${ZONE}`
  const publisher = publish()
  const first = named(1, [name], ['198.18.0.2', '2001:db8::2'])
  await plane.put(['loadBalancer', first])
  await failsWith(publisher, 1, 'WaitingForAddress')
  expect(await addresses(name)).toEqual([])

  await plane.confirmAll(NODE)
  await resolves(name, ['198.18.0.2 120', '2001:db8::2 120'])
  expect((await asked().query(`a-${name}`, 'TXT')).map(textOf)).toEqual([
    `heritage=external-dns,external-dns/owner=spout,external-dns/resource=spout/${first.projectId}/${first.id}`,
  ])
  await waitFor(() => states(publisher, 1)[0]?.state === 'published', { what: 'the status' })
  expect(states(publisher, 1)[0]?.message).toBe('It is published with 198.18.0.2, 2001:db8::2.')

  // A floating IP moved away, another came.
  await put(named(1, [name], ['198.18.0.9'], { generation: 2, dnsTtlSeconds: 30 }))
  await resolves(name, ['198.18.0.9 30'])
  expect(await asked().query(`aaaa-${name}`, 'TXT')).toEqual([])

  await plane.delete('loadBalancer', first.id)
  await resolves(name, [])
  expect(await asked().query(`a-${name}`, 'TXT')).toEqual([])
})

test('an address that is not announced for a moment stays, one of a disabled load balancer does not', async () => {
  const name = `steady.${ZONE}`
  publish()
  await put(named(2, [name], ['198.18.0.3']))
  await resolves(name, ['198.18.0.3 120'])
  const entry = plane.nodeStates.get(NODE, `lb/${uuid('lb', 2)}`)!
  const silent = { key: `lb/${uuid('lb', 2)}`, hash: entry.hash, state: 'programmed' as const }
  await plane.report(NODE, { entries: [{ ...silent, reason: null, message: null, announced: [] }] })
  await put(named(20, [`marker.${ZONE}`], ['198.18.0.20']))
  await resolves(`marker.${ZONE}`, ['198.18.0.20 120'])
  expect(await addresses(name)).toEqual(['198.18.0.3 120'])
  await put(named(2, [name], ['198.18.0.3'], { generation: 2, enabled: false }))
  await resolves(name, [])
})

test('a name whose domain the project lost is withdrawn, says so, and comes back with the domain', async () => {
  const name = `proven.${ZONE}`
  const publisher = publish()
  await put(named(22, [name], ['198.18.0.22']))
  await resolves(name, ['198.18.0.22 120'])
  await plane.put(['project', project(['*.elsewhere.example'])])
  await resolves(name, [])
  expect(await failsWith(publisher, 22, 'DomainLost')).toEqual({
    ...{ state: 'failed', reason: 'DomainLost', message: 'No domain of the project covers it any more.' },
  })
  await plane.put(['project', project([name])])
  await resolves(name, ['198.18.0.22 120'])
})

describe('what is not ours stays', () => {
  test.each([
    ['records', 'foreign', `foreign.${ZONE} has A records, or an alias or a text beside them, that are not ours.`],
    ['an alias', 'alias', `alias.${ZONE} has A records, or an alias or a text beside them, that are not ours.`],
    [
      'what external-dns has',
      'theirs',
      `theirs.${ZONE} has A records, or an alias or a text beside them, whose owner is cluster-7.`,
    ],
  ])('%s', async (_name, label, message) => {
    const publisher = publish()
    await put(named(3, [`${label}.${ZONE}`], ['198.18.0.4']))
    expect(await failsWith(publisher, 3, 'NotOurs')).toMatchObject({ state: 'failed', message })
    await plane.delete('loadBalancer', uuid('lb', 3))
    await put(named(21, [`after-${label}.${ZONE}`], ['198.18.0.21']))
    await resolves(`after-${label}.${ZONE}`, ['198.18.0.21 120'])
    expect(textsOf(await asked().transfer(ZONE))).toEqual(expect.arrayContaining(textsOf(original)))
  })

  test('a name below a wildcard is published beside it', async () => {
    publish()
    await put(named(4, [`shop.wild.${ZONE}`, `*.all.${ZONE}`], ['198.18.0.5']))
    await resolves(`shop.wild.${ZONE}`, ['198.18.0.5 120'])
    await resolves(`any.thing.all.${ZONE}`, ['198.18.0.5 120'])
    await plane.delete('loadBalancer', uuid('lb', 4))
    await resolves(`shop.wild.${ZONE}`, ['192.0.2.3 60'])
    await resolves(`any.thing.all.${ZONE}`, [])
  })
})

test('after a restart what is wanted stays, what nobody wants goes, and what is missing comes', async () => {
  const [kept, gone, lost] = [`kept.${ZONE}`, `gone.${ZONE}`, `lost.${ZONE}`]
  const before = publish()
  await put(named(5, [kept], ['198.18.0.6']), named(6, [gone], ['198.18.0.7']), named(7, [lost], ['198.18.0.8']))
  for (const [name, address] of [
    [kept, 6],
    [gone, 7],
    [lost, 8],
  ] as const)
    await resolves(name, [`198.18.0.${address} 120`])
  await before.stop()
  await plane.delete('loadBalancer', uuid('lb', 6))
  const removed = removalOf(addressRecord(lost, '198.18.0.8', 0))
  await asked().update({ zone: ZONE, prerequisites: [], changes: [removed] })
  publish()
  await resolves(gone, [])
  await resolves(lost, ['198.18.0.8 120'])
  expect(await addresses(kept)).toEqual(['198.18.0.6 120'])
})

test('a wrong key is said with its reason, and a name without a zone, too', async () => {
  const publisher = publish({ key: { ...key(), secret: Buffer.from('guessed') } })
  await put(named(8, [`key.${ZONE}`, 'shop.elsewhere.example'], ['198.18.0.10']))
  expect(await failsWith(publisher, 8, 'NameServer')).toMatchObject({
    message: `The name server of ${ZONE}, ${bind.host} port ${bind.port}: the secret of key spout-key is not the server's (BADSIG).`,
  })
  expect(states(publisher, 8)[1]).toMatchObject({ state: 'failed', reason: 'NoZone' })
  await waitFor(() => publisher.zones[0]?.sweepFailure?.includes('BADSIG'), { what: 'the zone to fail' })
})

test('while the name server is away names wait, and then come and go', async () => {
  const [old, fresh] = [`old.${ZONE}`, `fresh.${ZONE}`]
  const publisher = publish()
  await put(named(9, [old], ['198.18.0.11']))
  await resolves(old, ['198.18.0.11 120'])
  await bind.pause()
  await put(named(10, [fresh], ['198.18.0.12']))
  await plane.delete('loadBalancer', uuid('lb', 9))
  const failed = await failsWith(publisher, 10, 'NameServer')
  expect(failed.message).toContain('ECONNREFUSED')
  await bind.resume()
  await resolves(fresh, ['198.18.0.12 120'])
  await resolves(old, [])
})
