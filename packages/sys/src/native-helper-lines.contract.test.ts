import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { ensureVeth } from './links.ts'
import { createNetns, deleteNetns, netnsPath } from './netns.ts'
import { buildHelper, SANITIZED } from './testing/native-builds.ts'

/*
 * How the helper handles lines of any content: it replies once to each, and continues. It runs with sanitizers. Its
 * exit status tells whether they found anything, such as a leak.
 */

type Reply = Readonly<Record<string, unknown>>

beforeAll(buildHelper)

/** Sends the helper these bytes and the end of input. Resolves with its replies when it has ended. */
async function converse(input: string | Uint8Array, path: string = SANITIZED.path) {
  const child = spawn(path, [], { stdio: ['pipe', 'pipe', 'pipe'], env: {} })
  const replies: Reply[] = []
  let said = ''
  createInterface(child.stdout).on('line', (line) => replies.push(JSON.parse(line) as Reply))
  child.stderr.on('data', (chunk) => (said += String(chunk)))
  child.stdin.on('error', () => undefined)
  child.stdin.write(input)
  child.stdin.end()
  const [code] = (await once(child, 'close')) as [number | null]
  return { replies, code, said }
}

const HELLO = '{"id":1000,"op":"hello"}\n'
const batch = (fields: object) =>
  JSON.stringify({ id: 1, op: 'nft-batch', family: 'ip', table: 't', changes: [], ...fields })
const change = (fields: object) =>
  batch({ changes: [{ do: 'add', set: 's', key: 4, elements: 'AAAAAA==', ...fields }] })
const request = (op: string, fields: object) => JSON.stringify({ id: 1, op, ...fields })

