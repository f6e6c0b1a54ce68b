import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HelperUnderTest, refusal, startHelperUnderTest } from './testing/helper-under-test.ts'
import { BUILDS } from './testing/native-builds.ts'
import { FAR, NEAR } from './testing/segment.ts'

describe.each(BUILDS)('addresses and routes through the helper, $name build', ({ name, path }) => {
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
    for (const route of routes) expect(listed).toContainEqual({ ...route, type: 'unicast' })
    expect(listed).toContainEqual({ to: '192.0.2.3/32', via: null, dev: null, type: 'blackhole' })
    expect(listed).toContainEqual({ to: '192.0.2.4/32', via: null, dev: 'lo', type: 'local' })

    for (let round = 0; round < 2; round++)
      await on.helper.route({ netns: on.netns, changes: listed.map(({ to }) => ({ do: 'delete', to, table })) })
    expect(await on.helper.routeList({ netns: on.netns, table })).toEqual([])
    expect(await on.helper.routeList({ netns: on.netns, table: 4_000_000 })).toEqual([])
  })
})
