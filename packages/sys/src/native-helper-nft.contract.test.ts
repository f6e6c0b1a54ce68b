import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NftChange } from './helper-protocol/nftables.ts'
import { runIn } from './netns.ts'
import { type HelperUnderTest, refusal, startHelperUnderTest } from './testing/helper-under-test.ts'
import { SANITIZED } from './testing/native-builds.ts'

const TABLE = { family: 'ip', table: 'lb' } as const
const SKELETON = `
add table ip lb { comment "generation 7"; }
add map ip lb services { type ipv4_addr . inet_proto . inet_service : mark; }
add map ip lb members { type mark . mark : ipv4_addr . inet_service; }
add set ip lb caps { type ipv4_addr . inet_proto . inet_service; ct count over 5; }
add set ip lb admitted { type ipv4_addr . ipv4_addr; flags interval; }
`
const SERVICE = { do: 'add', set: 'services', keyBytes: 12, dataBytes: 4 } as const
const MEMBERS = { set: 'members', keyBytes: 8, dataBytes: 8 } as const

/** 192.0.2.`host` . tcp . `port`, each field padded to 4 bytes. */
const serviceKey = (host: number, port: number): Buffer =>
  Buffer.from([192, 0, 2, host, 6, 0, 0, 0, port >> 8, port & 255, 0, 0])
const mark = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
const service = (host: number, port: number, pool: number): Buffer =>
  Buffer.concat([serviceKey(host, port), mark(pool)])

/** `count` members of distinct keys, from number `first` on. */
function members(first: number, count: number): Buffer {
  const records = Buffer.alloc(count * 16)
  for (let i = 0; i < count; i++) {
    records.writeUInt32LE((first + i) >> 6, i * 16)
    records.writeUInt32LE((first + i) & 63, i * 16 + 4)
    records.writeUInt32BE(0x0a000000 + first + i, i * 16 + 8)
    records.writeUInt16BE(8080, i * 16 + 12)
  }
  return records
}
const memberKey = (number: number): Buffer => members(number, 1).subarray(0, 8)

