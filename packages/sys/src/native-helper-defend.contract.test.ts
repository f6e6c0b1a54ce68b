import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AddressClaim } from './helper-protocol/neighbours.ts'
import { findLink } from './links.ts'
import { createNetns, deleteNetns, netnsPath, runIn } from './netns.ts'
import { type HelperUnderTest, startHelperUnderTest } from './testing/helper-under-test.ts'
import { SANITIZED } from './testing/native-builds.ts'
import { FAR, NEAR } from './testing/segment.ts'

const CLAIMER = fileURLToPath(new URL('./testing/claimer.py', import.meta.url))
const SOON = { timeout: 10_000, interval: 10 }

describe('addresses that the helper defends', () => {
  const { name, path } = SANITIZED
  let on: HelperUnderTest
  let mac: string
  const heard: AddressClaim[] = []

  beforeAll(async () => {
    on = await startHelperUnderTest(path, `df-${name[0]}`)
    on.helper.onClaim((claim) => heard.push(claim))
    mac = (await findLink({ netns: on.segment.near, name: NEAR.dev }))?.mac ?? ''
  })
  afterAll(async () => expect(await on?.end()).toEqual([]))

  const at = () => ({ netns: on.netns, dev: NEAR.dev })
  const claim = async (...words: readonly string[]): Promise<void> => {
    const argv = [`--net=${netnsPath(on.segment.far)}`, '--', 'python3', CLAIMER, FAR.dev, ...words]
    const child = spawn('nsenter', argv, { stdio: ['ignore', 'ignore', 'inherit'] })
    expect(await once(child, 'close')).toEqual([0, null])
  }
  /** Gives the far end a neighbour entry that says that it owns the address itself. */
  const believe = (address: string) =>
    runIn(on.segment.far, [
      'ip',
      'neigh',
      'replace',
      address,
      'lladdr',
      '02:00:00:00:00:99',
      'dev',
      FAR.dev,
      'nud',
      'stale',
    ])
  const believed = async (address: string): Promise<string> =>
    ((await runIn(on.segment.far, ['ip', '-j', 'neigh', 'show', 'to', address])).match(/"lladdr":"([0-9a-f:]+)"/) ??
      [])[1] ?? ''

  test.each([
    ['an ARP request', '10.77.0.60', 'arp-request'],
    ['an ARP reply', '10.77.0.61', 'arp-reply'],
    ['a neighbour advertisement', 'fd77::60', 'advertisement'],
    ['a neighbour solicitation', 'fd77::61', 'solicitation'],
  ])('are said again after %s, once, and it is told', async (_, address, kind) => {
    await on.helper.defend({ ...at(), add: [address], remove: [] })
    await believe(address)
    heard.length = 0
    for (let count = 0; count < 3; count++) await claim(kind, address, '02:00:00:00:00:99')
    await expect.poll(() => believed(address), SOON).toBe(mac)
    expect(heard).toEqual([{ ...at(), address, mac: '02:00:00:00:00:99', claims: 1 }])
    await on.helper.defend({ ...at(), add: [], remove: [address] })
  })

  test('are not told of when the claim is our own, for another address, or no longer defended', async () => {
    await on.helper.defend({ ...at(), add: ['10.77.0.62', 'fd77::62', '10.77.0.70'], remove: [] })
    await on.helper.defend({ ...at(), add: [], remove: ['10.77.0.62', 'fd77::62'] })
    heard.length = 0
    await claim('arp-request', '10.77.0.62', '02:00:00:00:00:99')
    await claim('arp-request', '10.77.0.66', '02:00:00:00:00:99')
    await claim('advertisement', 'fd77::62', '02:00:00:00:00:99')
    await claim('arp-request', '10.77.0.70', mac)
    await claim('arp-request', '10.77.0.70', '02:00:00:00:00:98')
    await expect.poll(() => heard.length, SOON).toBe(1)
    expect(heard).toMatchObject([{ address: '10.77.0.70', mac: '02:00:00:00:00:98' }])
    await on.helper.defend({ ...at(), add: [], remove: ['10.77.0.70'] })
  })

  test('are found among thousands', async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => `10.77.${16 + (index >> 6)}.${3 * (index & 63)}`)
    const many6 = Array.from({ length: 500 }, (_, index) => `fd77::${(index * 119 + 4096).toString(16)}`)
    await on.helper.defend({ ...at(), add: [...many, ...many6], remove: [] })
    await on.helper.defend({ ...at(), add: ['10.77.0.71'], remove: [] })
    const chosen = ['10.77.0.71', many[0]!, many[1_501]!, many[2_999]!, many6[0]!, many6[123]!, many6[499]!]
    heard.length = 0
    for (const address of chosen)
      await claim(address.includes(':') ? 'advertisement' : 'arp-reply', address, '02:00:00:00:00:97')
    await expect.poll(() => heard.length, SOON).toBe(chosen.length)
    expect(heard.map(({ address }) => address)).toEqual(chosen)
    await on.helper.defend({ ...at(), add: [], remove: [...many, ...many6, '10.77.0.71'] })
  })

  test('cost no more for a flood of claims than a hundred a second', async () => {
    const flooded = Array.from({ length: 200 }, (_, index) => `10.77.1.${index}`)
    await on.helper.defend({ ...at(), add: flooded, remove: [] })
    heard.length = 0
    const began = performance.now()
    await claim('flood', ...flooded)
    await expect.poll(() => heard.length, SOON).toBeGreaterThanOrEqual(100)
    expect(heard.length).toBeLessThanOrEqual(100 * Math.ceil((performance.now() - began) / 1000 + 1))
    // After the flood the helper still hears claims.
    await on.helper.defend({ ...at(), add: ['10.77.0.72'], remove: flooded })
    heard.length = 0
    await expect
      .poll(async () => {
        await claim('arp-request', '10.77.0.72', '02:00:00:00:00:96')
        return heard.length
      }, SOON)
      .toBe(1)
    await on.helper.defend({ ...at(), add: [], remove: ['10.77.0.72'] })
  })

  test('are none any more on an interface that is made anew: another may have them by now', async () => {
    const [near, far] = ['n', 'f'].map((end) => `spt${process.pid}-df-${name[0]}-${end}2`) as [string, string]
    const place = { netns: netnsPath(near), dev: 'v0' }
    const claimThere = (address: string) =>
      runIn(far, ['python3', CLAIMER, 'v1', 'arp-request', address, '02:00:00:00:00:99'])
    const up = async () => {
      await runIn(near, ['ip', 'link', 'add', 'v0', 'type', 'veth', 'peer', 'name', 'v1', 'netns', far])
      await runIn(near, ['ip', 'link', 'set', 'v0', 'up'])
      await runIn(far, ['ip', 'link', 'set', 'v1', 'up'])
    }
    await createNetns(near)
    await createNetns(far)
    await up()
    await on.helper.defend({ ...place, add: ['10.77.8.1', '10.77.8.2'], remove: [] })
    await runIn(near, ['ip', 'link', 'delete', 'v0'])
    await expect(on.helper.defend({ ...place, add: [], remove: ['10.77.8.1', '10.77.8.2'] })).rejects.toMatchObject({
      errno: 'ENODEV',
    })
    await up()
    await on.helper.defend({ ...place, add: ['10.77.8.3'], remove: [] })
    heard.length = 0
    for (const address of ['10.77.8.1', '10.77.8.3']) await claimThere(address)
    await expect.poll(() => heard.map(({ address }) => address), SOON).toContain('10.77.8.3')
    expect(heard.map(({ address }) => address)).toEqual(['10.77.8.3'])
    await deleteNetns(near)
    await deleteNetns(far)
  })

  test('are let go with their namespace', async () => {
    const gone = `spt${process.pid}-df-${name[0]}-x`
    await createNetns(gone)
    await runIn(gone, ['ip', 'link', 'add', 'v0', 'type', 'veth', 'peer', 'name', 'v1'])
    await on.helper.defend({ netns: netnsPath(gone), dev: 'v0', add: ['10.77.9.1', 'fd77:9::1'], remove: [] })
    await deleteNetns(gone)
    await expect(
      on.helper.defend({ netns: netnsPath(gone), dev: 'v0', add: ['10.77.9.1'], remove: [] }),
    ).rejects.toMatchObject({ errno: 'ENOENT' })
    await expect(on.helper.defend({ ...at(), add: ['nowhere'], remove: [] })).rejects.toThrow(
      'add contains something that is not an address',
    )
    await expect(on.helper.defend({ ...at(), dev: 'nope0', add: [], remove: [] })).rejects.toMatchObject({
      errno: 'ENODEV',
    })
  })
})
