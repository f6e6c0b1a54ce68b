import { TestNameServer } from '@spout/testkit/name-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  absent,
  addressOf,
  addressRecord,
  NameServer,
  removal,
  same,
  type TsigKey,
  textOf,
  textRecord,
} from './index.ts'

const ZONE = 'apps.example.org'
let bind: TestNameServer

beforeAll(async () => {
  const many = Array.from({ length: 3000 }, (_, at) => `many-${at} IN TXT "${'x'.repeat(60)} ${at}"`)
  bind = await TestNameServer.start([{ name: ZONE, records: ['taken IN A 192.0.2.1', ...many] }])
})
afterAll(() => bind.stop())

const keyOf = (at: number): TsigKey => {
  const { name, algorithm, secret } = bind.keys[at]!
  return { name, algorithm, secret: Buffer.from(secret, 'base64') }
}
const serverWith = (key: TsigKey, options: { readonly now?: () => number; readonly port?: number } = {}): NameServer =>
  new NameServer({ host: bind.host, port: bind.port, key, ...options })

describe.each([
  ['HMAC-SHA256', 0],
  ['HMAC-SHA512', 1],
])('signed by %s', (_name, at) => {
  const name = `web${at}.${ZONE}`

  test('records are added, read, replaced and removed', async () => {
    const server = serverWith(keyOf(at))
    const update = (changes: Parameters<NameServer['update']>[0]['changes']) =>
      server.update({ zone: ZONE, prerequisites: [], changes })
    const ownership = textRecord(`a-${name}`, `owner ${'ü'.repeat(200)}`, 300)
    await update([
      addressRecord(name, '198.51.100.7', 120),
      addressRecord(name, '198.51.100.8', 120),
      addressRecord(name, '2001:db8::7', 120),
      ownership,
    ])
    expect((await server.query(name, 'A')).map(addressOf).toSorted()).toEqual(['198.51.100.7', '198.51.100.8'])
    const sixth = await server.query(name, 'AAAA')
    expect(sixth.map(addressOf)).toEqual(['2001:db8::7'])
    expect(sixth[0]?.ttl).toBe(120)
    expect((await server.query(`a-${name}`, 'TXT')).map(textOf)).toEqual([textOf(ownership)])

    await server.update({
      zone: ZONE,
      prerequisites: [same(ownership)],
      changes: [removal(name, 'A'), addressRecord(name, '198.51.100.9', 60)],
    })
    const replaced = await server.query(name, 'A')
    expect(replaced.map((record) => [addressOf(record), record.ttl])).toEqual([['198.51.100.9', 60]])
    await update([removal(name, 'A'), removal(name, 'AAAA'), removal(`a-${name}`, 'TXT')])
    expect(await server.query(name, 'A')).toEqual([])
  })

  test('a prerequisite that does not hold stops all of the update', async () => {
    const server = serverWith(keyOf(at))
    const change = { zone: ZONE, changes: [addressRecord(`taken.${ZONE}`, '198.51.100.7', 60)] }
    await expect(server.update({ ...change, prerequisites: [absent(`taken.${ZONE}`, 'A')] })).rejects.toMatchObject({
      kind: 'prerequisite',
      message: 'it answers YXRRSET',
    })
    await expect(
      server.update({ ...change, prerequisites: [same(textRecord(`a-taken.${ZONE}`, 'mine', 0))] }),
    ).rejects.toMatchObject({ kind: 'prerequisite', message: 'it answers NXRRSET' })
    expect((await server.query(`taken.${ZONE}`, 'A')).map(addressOf)).toEqual(['192.0.2.1'])
  })

  test('a zone of many messages is transferred', async () => {
    const records = await serverWith(keyOf(at)).transfer(ZONE)
    expect(records.filter(({ name: of }) => of.startsWith('many-'))).toHaveLength(3000)
    expect(records.map(({ name: of }) => of)).toContain(`taken.${ZONE}`)
  })
})

describe('what is refused is said with its reason', () => {
  test.each([
    [
      'a wrong secret',
      () => ({ ...keyOf(0), secret: Buffer.from('guessed') }),
      "the secret of key spout-key is not the server's (BADSIG)",
    ],
    ['an unknown key', () => ({ ...keyOf(0), name: 'other' }), 'it knows no key other of hmac-sha256 (BADKEY)'],
  ])('%s', async (_name, key, message) => {
    await expect(serverWith(key()).query(ZONE, 'SOA')).rejects.toMatchObject({ kind: 'refused', message })
  })

  test('a clock that differs', async () => {
    const server = serverWith(keyOf(0), { now: () => Date.now() - 3_600_000 })
    await expect(server.query(ZONE, 'SOA')).rejects.toMatchObject({
      kind: 'refused',
      message: 'its clock and ours differ by more than 5 minutes (BADTIME)',
    })
  })

  test('a zone that the server does not have', async () => {
    const server = serverWith(keyOf(0))
    const changes = [addressRecord('web.elsewhere.example', '198.51.100.7', 60)]
    await expect(server.update({ zone: 'elsewhere.example', prerequisites: [], changes })).rejects.toMatchObject({
      kind: 'refused',
      message: 'it answers NOTAUTH',
    })
    await expect(server.transfer('elsewhere.example')).rejects.toMatchObject({ kind: 'refused' })
  })

  test('a server that is away', async () => {
    await expect(serverWith(keyOf(0), { port: 1 }).query(ZONE, 'SOA')).rejects.toMatchObject({ kind: 'unreachable' })
  })
})