describe('a bad line', () => {
  test.each<[line: string, error: RegExp]>([
    ['nonsense', /^not JSON: unknown word$/],
    ['xyz', /^not JSON: bad number$/],
    ['{"id":1', /^not JSON: array or object without end$/],
    ['{"id":1,}', /^not JSON: member without a name$/],
    ['{"id" 1}', /^not JSON: member without a value$/],
    ['{"id":1} {}', /^not JSON: text after the value$/],
    ['{"id":1.5}', /^not JSON: number that is no integer$/],
    ['{"id":01}', /^not JSON: bad number$/],
    ['{"id":1234567890123456789}', /^not JSON: number too large$/],
    ['{"id":"\\u0000"}', /^not JSON: bad escape in a string$/],
    ['{"id":"\\ud800x"}', /^not JSON: bad escape in a string$/],
    ['{"id":"\\x"}', /^not JSON: bad escape in a string$/],
    ['{"id":"a\tb"}', /^not JSON: control character in a string$/],
    ['{"id":"', /^not JSON: string without end$/],
    ['{"id":nul}', /^not JSON: unknown word$/],
    ['[[[[[[[[[[1]]]]]]]]]]', /^not JSON: nested too deeply$/],
    [`[${'0,'.repeat(200_001)}0]`, /^not JSON: too many values$/],
    ['[]', /^not an object$/],
    ['{"op":"hello"}', /^id is missing$/],
    ['{"id":"1","op":"hello"}', /^id is not a number$/],
    ['{"id":-1,"op":"hello"}', /^id is not from 0/],
    ['{"id":1}', /^op is missing$/],
    ['{"id":1,"op":7}', /^op is not text$/],
    ['{"id":1,"op":"reboot"}', /^op reboot is not known$/],
    [request('addr-list', { dev: 'lo', netns: 7 }), /^netns is not text$/],
    [request('addr-list', { dev: 'lo', netns: '/run/netns/absent' }), /^netns .*: No such file or directory$/],
    [request('addr-list', { dev: 'x'.repeat(300) }), /^dev x{64}: No such device$/],
    [request('link', { dev: 'absent0' }), /^dev absent0: No such device$/],
    [request('link', {}), /^dev is missing$/],
    [batch({ family: 'arp' }), /^family is not inet, ip, ip6 or netdev$/],
    [batch({ table: 'x'.repeat(256) }), /^table is empty or too long$/],
    [batch({ changes: {} }), /^changes is not a list$/],
    [batch({ changes: [7] }), /^do is missing$/],
    [batch({ part: 1 }), /^part 1 of a transaction that is not open$/],
    [change({ do: 'create' }), /^do is not add, delete or flush$/],
    [change({ key: 0 }), /^key is not from 1 to 64$/],
    [change({ key: 65 }), /^key is not from 1 to 64$/],
    [change({ data: 4096 }), /^data is not from 0 to 64$/],
    [change({ expr: 'quota' }), /^expr is not count-over$/],
    [change({ interval: 'yes' }), /^interval is not true or false$/],
    [change({ elements: 'AAAA' }), /^elements are not a whole number of 4-byte records$/],
    ...['AAA', 'A===', 'AAAA=AAA', 'AA=A', 'AAAAAB==', 'AAA\n', 'ÄÄ=='].map((elements): [string, RegExp] => [
      change({ elements }),
      /^elements is not base64$/,
    ]),
    [request('connect', { address: '010.0.0.1', port: 1, timeoutMs: 1 }), /^address: 010.0.0.1 is not an address$/],
    [request('connect', { address: '::1%lo', port: 1, timeoutMs: 1 }), /is not an address$/],
    [request('connect', { address: '127.0.0.1', port: 65_536, timeoutMs: 1 }), /^port is not from 1 to 65535$/],
    [request('connect', { address: '127.0.0.1', port: 1, timeoutMs: 0 }), /^timeoutMs is not from 1/],
    [request('connect', { address: '127.0.0.1', port: 1, timeoutMs: 1, send: '!' }), /^send is not base64$/],
    [request('connect', { address: '127.0.0.1', port: 1, timeoutMs: 1, maxBytes: 1 << 20 }), /^maxBytes is not from/],
    [request('udp', { address: '127.0.0.1', port: 0, timeoutMs: 1 }), /^port is not from 1 to 65535$/],
    [request('udp', { address: '::1%lo', port: 1, timeoutMs: 1 }), /is not an address$/],
    [request('route', { changes: [{ do: 'replace', to: '192.0.2.1', table: 5 }] }), /is not a prefix$/],
    [request('route', { changes: [{ do: 'replace', to: '192.0.2.1/33', table: 5 }] }), /is not a prefix$/],
    [request('route', { changes: [{ do: 'replace', to: '::/0', via: '192.0.2.1', table: 5 }] }), /another family/],
    [request('addr', { changes: [{ do: 'add', dev: 'lo', address: '192.0.2.1', prefix: 40 }] }), /^prefix is not from/],
    [request('announce', { dev: 'lo', addresses: ['x'], count: 1, intervalMs: 1 }), /is not an address$/],
    [request('conntrack-delete', {}), /^services is missing$/],
    [request('conntrack-delete', { services: 7 }), /^services is not a list$/],
    [
      request('conntrack-delete', { services: [{ protocol: 'icmp', destination: '::1', port: 1 }] }),
      /^protocol is not/,
    ],
    ...(
      [
        [{ members: {} }, /^members is not a list$/],
        [{ members: [7] }, /^address is missing$/],
        [{ members: [{ address: '::2' }] }, /^port is missing$/],
        [{ members: [{ address: '010.0.0.1', port: 1 }] }, /is not an address$/],
        [{ unestablished: 1 }, /^unestablished is not true or false$/],
      ] as const
    ).map(([fields, error]): [string, RegExp] => [
      request('conntrack-delete', {
        services: [
          { protocol: 'tcp', destination: '::1', port: 1 },
          { protocol: 'tcp', destination: '::1', port: 1, ...fields },
        ],
      }),
      error,
    ]),
  ])('number %# is refused for what is wrong with it', async (line, error) => {
    const { replies, code, said } = await converse(`${line}\n${HELLO}`)
    expect(said).toBe('')
    expect(replies).toEqual([
      { id: line.startsWith('{"id":1,') && !String(error).includes('JSON') ? 1 : null, ...replies[0], ok: false },
      expect.objectContaining({ id: 1000, ok: true }),
    ])
    expect(replies[0]?.error).toMatch(error)
    expect(code).toBe(0)
  })

  test('that is too long is refused as one line', async () => {
    const { replies } = await converse(`{"id":1,"op":"${'x'.repeat(9 << 20)}"}\n${HELLO}`)
    expect(replies).toMatchObject([
      { id: null, error: 'the line is too long' },
      { id: 1000, ok: true },
    ])
  })

  test('that has no end is no request', async () => {
    expect(await converse('{"id":1,"op":"hello"}')).toMatchObject({ replies: [], code: 0 })
  })
})

