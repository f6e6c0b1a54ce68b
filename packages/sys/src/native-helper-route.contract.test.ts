import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { release } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execOk } from './exec.ts'
import { type HelperUnderTest, refusal, startHelperUnderTest } from './testing/helper-under-test.ts'
import { SANITIZED } from './testing/native-builds.ts'
import { FAR, NEAR } from './testing/segment.ts'

describe('addresses and routes through the helper', () => {
  const { name, path } = SANITIZED
  let on: HelperUnderTest
  beforeAll(async () => {
    on = await startHelperUnderTest(path, `rt-${name[0]}`)
  })
  afterAll(async () => expect(await on?.end()).toEqual([]))

  test('adds and deletes addresses, whatever is there already', async () => {
    const changes = [
      { address: '192.0.2.9', prefix: 32 },
      { address: '2001:db8::9', prefix: 128 },
    ].map((address) => ({ dev: 'lo', ...address }))
    const listed = async () => (await on.helper.addrList({ netns: on.netns, dev: 'lo' })).map(({ address }) => address)
    for (let round = 0; round < 2; round++) {
      await on.helper.addr({ netns: on.netns, changes: changes.map((change) => ({ do: 'add', ...change })) })
      expect(await listed()).toEqual(expect.arrayContaining(['192.0.2.9', '2001:db8::9']))
    }
    for (let round = 0; round < 2; round++) {
      await on.helper.addr({ netns: on.netns, changes: changes.map((change) => ({ do: 'delete', ...change })) })
      expect(await listed()).toEqual(['127.0.0.1', '::1'])
    }
  })

  test('does the other changes when some are refused, and names those', async () => {
    const error = await refusal(
      on.helper.addr({
        netns: on.netns,
        changes: [
          { do: 'add', dev: 'absent0', address: '192.0.2.9', prefix: 32 },
          { do: 'add', dev: 'lo', address: '192.0.2.9', prefix: 32 },
          { do: 'delete', dev: 'absent0', address: '192.0.2.9', prefix: 32 },
        ],
      }),
    )
    expect(error).toMatchObject({ errno: 'ENODEV', index: 0, refused: [{ index: 0, errno: 'ENODEV' }] })
    expect(await on.helper.addrList({ netns: on.netns, dev: 'lo' })).toContainEqual({
      address: '192.0.2.9',
      prefix: 32,
    })
    await on.helper.addr({ netns: on.netns, changes: [{ do: 'delete', dev: 'lo', address: '192.0.2.9', prefix: 32 }] })
  })

  test('tells the index of an interface, or that there is none', async () => {
    expect(await on.helper.linkIndex({ netns: on.netns, dev: 'lo' })).toBe(1)
    expect(await refusal(on.helper.linkIndex({ netns: on.netns, dev: 'absent0' }))).toMatchObject({ errno: 'ENODEV' })
  })

  test('has a process take turns after so long', async () => {
    const child = spawn('sleep', ['60'])
    const slice = async () => /^se\.slice\s+:\s+(\d+)/m.exec(await readFile(`/proc/${child.pid}/sched`, 'utf8'))?.[1]
    const before = await slice()
    await on.helper.timeSlice({ pid: child.pid!, us: 300 })
    // Kernels before 6.12 keep their own time slice.
    if (before !== undefined) expect([before, '300000']).toContain(await slice())
    if (Number(release().split('.')[0]) >= 7 || /^6\.(1[2-9]|[2-9]\d)/.test(release()))
      expect(await slice()).toBe('300000')
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    expect(await refusal(on.helper.timeSlice({ pid: child.pid!, us: 300 }))).toMatchObject({ errno: 'ESRCH' })
  })

  test('counts what passed an interface', async () => {
    const { helper, netns } = on
    const before = await helper.traffic({ netns, dev: 'lo' })
    await helper.udp({ netns, address: '127.0.0.1', port: 9, timeoutMs: 1 })
    const { packetsIn, bytesIn, packetsOut, bytesOut } = await helper.traffic({ netns, dev: 'lo' })
    // The datagram, and the kernel's ICMP error (port unreachable).
    expect([packetsIn - before.packetsIn, packetsOut - before.packetsOut]).toEqual([2, 2])
    expect(bytesIn - before.bytesIn).toBe(bytesOut - before.bytesOut)
    expect(await refusal(helper.traffic({ netns, dev: 'absent0' }))).toMatchObject({ errno: 'ENODEV' })
  })

  test('counts the flows of a namespace', async () => {
    const { helper, netns } = on
    const tracking =
      'add table ip t\nadd chain ip t c { type filter hook output priority 0; }\nadd rule ip t c ct state new\n'
    await helper.nftText({ netns, text: tracking })
    const before = await helper.conntrackCount({ netns })
    await helper.udp({ netns, address: '127.0.0.1', port: 9, timeoutMs: 1 })
    const after = await helper.conntrackCount({ netns })
    await helper.nftText({ netns, text: 'delete table ip t\n' })
    expect(after.flows).toBe(before.flows + 1)
    expect(after.most).toBe(Number(await readFile('/proc/sys/net/netfilter/nf_conntrack_max', 'utf8')))
  })

  test('binds and unbinds 3,000 addresses in one request', async () => {
    const changes = Array.from({ length: 3_000 }, (_, i) => ({
      dev: 'lo',
      address: `198.18.${i >> 8}.${i & 255}`,
      prefix: 32,
    }))
    await on.helper.addr({ netns: on.netns, changes: changes.map((change) => ({ do: 'add', ...change })) })
    expect(await on.helper.addrList({ netns: on.netns, dev: 'lo' })).toHaveLength(3_002)
    await on.helper.addr({ netns: on.netns, changes: changes.map((change) => ({ do: 'delete', ...change })) })
    expect(await on.helper.addrList({ netns: on.netns, dev: 'lo' })).toHaveLength(2)
  })

  test('tells whether somebody else changed something, without listing it', async () => {
    const { helper, netns } = on
    const namespace = netns.slice(netns.lastIndexOf('/') + 1)
    const ip = (...args: string[]) => execOk(['ip', '-n', namespace, ...args])
    const mark = () => helper.rtnlMark({ netns })
    /** Waits until the mark stays: a link that comes up causes further messages a moment later. */
    const settled = async () => {
      let before = await mark()
      const stays = async () => {
        const earlier = before
        before = await mark()
        return before === earlier
      }
      await expect.poll(stays).toBe(true)
      return before
    }
    const routes = Array.from({ length: 2_000 }, (_, i) => ({
      to: `198.18.${i >> 8}.${i & 255}/32`,
      dev: 'lo',
      table: 1001,
    }))
    const first = await mark()
    expect(await mark()).toBe(first)
    await helper.addr({ netns, changes: [{ do: 'add', dev: 'lo', address: '192.0.2.77', prefix: 32 }] })
    await helper.route({ netns, changes: routes.map((route) => ({ do: 'replace', ...route })) })
    expect(await mark()).toBe(first)

    const seen = new Set([first])
    for (const change of [
      ['address', 'delete', '192.0.2.77/32', 'dev', 'lo'],
      ['route', 'delete', routes[0]!.to, 'table', '1001'],
      ['link', 'set', 'lo', 'down'],
      ['link', 'set', 'lo', 'up'],
      ['address', 'add', '2001:db8::77/128', 'dev', 'lo'],
      ['address', 'delete', '2001:db8::77/128', 'dev', 'lo'],
    ]) {
      await ip(...change)
      expect(seen).not.toContain(await mark())
      seen.add(await settled())
    }
    // More messages than the queue holds count as a change, too.
    await ip('route', 'flush', 'table', '1001')
    await helper.route({ netns, changes: routes.map((route) => ({ do: 'replace', ...route })) })
    const full = await mark()
    await ip('route', 'flush', 'table', '1001')
    expect(await mark()).not.toBe(full)
    await ip('address', 'flush', 'dev', 'lo', 'scope', 'global')
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
      await on.helper.route({ netns: on.netns, changes: routes.map((route) => ({ do: 'replace', table, ...route })) })
    await on.helper.route({
      netns: on.netns,
      changes: [{ do: 'replace', to: '192.0.2.3/32', table, type: 'blackhole' }],
    })
    await on.helper.route({
      netns: on.netns,
      changes: [{ do: 'replace', to: '192.0.2.4/32', dev: 'lo', table, type: 'local' }],
    })
    const listed = await on.helper.routeList({ netns: on.netns, table })
    expect(listed).toHaveLength(6)
    for (const route of routes) expect(listed).toContainEqual(expect.objectContaining({ ...route, type: 'unicast' }))
    expect(listed).toContainEqual({ to: '192.0.2.3/32', via: null, dev: null, type: 'blackhole', metric: 0 })
    expect(listed).toContainEqual({ to: '192.0.2.4/32', via: null, dev: 'lo', type: 'local', metric: 0 })

    for (let round = 0; round < 2; round++)
      await on.helper.route({ netns: on.netns, changes: listed.map(({ to }) => ({ do: 'delete', to, table })) })
    expect(await on.helper.routeList({ netns: on.netns, table })).toEqual([])
    expect(await on.helper.routeList({ netns: on.netns, table: 4_000_000 })).toEqual([])
  })

  test('tells routes to one prefix apart by their metric', async () => {
    const table = 1001
    const at = (...routes: readonly (readonly [string, number])[]) =>
      routes.map(([to, metric]) => ({ to, metric, table, type: 'blackhole' }) as const)
    const listed = async () =>
      (await on.helper.routeList({ netns: on.netns, table })).map(({ to, metric }) => `${to} ${metric}`).sort()
    const both = at(['192.0.2.5/32', 5], ['192.0.2.5/32', 6], ['2001:db8::5/128', 5], ['2001:db8::5/128', 6])
    await on.helper.route({ netns: on.netns, changes: both.map((route) => ({ do: 'replace', ...route })) })
    expect(await listed()).toEqual(['192.0.2.5/32 5', '192.0.2.5/32 6', '2001:db8::5/128 5', '2001:db8::5/128 6'])
    const old = at(['192.0.2.5/32', 5], ['2001:db8::5/128', 5])
    await on.helper.route({ netns: on.netns, changes: old.map((route) => ({ do: 'delete', ...route })) })
    expect(await listed()).toEqual(['192.0.2.5/32 6', '2001:db8::5/128 6'])
  })
})
