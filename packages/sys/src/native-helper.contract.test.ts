import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HelperError, HelperLost, NativeHelper } from './index.ts'
import { findLink } from './links.ts'
import type { Log } from './log.ts'
import { createNetns, deleteNetns, netnsPath, runIn } from './netns.ts'
import { BUILDS, buildHelper } from './testing/native-builds.ts'
import { createSegment, FAR, NEAR, type Segment } from './testing/segment.ts'

const TABLE = { family: 'ip', table: 'lb' } as const
const SKELETON = `
add table ip lb { comment "generation 7"; }
add map ip lb services { type ipv4_addr . inet_proto . inet_service : mark; }
add map ip lb members { type mark . mark : ipv4_addr . inet_service; }
add set ip lb caps { type ipv4_addr . inet_proto . inet_service; flags dynamic; ct count over 5; }
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

const refusal = async (call: Promise<unknown>): Promise<HelperError> => {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof HelperError)) throw new Error(`expected a HelperError, got ${String(error)}`)
  return error
}

beforeAll(buildHelper)

describe.each(BUILDS)('native helper, $name build', ({ name, path }) => {
  /** What the helper wrote to stderr: sanitizers and leak reports among it. */
  const said: object[] = []
  const log: Log = { debug: () => undefined, info: () => undefined, warn: (fields) => said.push(fields) }
  let helper: NativeHelper
  let segment: Segment
  let netns: string

  beforeAll(async () => {
    segment = await createSegment(name.slice(0, 1))
    netns = segment.nearPath
    helper = await NativeHelper.start({ path, log })
    await helper.nftText({ netns, text: SKELETON })
    await segment.serve(`
      const net = require('node:net')
      const start = (port, serve) => new Promise((done) => net.createServer(serve).listen(port, '::', done))
      Promise.all([
        start(8001, (socket) => socket.on('error', () => {}).once('data', (data) => socket.end('HTTP/1.0 200 OK\\r\\n\\r\\n' + data))),
        start(8002, (socket) => socket.on('error', () => {})),
        start(8003, (socket) => socket.on('error', () => {}).once('data', () => socket.resetAndDestroy())),
        start(8004, (socket) => socket.on('error', () => {}).write(Buffer.alloc(100000, 'x'))),
      ]).then(() => console.log('ready'))
    `)
  })

  afterAll(async () => {
    await helper?.close()
    await segment?.remove()
    expect(said).toEqual([])
  })

  const inTable = () => ({ netns, ...TABLE })
  const get = (set: string, key: Buffer) => helper.nftGet({ ...inTable(), set, key })

  test('reads the generation from the table comment', async () => {
    expect(await helper.nftGeneration(inTable())).toEqual({ exists: true, comment: 'generation 7' })
    expect(await helper.nftGeneration({ ...inTable(), table: 'absent' })).toEqual({ exists: false, comment: null })
  })

  test('says what libnftables says, and changes nothing', async () => {
    const text = 'add table ip half\nadd rule ip absent c accept\n'
    expect((await refusal(helper.nftText({ netns, text }))).message).toMatch(/No such file or directory/)
    expect(await helper.nftGeneration({ ...inTable(), table: 'half' })).toMatchObject({ exists: false })
  })

  test('adds, reads, replaces and deletes an element', async () => {
    await helper.nftBatch({ ...inTable(), changes: [{ ...SERVICE, elements: service(1, 80, 7) }] })
    expect(await get('services', serviceKey(1, 80))).toEqual(mark(7))

    const drop = { do: 'delete', set: 'services', keyBytes: 12, elements: serviceKey(1, 80) } as const
    await helper.nftBatch({ ...inTable(), changes: [drop, { ...SERVICE, elements: service(1, 80, 8) }] })
    expect(await get('services', serviceKey(1, 80))).toEqual(mark(8))

    await helper.nftBatch({ ...inTable(), changes: [drop] })
    expect(await get('services', serviceKey(1, 80))).toBeNull()
  })

  test('tells an absent element from an absent set and an absent table', async () => {
    expect(await get('services', serviceKey(250, 1))).toBeNull()
    expect(await refusal(get('absent', serviceKey(250, 1)))).toMatchObject({ errno: 'ENOENT' })
    const elsewhere = helper.nftGet({ netns, family: 'ip', table: 'absent', set: 'services', key: serviceKey(1, 1) })
    expect(await refusal(elsewhere)).toMatchObject({ errno: 'ENOENT' })
  })

  test('is atomic, and names the change and the record that were refused', async () => {
    await helper.nftBatch({ ...inTable(), changes: [{ ...SERVICE, elements: service(3, 80, 1) }] })
    const batch = helper.nftBatch({
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
    expect(await refusal(helper.nftBatch({ ...inTable(), changes: [drop] }))).toMatchObject({
      errno: 'ENOENT',
      index: 0,
      element: 0,
    })
  })

  test('flushes and refills a set in one transaction', async () => {
    const { transactions } = await helper.stats()
    await helper.nftBatch({
      ...inTable(),
      changes: [
        { do: 'flush', set: 'services' },
        { ...SERVICE, elements: service(4, 443, 4) },
      ],
    })
    expect(await get('services', serviceKey(3, 80))).toBeNull()
    expect(await get('services', serviceKey(4, 443))).toEqual(mark(4))
    expect((await helper.stats()).transactions).toBe(transactions + 1)
  })

  test('changes nothing for an empty batch', async () => {
    const { transactions } = await helper.stats()
    await helper.nftBatch({ ...inTable(), changes: [] })
    expect((await helper.stats()).transactions).toBe(transactions)
  })

  test('loads 640,000 elements as one transaction, and refuses as one', async () => {
    const { transactions } = await helper.stats()
    await helper.nftBatch({ ...inTable(), changes: [{ ...MEMBERS, do: 'add', elements: members(0, 640_000) }] })
    expect((await helper.stats()).transactions).toBe(transactions + 1)
    for (const number of [0, 1, 65_535, 399_999, 639_999])
      expect(await get('members', memberKey(number))).toEqual(members(number, 1).subarray(8))

    const again = members(600_000, 100_000)
    again.writeUInt16BE(1, 39_998 * 16 + 12)
    const batch = helper.nftBatch({ ...inTable(), changes: [{ ...MEMBERS, do: 'add', elements: again }] })
    expect(await refusal(batch)).toMatchObject({ errno: 'EEXIST', index: 0, element: 39_998 })
    expect(await get('members', memberKey(640_000))).toBeNull()

    await helper.nftBatch({ ...inTable(), changes: [{ do: 'flush', set: 'members' }] })
    expect(await get('members', memberKey(639_999))).toBeNull()
  })

  test('takes thousands of small changes as one transaction', async () => {
    const changes = Array.from(
      { length: 5_000 },
      (_, i) => ({ ...MEMBERS, do: 'add', elements: members(i, 1) }) as const,
    )
    await helper.nftBatch({ ...inTable(), changes })
    expect(await get('members', memberKey(4_999))).not.toBeNull()
    const bad = [...changes.slice(0, 4_000).map((change) => ({ ...change, do: 'delete' }) as const), changes[1]!]
    bad[3_000] = { ...MEMBERS, do: 'delete', elements: members(77_777, 1) }
    expect(await refusal(helper.nftBatch({ ...inTable(), changes: bad }))).toMatchObject({
      errno: 'ENOENT',
      index: 3_000,
    })
    await helper.nftBatch({ ...inTable(), changes: [{ do: 'flush', set: 'members' }] })
  })

  test('gives each element a connection limit of its own', async () => {
    const elements = Buffer.concat([serviceKey(1, 80), mark(100), serviceKey(2, 80), mark(1)])
    await helper.nftBatch({
      ...inTable(),
      changes: [{ do: 'add', set: 'caps', keyBytes: 12, elements, expr: 'count-over' }],
    })
    const listed = await runIn(segment.near, ['nft', 'list', 'set', 'ip', 'lb', 'caps'])
    expect(listed).toContain('192.0.2.1 . tcp . 80 ct count over 100')
    expect(listed).toContain('192.0.2.2 . tcp . 80 ct count over 1')
  })

  test('adds and deletes ranges of a concatenated interval set', async () => {
    const range = Buffer.from([192, 0, 2, 1, 10, 0, 0, 0, 192, 0, 2, 1, 10, 0, 0, 255])
    const change = { set: 'admitted', keyBytes: 8, elements: range, interval: true } as const
    await helper.nftBatch({ ...inTable(), changes: [{ ...change, do: 'add' }] })
    expect(await runIn(segment.near, ['nft', 'list', 'set', 'ip', 'lb', 'admitted'])).toContain(
      '192.0.2.1 . 10.0.0.0/24',
    )
    await helper.nftBatch({ ...inTable(), changes: [{ ...change, do: 'delete' }] })
    expect(await runIn(segment.near, ['nft', 'list', 'set', 'ip', 'lb', 'admitted'])).not.toContain('elements')
  })

  test('adds and deletes addresses, whatever is there already', async () => {
    const changes = [
      { address: '192.0.2.9', prefix: 32 },
      { address: '2001:db8::9', prefix: 128 },
    ].map((address) => ({ dev: 'lo', ...address }))
    const listed = async () => (await helper.addrList({ netns, dev: 'lo' })).map(({ address }) => address)
    for (let round = 0; round < 2; round++) {
      await helper.addr({ netns, changes: changes.map((change) => ({ do: 'add', ...change })) })
      expect(await listed()).toEqual(expect.arrayContaining(['192.0.2.9', '2001:db8::9']))
    }
    for (let round = 0; round < 2; round++) {
      await helper.addr({ netns, changes: changes.map((change) => ({ do: 'delete', ...change })) })
      expect(await listed()).toEqual(['127.0.0.1', '::1'])
    }
  })

  test('does the other changes when some are refused, and names those', async () => {
    const error = await refusal(
      helper.addr({
        netns,
        changes: [
          { do: 'add', dev: 'absent0', address: '192.0.2.9', prefix: 32 },
          { do: 'add', dev: 'lo', address: '192.0.2.9', prefix: 32 },
          { do: 'delete', dev: 'absent0', address: '192.0.2.9', prefix: 32 },
        ],
      }),
    )
    expect(error).toMatchObject({ errno: 'ENODEV', index: 0, refused: [{ index: 0, errno: 'ENODEV' }] })
    expect(await helper.addrList({ netns, dev: 'lo' })).toContainEqual({ address: '192.0.2.9', prefix: 32 })
    await helper.addr({ netns, changes: [{ do: 'delete', dev: 'lo', address: '192.0.2.9', prefix: 32 }] })
  })

  test('binds and unbinds 3,000 addresses in one request', async () => {
    const changes = Array.from({ length: 3_000 }, (_, i) => ({
      dev: 'lo',
      address: `198.18.${i >> 8}.${i & 255}`,
      prefix: 32,
    }))
    await helper.addr({ netns, changes: changes.map((change) => ({ do: 'add', ...change })) })
    expect(await helper.addrList({ netns, dev: 'lo' })).toHaveLength(3_002)
    await helper.addr({ netns, changes: changes.map((change) => ({ do: 'delete', ...change })) })
    expect(await helper.addrList({ netns, dev: 'lo' })).toHaveLength(2)
  })

  test('replaces and deletes routes of a table of its own', async () => {
    const table = 1000
    const routes = [
      { to: '192.0.2.1/32', via: FAR.ip, dev: NEAR.dev },
      { to: '192.0.2.2/32', via: null, dev: NEAR.dev },
      { to: '2001:db8::1/128', via: FAR.ip6, dev: NEAR.dev },
      { to: '0.0.0.0/0', via: FAR.ip, dev: NEAR.dev },
    ] as const
    for (let round = 0; round < 2; round++)
      await helper.route({ netns, changes: routes.map((route) => ({ do: 'replace', table, ...route })) })
    await helper.route({ netns, changes: [{ do: 'replace', to: '192.0.2.3/32', table, type: 'blackhole' }] })
    await helper.route({ netns, changes: [{ do: 'replace', to: '192.0.2.4/32', dev: 'lo', table, type: 'local' }] })
    const listed = await helper.routeList({ netns, table })
    expect(listed).toHaveLength(6)
    for (const route of routes) expect(listed).toContainEqual({ ...route, type: 'unicast' })
    expect(listed).toContainEqual({ to: '192.0.2.3/32', via: null, dev: null, type: 'blackhole' })
    expect(listed).toContainEqual({ to: '192.0.2.4/32', via: null, dev: 'lo', type: 'local' })

    for (let round = 0; round < 2; round++)
      await helper.route({ netns, changes: listed.map(({ to }) => ({ do: 'delete', to, table })) })
    expect(await helper.routeList({ netns, table })).toEqual([])
    expect(await helper.routeList({ netns, table: 4_000_000 })).toEqual([])
  })

  const connect = (port: number, more: object = {}) =>
    helper.connect({ netns, address: FAR.ip, port, timeoutMs: 2_000, ...more })

  test('connects', async () => {
    expect(await connect(8001)).toMatchObject({ connected: true, end: 'none' })
    expect(await connect(8001, { address: FAR.ip6, source: NEAR.ip6 })).toMatchObject({ connected: true })
    expect(await connect(9)).toMatchObject({ connected: false, reason: 'connection refused' })
    expect(await connect(9, { address: '203.0.113.1' })).toMatchObject({
      connected: false,
      reason: 'network is unreachable',
    })
    expect(await connect(80, { address: '10.77.0.200', timeoutMs: 50 })).toMatchObject({
      connected: false,
      reason: 'timed out',
    })
    expect(await refusal(connect(8001, { source: '203.0.113.1' }))).toMatchObject({ errno: 'EADDRNOTAVAIL' })
  })

  test('exchanges bytes, and says how reading ended', async () => {
    const send = Buffer.from('question')
    const answer = Buffer.from('HTTP/1.0 200 OK\r\n\r\nquestion')
    expect(await connect(8001, { send })).toMatchObject({ end: 'closed', received: answer })
    expect(await connect(8001, { send, maxBytes: 12 })).toMatchObject({ end: 'full', received: answer.subarray(0, 12) })
    expect(await connect(8002, { send, timeoutMs: 50 })).toMatchObject({ end: 'timeout', received: Buffer.alloc(0) })
    expect(await connect(8003, { send })).toMatchObject({ connected: true, end: 'reset' })
    const long = await connect(8004, { send, maxBytes: 65_536 })
    expect(long).toMatchObject({ end: 'full' })
    expect(long.connected && long.received.length).toBe(65_536)
  })

  test('keeps hundreds of probes in flight without holding up others', async () => {
    const silent = Array.from({ length: 600 }, (_, i) =>
      connect(80, { address: `10.77.0.${100 + (i % 100)}`, timeoutMs: 500 }),
    )
    const quick = await Promise.all(Array.from({ length: 200 }, () => connect(8001)))
    expect(quick.every((result) => result.connected)).toBe(true)
    expect((await helper.stats()).probesInFlight).toBeGreaterThan(0)
    expect((await Promise.all(silent)).every((result) => !result.connected)).toBe(true)
    expect((await helper.stats()).probesInFlight).toBe(0)
  })

  test('pings', async () => {
    const ping = (address: string, timeoutMs = 2_000) => helper.ping({ netns, address, timeoutMs })
    const answers = await Promise.all([FAR.ip, FAR.ip6, NEAR.ip, FAR.ip].map((address) => ping(address)))
    expect(answers.every((answer) => answer.answered)).toBe(true)
    expect(await ping('10.77.0.201', 50)).toMatchObject({ answered: false, reason: 'timed out' })
    expect(await ping('203.0.113.1')).toMatchObject({ answered: false, reason: 'network is unreachable' })
  })

  test('finds who holds an address on the segment', async () => {
    const mac = await macOf(segment.far, FAR.dev)
    const probe = (address: string, timeoutMs = 3_000) => helper.arpProbe({ netns, dev: NEAR.dev, address, timeoutMs })
    expect(await Promise.all([probe(FAR.ip), probe(FAR.ip6), probe(FAR.ip)])).toEqual([
      { answered: true, mac },
      { answered: true, mac },
      { answered: true, mac },
    ])
    expect(await probe('10.77.0.202', 60)).toEqual({ answered: false })
    expect(await probe('fd77::202', 60)).toEqual({ answered: false })
    expect(await refusal(helper.arpProbe({ netns, dev: 'lo', address: '127.0.0.9', timeoutMs: 10 }))).toMatchObject({
      errno: 'EOPNOTSUPP',
    })
  })

  test('announces addresses so that neighbours follow', async () => {
    const vips = ['10.77.0.50', 'fd77::50']
    // The far end believes in a wrong holder; an announcement corrects that.
    for (const vip of vips)
      await runIn(segment.far, [
        'ip',
        'neigh',
        'replace',
        vip,
        'lladdr',
        '02:00:00:00:00:99',
        'dev',
        FAR.dev,
        'nud',
        'stale',
      ])
    const announce = (count: number) =>
      helper.announce({ netns, dev: NEAR.dev, addresses: vips, count, intervalMs: 60_000 })
    await announce(3)
    const neighbours = await runIn(segment.far, ['ip', 'neigh', 'show', 'dev', FAR.dev])
    const mac = await macOf(segment.near, NEAR.dev)
    for (const vip of vips) expect(neighbours).toContain(`${vip} lladdr ${mac}`)
    await announce(0)
    expect(
      await refusal(helper.announce({ netns, dev: 'absent0', addresses: vips, count: 1, intervalMs: 1 })),
    ).toMatchObject({
      errno: 'ENODEV',
    })
  })

  test('repeats announcements until they are called off', async () => {
    const vip = '10.77.0.51'
    const wrong = [
      'ip',
      'neigh',
      'replace',
      vip,
      'lladdr',
      '02:00:00:00:00:99',
      'dev',
      FAR.dev,
      'nud',
      'stale',
    ] as const
    const holder = async () => (await runIn(segment.far, ['ip', 'neigh', 'show', vip])).trim()
    const announce = (count: number) =>
      helper.announce({ netns, dev: NEAR.dev, addresses: [vip], count, intervalMs: 5 })
    await runIn(segment.far, [...wrong])
    await announce(1000)
    await runIn(segment.far, [...wrong])
    await expect.poll(holder, { timeout: 5_000 }).not.toContain('02:00:00:00:00:99')
    await announce(0)
    await runIn(segment.far, [...wrong])
    // Frames sent before the call-off are out; a request behind it shows that the loop went on without sending more.
    await connect(8002, { send: Buffer.from('x'), timeoutMs: 50 })
    expect(await holder()).toContain('02:00:00:00:00:99')
  })

  test('forgets flows to one destination alone', async () => {
    await runIn(segment.near, [
      'nft',
      'add table ip track; add chain ip track out { type filter hook output priority 0; }; add rule ip track out ct state new',
    ])
    await connect(8001)
    await connect(8002)
    const forget = (port: number) => helper.conntrackDelete({ netns, protocol: 'tcp', destination: FAR.ip, port })
    expect(await forget(8001)).toBeGreaterThan(0)
    expect(await forget(8001)).toBe(0)
    expect(await forget(8002)).toBeGreaterThan(0)
    expect(await helper.conntrackDelete({ netns, protocol: 'udp', destination: FAR.ip6, port: 53 })).toBe(0)
  })

  test('lets go of a namespace whose name went away, and takes its successor', async () => {
    const own = `spt${process.pid}-${name}-gone`
    const at = netnsPath(own)
    try {
      await createNetns(own)
      await helper.nftText({ netns: at, text: 'add table ip lb\n' })
      await runIn(own, [
        'ip',
        'link',
        'add',
        'name',
        'pinned0',
        'type',
        'veth',
        'peer',
        'name',
        'pinned1',
        'netns',
        segment.near,
      ])
      await helper.arpProbe({ netns: at, dev: 'pinned0', address: '192.0.2.1', timeoutMs: 1 }).catch(() => undefined)
      expect(await helper.nftGeneration({ ...TABLE, netns: at })).toMatchObject({ exists: true })
      await deleteNetns(own)
      // The far end of the link goes only when nothing holds the namespace any more.
      const links = () => runIn(segment.near, ['ip', '-br', 'link'])
      await expect.poll(links, { timeout: 10_000 }).not.toContain('pinned1')
      expect(await refusal(helper.nftGeneration({ ...TABLE, netns: at }))).toMatchObject({ errno: 'ENOENT' })
      await createNetns(own)
      expect(await helper.nftGeneration({ ...TABLE, netns: at })).toMatchObject({ exists: false })
    } finally {
      await deleteNetns(own)
    }
  })

  test('refuses a path that is no namespace', async () => {
    expect(await refusal(helper.addrList({ netns: '/etc/passwd', dev: 'lo' }))).toMatchObject({ errno: 'EINVAL' })
    expect(await refusal(helper.addrList({ netns: '/proc/self/ns/uts', dev: 'lo' }))).toMatchObject({ errno: 'EINVAL' })
    expect(await refusal(helper.addrList({ netns: '/run/netns', dev: 'lo' }))).toMatchObject({ errno: 'EINVAL' })
  })
})

describe('a helper that dies', () => {
  const log: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined }
  const [{ path }] = BUILDS
  const backoff = { firstMs: 1, maxMs: 10, stableMs: 60_000 }

  test('rejects what is in flight, comes back and says so', async () => {
    const helper = await NativeHelper.start({ path, log, backoff })
    try {
      const restarted = new Promise<void>((resolve) => helper.onRestart(resolve))
      const first = helper.pid!
      const pending = helper
        .connect({ address: '127.0.0.1', port: 1, timeoutMs: 1_000 })
        .catch((error: unknown) => error)
      const inFlight = helper.stats().catch((error: unknown) => error)
      process.kill(first, 'SIGKILL')
      await Promise.all([pending, inFlight])
      await restarted
      expect(helper.pid).not.toBe(first)
      expect(await helper.stats()).toMatchObject({ transactions: 0 })
    } finally {
      await helper.close()
    }
  })

  test('rejects calls in flight and later ones once closed', async () => {
    const segment = await createSegment('d')
    const helper = await NativeHelper.start({ path, log, backoff })
    try {
      const late = helper.connect({ netns: segment.nearPath, address: '10.77.0.99', port: 1, timeoutMs: 60_000 })
      const rejected = expect(late).rejects.toBeInstanceOf(HelperLost)
      await helper.stats()
      await helper.close()
      await rejected
      await expect(helper.stats()).rejects.toBeInstanceOf(HelperLost)
    } finally {
      await helper.close()
      await segment.remove()
    }
  })

  test('does not start what is no helper', async () => {
    await expect(NativeHelper.start({ path: '/nowhere/spout-helper', log })).rejects.toBeInstanceOf(HelperLost)
    await expect(NativeHelper.start({ path: '/bin/cat', log })).rejects.toThrow()
  })
})

async function macOf(netns: string, dev: string): Promise<string> {
  const link = await findLink({ netns, name: dev })
  if (link === null) throw new Error(`${netns} has no ${dev}`)
  return link.mac
}