describe('a transaction of many lines', () => {
  test.each([
    ['a refused line', [change({ elements: '!' }).replace('}]', '}]').slice(0, -1).concat(',"part":1,"more":true}')]],
    ['a missing line', []],
  ])('with %s is dropped as a whole', async (_, middle) => {
    const lines = [batch({ part: 0, more: true }), ...middle, batch({ part: 2, more: false })]
    const { replies, code } = await converse(`${lines.join('\n')}\n${HELLO}`)
    expect(replies[0]).toMatchObject({ ok: true })
    expect(replies.at(-2)).toMatchObject({ ok: false, error: expect.stringMatching(/^part 2 /) })
    expect(code).toBe(0)
  })

  test('left open is dropped at the end', async () => {
    const open = batch({ part: 0, more: true, changes: [{ do: 'flush', set: 's' }] })
    expect(await converse(`${open}\n${open}\n`)).toMatchObject({ code: 0, replies: [{ ok: true }, { ok: true }] })
  })
})

describe('any lines', () => {
  const netns = `spt${process.pid}-fuzz`
  const at = { netns: netnsPath(netns), timeoutMs: 5 }
  const table = { ...at, family: 'ip', table: 't' }
  const element = { set: 's', key: 4, elements: 'AAAAAA==' }
  /** For each operation a request that succeeds. The tests damage them. */
  const FINE = [
    { op: 'nft-text', ...at, text: 'add table ip t\nadd set ip t s { type ipv4_addr; }\n' },
    {
      op: 'nft-batch',
      ...table,
      changes: [
        { do: 'add', ...element },
        { do: 'delete', ...element },
      ],
    },
    { op: 'nft-batch', ...table, changes: [{ do: 'flush', set: 's' }], part: 0, more: true },
    { op: 'nft-get', ...table, set: 's', key: 'AAAAAA==' },
    { op: 'nft-generation', ...table },
    { op: 'addr', ...at, changes: [{ do: 'add', dev: 'lo', address: '192.0.2.1', prefix: 32 }] },
    { op: 'addr', ...at, changes: [{ do: 'delete', dev: 'lo', address: '2001:db8::1', prefix: 128 }] },
    { op: 'addr-list', ...at, dev: 'lo' },
    { op: 'link', ...at, dev: 'lo' },
    {
      op: 'route',
      ...at,
      changes: [{ do: 'replace', to: '192.0.2.1/32', via: null, dev: 'lo', table: 100, type: 'local' }],
    },
    { op: 'route-list', ...at, table: 100 },
    { op: 'announce', ...at, dev: 'v0', addresses: ['192.0.2.1', '2001:db8::1'], count: 3, intervalMs: 1 },
    { op: 'arp-probe', ...at, dev: 'v0', address: '192.0.2.9' },
    { op: 'arp-probe', ...at, dev: 'v0', address: '2001:db8::9' },
    { op: 'connect', ...at, address: '127.0.0.1', port: 9, send: 'AAAA', maxBytes: 9, source: '127.0.0.1' },
    { op: 'connect', ...at, address: '127.0.0.1', port: 9, send: 'AAAA', maxBytes: 9, tls: { serverName: 'a' } },
    { op: 'ping', ...at, address: '127.0.0.1' },
    { op: 'ping', ...at, address: '::1' },
    { op: 'udp', ...at, address: '127.0.0.1', port: 9, timeoutMs: 1 },
    { op: 'udp', ...at, address: '::1', port: 9, timeoutMs: 1 },
    { op: 'conntrack-delete', ...at, services: [{ protocol: 'tcp', destination: '192.0.2.1', port: 80 }] },
    {
      op: 'conntrack-delete',
      ...at,
      services: [
        { protocol: 'udp', destination: '192.0.2.1', port: 80 },
        {
          protocol: 'tcp',
          destination: '2001:db8::1',
          port: 80,
          members: [
            { address: '2001:db8::9', port: 80 },
            { address: '192.0.2.9', port: 80 },
          ],
          unestablished: true,
        },
      ],
    },
    { op: 'conntrack-count', ...at },
    { op: 'time-slice', ...at, pid: process.pid, us: 3_000 },
    { op: 'clock-state', ...at },
    { op: 'traffic', ...at, dev: 'lo' },
    { op: 'hello', ...at },
    { op: 'stats', ...at },
  ]
  const NAMES = [
    ...['netns', 'family', 'table', 'set', 'key', 'text', 'changes', 'part', 'more', 'dev', 'address', 'addresses'],
    ...['prefix', 'port', 'timeoutMs', 'send', 'maxBytes', 'source', 'count', 'intervalMs', 'protocol', 'destination'],
    ...['do', 'to', 'via', 'type', 'elements', 'data', 'interval', 'expr', 'members', 'unestablished'],
  ]
  const scalar = fc.oneof(
    fc.constantFrom('ip', 'inet', 'add', 'delete', 'flush', 'replace', 'lo', 't', 's', 'AAAA', '192.0.2.1/32', 'tcp'),
    fc.constantFrom('127.0.0.1', '::1', '192.0.2.1', '', 'x'.repeat(300)),
    fc.constantFrom(0, 1, 4, 5, 64, 65_535, -1, 2 ** 31),
    fc.boolean(),
    fc.constant(null),
    fc.string({ maxLength: 20 }),
  )
  const fields = fc.dictionary(fc.constantFrom(...NAMES), scalar, { maxKeys: 8 })
  const lists = fc.array(fc.oneof(fields, scalar), { maxLength: 4 })
  const requests = fc
    .tuple(fc.constantFrom(...FINE), fc.option(fields, { nil: {} }), fc.option(lists, { nil: undefined, freq: 5 }))
    // Always in a namespace of the test, never in the machine's own, and with a short time-out.
    .map(([fine, more, list]) => ({
      ...fine,
      ...more,
      ...(list && { changes: list, addresses: list, members: list }),
      ...at,
    }))
  /** A line with some bytes replaced, except newlines and the value of `netns`. */
  const damaged = fc
    .tuple(requests, fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 32, max: 126 })), { minLength: 1, maxLength: 3 }))
    .map(([fine, bytes]) => {
      const head = `{"netns":${JSON.stringify(fine.netns)},`
      const tail = [...JSON.stringify({ id: 1, ...fine, netns: undefined }).slice(1)]
      for (const [at, byte] of bytes) tail[at % tail.length] = String.fromCharCode(byte)
      return head + tail.join('')
    })

  test('get a reply each, and the helper lives on', { timeout: 110_000 }, async () => {
    await createNetns(netns)
    await ensureVeth({ netns, name: 'v0' }, { netns, name: 'v1' })
    try {
      const whole = requests.map((fine) => JSON.stringify({ id: 1, ...fine }))
      const lines = fc.array(
        fc.oneof(
          whole,
          damaged,
          fc.string({ minLength: 1 }).map((text) => `x${text.replaceAll('\n', ' ')}`),
        ),
        {
          minLength: 1,
          maxLength: 200,
        },
      )
      await fc.assert(
        fc.asyncProperty(lines, async (some) => {
          const { replies, code, said } = await patient(some)
          expect(said).toBe('')
          expect(replies).toHaveLength(some.length)
          expect(code).toBe(0)
        }),
        { numRuns: 60 },
      )
    } finally {
      await deleteNetns(netns)
    }
  })

  /** Keeps the input open until every line is answered, since probes answer late. */
  async function patient(lines: readonly string[]) {
    const child = spawn(SANITIZED.path, [], { stdio: ['pipe', 'pipe', 'pipe'], env: {} })
    const replies: Reply[] = []
    let said = ''
    child.stderr.on('data', (chunk) => (said += String(chunk)))
    child.stdin.on('error', () => undefined)
    createInterface(child.stdout).on('line', (line) => {
      replies.push(JSON.parse(line) as Reply)
      if (replies.length === lines.length) child.stdin.end()
    })
    child.stdin.write(`${lines.join('\n')}\n`)
    const [code] = (await once(child, 'close')) as [number | null]
    return { replies, code, said }
  }
})