describe('nftables through the helper', () => {
  const { name, path } = SANITIZED
  let on: HelperUnderTest
  beforeAll(async () => {
    on = await startHelperUnderTest(path, `nft-${name[0]}`)
  })
  afterAll(async () => expect(await on?.end()).toEqual([]))

  beforeAll(() => on.helper.nftText({ netns: on.netns, text: SKELETON }))

  const inTable = () => ({ netns: on.netns, ...TABLE })
  const get = (set: string, key: Buffer) => on.helper.nftGet({ ...inTable(), set, key })

  test('reads the generation from the table comment', async () => {
    expect(await on.helper.nftGeneration(inTable())).toEqual({ exists: true, comment: 'generation 7' })
    expect(await on.helper.nftGeneration({ ...inTable(), table: 'absent' })).toEqual({ exists: false, comment: null })
  })

  test('says what libnftables says, and changes nothing', async () => {
    const text = 'add table ip half\nadd rule ip absent c accept\n'
    expect((await refusal(on.helper.nftText({ netns: on.netns, text }))).message).toMatch(/No such file or directory/)
    expect(await on.helper.nftGeneration({ ...inTable(), table: 'half' })).toMatchObject({ exists: false })
  })

  test('adds, reads, replaces and deletes an element', async () => {
    await on.helper.nftBatch({ ...inTable(), changes: [{ ...SERVICE, elements: service(1, 80, 7) }] })
    expect(await get('services', serviceKey(1, 80))).toEqual(mark(7))

    const drop = { do: 'delete', set: 'services', keyBytes: 12, elements: serviceKey(1, 80) } as const
    await on.helper.nftBatch({ ...inTable(), changes: [drop, { ...SERVICE, elements: service(1, 80, 8) }] })
    expect(await get('services', serviceKey(1, 80))).toEqual(mark(8))

    await on.helper.nftBatch({ ...inTable(), changes: [drop] })
    expect(await get('services', serviceKey(1, 80))).toBeNull()
  })

  test('keeps tables of family netdev apart from others of the same name', async () => {
    await on.helper.nftText({
      netns: on.netns,
      text: 'add table netdev lb { comment "other"; }\nadd map netdev lb services { type ipv4_addr . inet_proto . inet_service : mark; }\n',
    })
    const other = { ...inTable(), family: 'netdev' } as const
    expect(await on.helper.nftGeneration(other)).toEqual({ exists: true, comment: 'other' })
    await on.helper.nftBatch({ ...other, changes: [{ ...SERVICE, elements: service(9, 80, 7) }] })
    expect(await on.helper.nftGet({ ...other, set: 'services', key: serviceKey(9, 80) })).toEqual(mark(7))
    expect(await get('services', serviceKey(9, 80))).toBeNull()
  })

  test('tells an absent element from an absent set and an absent table', async () => {
    expect(await get('services', serviceKey(250, 1))).toBeNull()
    expect(await refusal(get('absent', serviceKey(250, 1)))).toMatchObject({ errno: 'ENOENT' })
    const elsewhere = on.helper.nftGet({
      netns: on.netns,
      family: 'ip',
      table: 'absent',
      set: 'services',
      key: serviceKey(1, 1),
    })
    expect(await refusal(elsewhere)).toMatchObject({ errno: 'ENOENT' })
  })

  test('is atomic, and names the change and the record that were refused', async () => {
    await on.helper.nftBatch({ ...inTable(), changes: [{ ...SERVICE, elements: service(3, 80, 1) }] })
    const batch = on.helper.nftBatch({
      ...inTable(),
      changes: [
        { ...SERVICE, elements: service(2, 80, 1) },
        { ...SERVICE, elements: Buffer.concat([service(2, 81, 1), service(2, 82, 1), service(3, 80, 2)]) },
      ],
    })
    expect(await refusal(batch)).toMatchObject({ errno: 'EEXIST', index: 1, element: 2 })
    expect(await get('services', serviceKey(2, 80))).toBeNull()
    expect(await get('services', serviceKey(3, 80))).toEqual(mark(1))
  })

  test('refuses to delete what is not there', async () => {
    const drop = { do: 'delete', set: 'services', keyBytes: 12, elements: serviceKey(99, 99) } as const
    expect(await refusal(on.helper.nftBatch({ ...inTable(), changes: [drop] }))).toMatchObject({
      errno: 'ENOENT',
      index: 0,
      element: 0,
    })
  })

  test('flushes and refills a set in one transaction', async () => {
    const { transactions } = await on.helper.stats()
    await on.helper.nftBatch({
      ...inTable(),
      changes: [
        { do: 'flush', set: 'services' },
        { ...SERVICE, elements: service(4, 443, 4) },
      ],
    })
    expect(await get('services', serviceKey(3, 80))).toBeNull()
    expect(await get('services', serviceKey(4, 443))).toEqual(mark(4))
    expect((await on.helper.stats()).transactions).toBe(transactions + 1)
  })

  test('replaces a table and fills the new one in one transaction', async () => {
    const { transactions } = await on.helper.stats()
    const table = { netns: on.netns, family: 'ip', table: 'whole' } as const
    const text = (comment: string) => `add table ip whole
delete table ip whole
table ip whole {
  comment "${comment}"
  map services { type ipv4_addr . inet_proto . inet_service : mark; }
  set caps { type ipv4_addr . inet_proto . inet_service; ct count over 5; }
  set admitted { type ipv4_addr . ipv4_addr; flags interval; }
  chain input { type filter hook input priority 0; policy accept; tcp dport { 80, 443 } meta mark set ip daddr . ip protocol . th dport map @services; }
}
`
    const range = Buffer.from([192, 0, 2, 1, 10, 0, 0, 0, 192, 0, 2, 1, 10, 0, 0, 255])
    const limit = Buffer.concat([serviceKey(1, 80), mark(3)])
    const load = (comment: string, pool: number, further: readonly NftChange[] = []) =>
      on.helper.nftBatch({
        ...table,
        text: text(comment),
        changes: [
          { ...SERVICE, elements: service(1, 80, pool) },
          { do: 'add', set: 'caps', keyBytes: 12, elements: limit, expr: 'count-over' },
          { do: 'add', set: 'admitted', keyBytes: 8, elements: range, interval: true },
          ...further,
        ],
      })
    const pool = () => on.helper.nftGet({ ...table, set: 'services', key: serviceKey(1, 80) })

    await load('first', 7)
    await load('second', 8)
    expect((await on.helper.stats()).transactions).toBe(transactions + 2)
    expect(await on.helper.nftGeneration(table)).toEqual({ exists: true, comment: 'second' })
    expect(await pool()).toEqual(mark(8))
    const listing = await runIn(on.segment.near, ['nft', 'list', 'table', 'ip', 'whole'])
    expect(listing).toContain('tcp dport { 80, 443 } meta mark set')
    expect(listing).toContain('192.0.2.1 . tcp . 80 ct count over 3')
    expect(listing).toContain('192.0.2.1 . 10.0.0.0/24')

    const absent = { ...SERVICE, set: 'absent', elements: service(1, 80, 9) }
    expect(await refusal(load('third', 9, [absent]))).toMatchObject({ errno: 'ENOENT', index: 3 })
    const noCommands = on.helper.nftBatch({ ...table, text: 'add chain ip whole {', changes: [] })
    expect((await refusal(noCommands)).message).toMatch(/syntax error/)
    const noChain = on.helper.nftBatch({ ...table, text: 'add rule ip whole absent accept', changes: [] })
    expect(await refusal(noChain)).toMatchObject({ errno: 'ENOENT', index: null })
    expect(await on.helper.nftGeneration(table)).toEqual({ exists: true, comment: 'second' })
    expect(await pool()).toEqual(mark(8))
  })

  test('changes nothing for an empty batch', async () => {
    const { transactions } = await on.helper.stats()
    await on.helper.nftBatch({ ...inTable(), changes: [] })
    expect((await on.helper.stats()).transactions).toBe(transactions)
  })

  test('loads 640,000 elements as one transaction, and refuses as one', async () => {
    const { transactions } = await on.helper.stats()
    await on.helper.nftBatch({ ...inTable(), changes: [{ ...MEMBERS, do: 'add', elements: members(0, 640_000) }] })
    expect((await on.helper.stats()).transactions).toBe(transactions + 1)
    for (const number of [0, 1, 65_535, 399_999, 639_999])
      expect(await get('members', memberKey(number))).toEqual(members(number, 1).subarray(8))

    const again = members(600_000, 100_000)
    again.writeUInt16BE(1, 39_998 * 16 + 12)
    const batch = on.helper.nftBatch({ ...inTable(), changes: [{ ...MEMBERS, do: 'add', elements: again }] })
    expect(await refusal(batch)).toMatchObject({ errno: 'EEXIST', index: 0, element: 39_998 })
    expect(await get('members', memberKey(640_000))).toBeNull()

    await on.helper.nftBatch({ ...inTable(), changes: [{ do: 'flush', set: 'members' }] })
    expect(await get('members', memberKey(639_999))).toBeNull()
  })

  test('takes thousands of small changes as one transaction', async () => {
    const changes = Array.from(
      { length: 5_000 },
      (_, i) => ({ ...MEMBERS, do: 'add', elements: members(i, 1) }) as const,
    )
    await on.helper.nftBatch({ ...inTable(), changes })
    expect(await get('members', memberKey(4_999))).not.toBeNull()
    const bad = [...changes.slice(0, 4_000).map((change) => ({ ...change, do: 'delete' }) as const), changes[1]!]
    bad[3_000] = { ...MEMBERS, do: 'delete', elements: members(77_777, 1) }
    expect(await refusal(on.helper.nftBatch({ ...inTable(), changes: bad }))).toMatchObject({
      errno: 'ENOENT',
      index: 3_000,
    })
    await on.helper.nftBatch({ ...inTable(), changes: [{ do: 'flush', set: 'members' }] })
  })

  test('gives each element a connection limit of its own', async () => {
    const elements = Buffer.concat([serviceKey(1, 80), mark(100), serviceKey(2, 80), mark(1)])
    await on.helper.nftBatch({
      ...inTable(),
      changes: [{ do: 'add', set: 'caps', keyBytes: 12, elements, expr: 'count-over' }],
    })
    const listed = await runIn(on.segment.near, ['nft', 'list', 'set', 'ip', 'lb', 'caps'])
    expect(listed).toContain('192.0.2.1 . tcp . 80 ct count over 100')
    expect(listed).toContain('192.0.2.2 . tcp . 80 ct count over 1')
  })

  test('adds and deletes ranges of a concatenated interval set', async () => {
    const range = Buffer.from([192, 0, 2, 1, 10, 0, 0, 0, 192, 0, 2, 1, 10, 0, 0, 255])
    const change = { set: 'admitted', keyBytes: 8, elements: range, interval: true } as const
    await on.helper.nftBatch({ ...inTable(), changes: [{ ...change, do: 'add' }] })
    expect(await runIn(on.segment.near, ['nft', 'list', 'set', 'ip', 'lb', 'admitted'])).toContain(
      '192.0.2.1 . 10.0.0.0/24',
    )
    await on.helper.nftBatch({ ...inTable(), changes: [{ ...change, do: 'delete' }] })
    expect(await runIn(on.segment.near, ['nft', 'list', 'set', 'ip', 'lb', 'admitted'])).not.toContain('elements')
  })
})
