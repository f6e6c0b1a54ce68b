import { msSince, recordFault } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  announcement,
  BgpLab,
  NODE_AS,
  peerSettings,
  ROUTER,
  ROUTER_AS,
  settingsOf,
  VIP_PORT,
} from '../../testing/bgp/bgp-lab.ts'
import { FrrRouter, frrIsInstalled } from '../../testing/bgp/frr-router.ts'
import type { BgpAnnouncer } from './bgp-announcer.ts'

const signal = new AbortController().signal
const SOON = { timeout: 30_000, interval: 20 }
const V4 = '192.0.2.1'
const peers = [peerSettings({ bfd: { minTransmitMs: 80, minReceiveMs: 80, multiplier: 3 }, families: ['ipv4'] })]
const SKIPPED = frrIsInstalled() ? '' : ' (skipped: the Debian package frr is not installed)'

describe.skipIf(SKIPPED !== '')(`a router that runs FRR${SKIPPED}`, () => {
  let lab: BgpLab
  let router: FrrRouter
  let first: BgpAnnouncer
  let second: BgpAnnouncer

  beforeAll(async () => {
    lab = await BgpLab.create()
    router = await FrrRouter.start({
      namespace: lab.namespace('router'),
      directory: `${lab.directory}/frr`,
      as: ROUTER_AS,
      routerId: ROUTER.address,
      neighbors: [1, 2].map((node) => ({ address: `10.9.0.${node}`, as: NODE_AS })),
      bfd: { intervalMs: 80, multiplier: 3 },
    })
  })
  afterAll(async () => {
    await router?.stop()
    await lab?.[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    first = await lab.announcer(1)
    second = await lab.announcer(2)
    for (const [index, announcer] of [first, second].entries()) {
      await announcer.configure(settingsOf(index + 1, { peers }), signal)
      await announcer.apply([announcement(V4)], signal)
    }
    await hops().toEqual(['10.9.0.1', '10.9.0.2'])
    for (const announcer of [first, second])
      await expect.poll(() => session(announcer), SOON).toMatchObject({ state: 'established', bfd: 'up' })
  })
  afterEach(async () => {
    for (const announcer of [first, second]) {
      await announcer.apply([], signal)
      await announcer.configure(null, signal)
    }
  })

  const hops = () => expect.poll(() => router.nextHops(`${V4}/32`), SOON)
  const session = async (announcer: BgpAnnouncer) => (await announcer.sessions())[0]
  const ask = () => lab.client.connect(V4, VIP_PORT)

  it('takes an address from both nodes, and spreads connections', async () => {
    const answers = new Set<string>()
    await expect
      .poll(async () => {
        answers.add((await ask()).split(' ')[0] ?? '')
        return [...answers].sort()
      }, SOON)
      .toEqual(['node1', 'node2'])
    await first.apply([], signal)
    await hops().toEqual(['10.9.0.2'])
  })

  it('removes a node when BFD loses it, and adds it again', async () => {
    const began = performance.now()
    await lab.cable('node1', 'down')
    await hops().toEqual(['10.9.0.2'])
    const left = msSince(began)
    await lab.cable('node1', 'up')
    await hops().toEqual(['10.9.0.1', '10.9.0.2'])
    recordFault({
      fault: 'bgp: cable cut, router runs FRR',
      outcome: 'BFD takes the next hop away; back when mended',
      figure: `left out after ${left}`,
    })
  })

  it('keeps the routes of a node whose BIRD is killed, and no request fails', async () => {
    const { bgp } = first.pids
    const seen = new Set<string>()
    const failures: string[] = []
    const began = performance.now()
    process.kill(bgp!, 'SIGKILL')
    const isBack = async () => {
      seen.add((await router.nextHops(`${V4}/32`)).join())
      const now = await session(first)
      return first.pids.bgp !== bgp && now?.state === 'established' && now.announced === 1
    }
    for (let count = 0; count < 20 || !(await isBack()); count++) {
      const answer = await ask()
      if (!answer.startsWith('node')) failures.push(answer)
    }
    expect(failures).toEqual([])
    expect([...seen]).toEqual(['10.9.0.1,10.9.0.2'])
    recordFault({
      fault: 'bgp: BIRD killed, router runs FRR',
      outcome: 'started again, the router keeps its routes',
      figure: `session back after ${msSince(began)}, 0 requests failed`,
    })
  })
})
