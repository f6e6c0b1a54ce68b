import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { VrrpSettings } from '@spout/model/node-state'
import { msSince, recordFault } from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Announcement } from '../../contracts/announcer.ts'
import { run } from '../../domain/run.ts'
import { Arrangement } from '../../testing/arrangement.ts'
import { domainEntry } from '../../testing/entries.ts'
import { neighboursStay } from '../../testing/vrrp/neighbours-stay.ts'
import { areSpread } from '../../testing/vrrp/spread.ts'
import { pairSettings, VrrpNode } from '../../testing/vrrp/vrrp-node.ts'
import type { ShardReport } from './shard-report.ts'

const signal = new AbortController().signal
const WITHIN = { timeout: 20_000, interval: 20 }
const red = domainEntry(1)

const announce = (shard: number, address: string, scope: Announcement['scope'] = 'fabric'): Announcement => ({
  address,
  scope,
  domain: 1,
  by: { via: 'vrrp', shard },
})
const WANTED = [
  announce(1, '10.9.0.201'),
  announce(2, '10.9.0.202'),
  announce(2, 'fd09::202'),
  announce(1, '10.0.0.201', 'tenant'),
]

let lab: Arrangement
let first: VrrpNode
let second: VrrpNode
const nodes = () => [first, second] as const

beforeAll(async () => {
  lab = await Arrangement.create()
  await neighboursStay(lab, 'client')
  first = new VrrpNode(lab, 'node1')
  second = new VrrpNode(lab, 'node2')
  for (const node of nodes()) {
    await node.startAgent()
    await node.addDomain(red)
  }
})

afterAll(async () => {
  for (const node of [first, second]) await node?.end([red.number])
  await lab?.[Symbol.asyncDispose]()
})

/** Brings both nodes to the same start: each is master of its own shard, and they have the same addresses. */
beforeEach(async () => {
  await Promise.all(
    nodes().map(async (node, index) => {
      await node.startAgent()
      await node.announcer.configure(settingsOf(index), signal)
      node.announcer.setHealthy(true, '')
      await node.announcer.apply(WANTED, signal)
    }),
  )
  await expect.poll(spread, { ...WITHIN, timeout: 60_000 }).toBe(true)
})

const settingsOf = (index: number, fields: Partial<VrrpSettings> = {}) => pairSettings(index === 0 ? 1 : 2, fields)

const isMaster = (node: VrrpNode, shard: number): boolean =>
  node.announcer.shards().some((each) => each.shard === shard && each.state === 'master')
const masterOf = (shard: number): VrrpNode | undefined => nodes().find((node) => isMaster(node, shard))
const oneOwnerEach = (): boolean =>
  [1, 2].every((shard) => nodes().filter((node) => isMaster(node, shard)).length === 1)

/**
 * Whether both nodes take part and each shard has one owner. A process that died often is restarted only after a while.
 */
const takePart = async (): Promise<boolean> => {
  const alive = await Promise.all(nodes().map(async (node) => (await daemonsOf(node)).every(isAlive)))
  return (
    alive.every(Boolean) &&
    nodes()
      .flatMap(states)
      .every((state) => state !== 'fault') &&
    oneOwnerEach()
  )
}
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const spread = async (): Promise<boolean> => {
  if (!(await takePart()) || !(await areSpread(nodes()))) return false
  return isDeepStrictEqual(await holders(), owners(first, second))
}

/** One node and no other is master of the shard and holds its addresses. */
const holders = async (): Promise<readonly string[]> => {
  const held = await Promise.all(
    nodes().map(async (node) => {
      const addresses = new Set([...(await node.addresses()), ...(await node.addresses('tenant'))])
      return WANTED.filter(({ address }) => addresses.has(address)).map(({ address }) => `${address} ${node.place}`)
    }),
  )
  return held.flat().sort()
}
const owners = (ofFirst: VrrpNode, ofSecond: VrrpNode): readonly string[] =>
  WANTED.map(({ address, by }) => {
    const owner = by.via === 'vrrp' && by.shard === 1 ? ofFirst : ofSecond
    return `${address} ${owner.place}`
  }).sort()
const expectOwners = (ofFirst: VrrpNode, ofSecond: VrrpNode) =>
  expect.poll(holders, WITHIN).toEqual(owners(ofFirst, ofSecond))

const mac = async (place: string): Promise<string> => (await lab.run(place, 'cat /sys/class/net/fab0/address')).trim()
const neighbour = async (address: string): Promise<string> =>
  ((await lab.run('client', `ip -j neigh show to ${address}`)).match(/"lladdr":"([0-9a-f:]+)"/) ?? [])[1] ?? ''
const reach = (address: string) => lab.run('client', `ping -c 1 -W 2 ${address}`)
/** Waits until the client's neighbour entry names this owner, without a request of the client. */
const expectNeighbour = async (address: string, node: VrrpNode) => {
  const wanted = await mac(node.place)
  await expect.poll(() => neighbour(address), WITHIN).toBe(wanted)
  await reach(address)
}

const pidIn = async (node: VrrpNode, file: string): Promise<number> =>
  Number(await readFile(`${node.directory}/${file}`, 'utf8'))
const moverPid = async (node: VrrpNode): Promise<number> =>
  JSON.parse(await readFile(`${node.directory}/state.json`, 'utf8')).pid
const daemonsOf = async (node: VrrpNode): Promise<readonly number[]> => [
  await pidIn(node, 'keepalived.pid'),
  await pidIn(node, 'vrrp.pid'),
  await moverPid(node),
]
const signalAll = (pids: readonly number[], name: NodeJS.Signals) => {
  for (const pid of pids) process.kill(pid, name)
}
const withoutOwner = (node: VrrpNode): string =>
  `${node.announcer.shards().find(({ shard }) => shard === 1)?.lastMove?.silentMs} ms without an owner`
const moves = (node: VrrpNode): readonly (readonly [number, string])[] =>
  node.announcer.shards().map(({ shard, state, since }) => [shard, `${state} ${since}`])
const states = (node: VrrpNode) => node.announcer.shards().map(({ state }) => state)
/** How many packets the filter of adverts dropped. */
const dropped = async (node: VrrpNode): Promise<number> => {
  const table = `inet spout-${node.config.instance}-vrrp`
  return Number((await lab.run(node.place, `nft list table ${table}`)).match(/counter packets ([0-9]+)/)?.[1])
}
const port = (place: string, ...words: string[]) =>
  run('ip', ['-n', lab.namespace('switch'), 'link', 'set', 'dev', `${place}-fab0`, ...words])
const isolate = (place: string, on: boolean) =>
  run('ip', [
    'netns',
    'exec',
    lab.namespace('switch'),
    'bridge',
    'link',
    'set',
    'dev',
    `${place}-fab0`,
    'isolated',
    on ? 'on' : 'off',
  ])

describe('two nodes', () => {
  it('share the shards, and each address is only at its owner', async () => {
    expect(states(first)).toEqual(['master', 'backup'])
    expect(states(second)).toEqual(['backup', 'master'])
    for (const { address, scope } of WANTED) if (scope === 'fabric') await reach(address)
    await lab.run('red9', 'ping -c 1 -W 2 10.0.0.201')
    expect(first.announcer.announced()).toEqual([WANTED[0], WANTED[3]])
    expect(second.announcer.announced()).toEqual([WANTED[1], WANTED[2]])
    for (const node of nodes()) {
      const present = await node.announcer.observe()
      expect(present).toEqual(WANTED)
      // The same array tells the caller that nothing has changed.
      expect(await node.announcer.observe()).toBe(present)
    }
  })

  it('take 200 addresses one by one and 200 at once without keepalived noticing', async () => {
    const before = await Promise.all(nodes().map(async (node) => [await daemonsOf(node), moves(node)]))
    const text = await readFile(`${first.directory}/keepalived.conf`, 'utf8')
    const extra = (from: number) =>
      Array.from({ length: 200 }, (_, index) => announce(1 + (index % 2), `10.9.${from}.${index + 1}`))
    for (let count = 1; count <= 200; count++) {
      const outcomes = await first.announcer.apply([...WANTED, ...extra(1).slice(0, count)], signal)
      expect(outcomes.filter(({ error }) => error !== null)).toEqual([])
    }
    const all = [...WANTED, ...extra(1), ...extra(2)]
    for (const node of nodes()) await node.announcer.apply(all, signal)
    for (const [node, shard] of [
      [first, 1],
      [second, 2],
    ] as const) {
      const held = new Set(await node.addresses())
      const wanted = all.filter(({ scope, by }) => scope === 'fabric' && by.via === 'vrrp' && by.shard === shard)
      expect(wanted.filter(({ address }) => !held.has(address))).toEqual([])
    }
    expect(await Promise.all(nodes().map(async (node) => [await daemonsOf(node), moves(node)]))).toEqual(before)
    expect(await readFile(`${first.directory}/keepalived.conf`, 'utf8')).toBe(text)
  })

  it('change priorities, timing and peers without a move', async () => {
    const before = await Promise.all(nodes().map(async (node) => [await pidIn(node, 'vrrp.pid'), moves(node)]))
    for (const fields of [
      { peers: ['10.9.0.2', '10.9.0.3'] },
      { peers: ['10.9.0.2'], advertMs: 30 },
      { shards: settingsOf(0).shards.map((shard) => ({ ...shard, priority: 100 + shard.number })) },
    ]) {
      const mover = await moverPid(first)
      await first.announcer.configure(settingsOf(0, fields), signal)
      // A reload replaces the mover, and the new one continues.
      await expect.poll(() => moverPid(first), WITHIN).not.toBe(mover)
      await first.announcer.apply(WANTED, signal)
    }
    await expectOwners(first, second)
    expect(await Promise.all(nodes().map(async (node) => [await pidIn(node, 'vrrp.pid'), moves(node)]))).toEqual(before)
  })

  it('move a shard when its owner is killed, and the returned node takes nothing back', async () => {
    await reach('10.9.0.201')
    signalAll(await daemonsOf(first), 'SIGKILL')
    await expectNeighbour('10.9.0.201', second)
    await expectOwners(second, second)
    await expect.poll(() => states(first), WITHIN).toEqual(['backup', 'backup'])
    await expectOwners(second, second)
  })

  it('restart what speaks VRRP without the agent', async () => {
    await first.dropAgent()
    signalAll([await pidIn(first, 'vrrp.pid')], 'SIGKILL')
    await expect.poll(() => states(second), WITHIN).toEqual(['master', 'master'])
    await first.startAgent()
    await first.announcer.adopt(WANTED)
    await expect.poll(() => states(first), WITHIN).toEqual(['backup', 'backup'])
    expect(first.announcer.counters.changes).toBe(0)
    await expectOwners(second, second)
  })

  it('move a shard when its owner is cut off, and take nothing back when the link returns', async () => {
    await reach('10.9.0.201')
    await port('node1', 'down')
    await expectNeighbour('10.9.0.201', second)
    await expect.poll(() => states(first), WITHIN).toEqual(['fault', 'fault'])
    await port('node1', 'up')
    await expect.poll(() => states(first), WITHIN).toEqual(['backup', 'backup'])
    await expectOwners(second, second)
    recordFault({
      fault: 'vrrp: cable of the owner cut',
      outcome: 'the other node takes over; the owner takes nothing back',
      figure: withoutOwner(second),
    })
  })

  it('move a shard when its owner freezes, which gives way when it wakes', async () => {
    await reach('10.9.0.201')
    const frozen = await daemonsOf(first)
    signalAll(frozen, 'SIGSTOP')
    // Longer than the sleep after which the frozen node must give way.
    const masterForMs = () => {
      const shard = second.announcer.shards().find((each) => each.shard === 1)
      return shard?.state === 'master' ? Date.now() - Date.parse(shard.since) : 0
    }
    await expect.poll(masterForMs, WITHIN).toBeGreaterThan(600)
    signalAll(frozen, 'SIGCONT')
    await expectOwners(second, second)
    await expectNeighbour('10.9.0.201', second)
    await expect.poll(async () => (await daemonsOf(first)).every(isAlive), WITHIN).toBe(true)
    await expect.poll(() => states(first), WITHIN).toEqual(['backup', 'backup'])
    await expectOwners(second, second)
    recordFault({
      fault: 'vrrp: owner frozen',
      outcome: 'the other node takes over; it gives way when it wakes',
      figure: withoutOwner(second),
    })
  })

  it('come to one owner after a partition in which clients reached both', async () => {
    for (const address of ['10.9.0.201', '10.9.0.202']) await reach(address)
    for (const place of ['node1', 'node2']) await isolate(place, true)
    await expect.poll(() => nodes().flatMap(states), WITHIN).toEqual(['master', 'master', 'master', 'master'])
    const healed = performance.now()
    for (const place of ['node1', 'node2']) await isolate(place, false)
    // The higher priority wins.
    await expectOwners(first, second)
    await expectNeighbour('10.9.0.201', first)
    await expectNeighbour('10.9.0.202', second)
    recordFault({
      fault: 'vrrp: two owners after a partition',
      outcome: 'one owner each, and the client follows',
      figure: `after ${msSince(healed)}`,
    })
  })

  it('fail over while no agent runs, and a new agent adopts without a change', async () => {
    await reach('10.9.0.201')
    const before = await daemonsOf(second)
    for (const node of nodes()) await node.dropAgent()
    signalAll(await daemonsOf(first), 'SIGKILL')
    await expectNeighbour('10.9.0.201', second)
    await second.startAgent()
    await second.announcer.adopt(WANTED)
    await second.announcer.configure(settingsOf(1), signal)
    await second.announcer.apply(WANTED, signal)
    expect(second.announcer.counters.changes).toBe(0)
    expect(await daemonsOf(second)).toEqual(before)
    expect(states(second)).toEqual(['master', 'master'])
    // Processes that ended are started again as backup, and their addresses are unbound.
    await first.startAgent()
    await first.announcer.adopt(WANTED)
    await expect.poll(() => states(first), WITHIN).toEqual(['backup', 'backup'])
    await expectOwners(second, second)
  })

  it('remove what a dead node had bound before anything else', async () => {
    await first.dropAgent()
    const guard = (await readFile(`${first.directory}/lock`, 'utf8')).trim().split(' ').map(Number)
    signalAll([...guard.toReversed(), ...(await daemonsOf(first)).slice(0, 2)], 'SIGKILL')
    await expect.poll(() => states(second), WITHIN).toEqual(['master', 'master'])
    expect(await first.addresses()).toContain('10.9.0.201')
    await first.startAgent()
    await first.announcer.adopt([])
    await expectOwners(second, second)
  })

  it('release their shards when drained, and take part again as backup', async () => {
    await first.announcer.configure(settingsOf(0, { yield: true }), signal)
    await expectOwners(second, second)
    await expect.poll(() => states(first), WITHIN).toEqual(['fault', 'fault'])
    expect(first.announcer.shards()[0]?.lastMove).toMatchObject({ to: 'fault', reason: 'drained', addresses: 2 })
    await first.announcer.configure(settingsOf(0), signal)
    await expect.poll(() => states(first), WITHIN).toEqual(['backup', 'backup'])
    await expectOwners(second, second)
  })

  it('give up when the data plane is broken, and a new agent does not undo that', async () => {
    first.announcer.setHealthy(false, 'no rules')
    await expectOwners(second, second)
    expect(first.announcer.shards()[0]?.lastMove).toMatchObject({ to: 'fault', reason: 'unhealthy: no rules' })
    await first.startAgent()
    await first.announcer.adopt(WANTED)
    await first.announcer.configure(settingsOf(0), signal)
    expect(states(first)).toEqual(['fault', 'fault'])
    first.announcer.setHealthy(true, '')
    await expect.poll(() => states(first), WITHIN).toEqual(['backup', 'backup'])
  })

  it('hand over one shard and no other', async () => {
    const seen: (readonly ShardReport[])[] = []
    first.announcer.onShardChange((shards) => seen.push(shards))
    await first.announcer.handOver(1, signal)
    await expectOwners(second, second)
    await expect.poll(() => states(first), WITHIN).toEqual(['backup', 'backup'])
    expect(seen.flat().filter(({ shard, state }) => shard === 2 && state !== 'backup')).toEqual([])
    expect(seen.flat().map(({ state }) => state)).toContain('fault')
  })

  it('hand over all that a peer can take before their daemons end', async () => {
    await first.announcer.handOverAll(signal)
    await expectOwners(second, second)
    await expect.poll(() => states(first), WITHIN).toEqual(['backup', 'backup'])
    await second.announcer.configure(settingsOf(1, { peers: [] }), signal)
    const seen: (readonly ShardReport[])[] = []
    second.announcer.onShardChange((shards) => seen.push(shards))
    await second.announcer.handOverAll(signal)
    expect([...seen.flat().map(({ state }) => state), ...states(second)]).toEqual(['master', 'master'])
    // Of what it takes no part in it hands over nothing.
    await first.announcer.configure(null, signal)
    await first.announcer.handOverAll(signal)
    // The peer that it has is gone: the addresses must be bound when its daemons are killed.
    await second.announcer.configure(settingsOf(1), signal)
    await second.announcer.handOverAll(signal)
    expect(states(second)).toEqual(['master', 'master'])
    await expectOwners(second, second)
  })

  it('ignore a speaker that is no peer', async () => {
    const stranger = new VrrpNode(lab, 'client', 'eth0')
    try {
      const before = nodes().map(moves)
      const highest = settingsOf(0).shards.map((shard) => ({ ...shard, priority: 254 }))
      const forged = settingsOf(0, { source: '10.9.0.9', peers: ['10.9.0.1', '10.9.0.2'], shards: highest })
      await stranger.startAgent()
      await stranger.announcer.configure(forged, signal)
      await expect.poll(() => states(stranger), WITHIN).toEqual(['master', 'master'])
      // keepalived hears nothing of it: what it refuses would set its timers anew.
      await expect.poll(() => dropped(first), WITHIN).toBeGreaterThan(200)
      for (const node of nodes())
        expect(await readFile(`${node.directory}/keepalived.log`, 'utf8')).not.toContain('10.9.0.9')
      expect(nodes().map(moves)).toEqual(before)
      await expectOwners(first, second)
    } finally {
      await stranger.end()
    }
  })

  it('elect over IPv6', async () => {
    const over6 = (index: number) =>
      settingsOf(index, { source: `fd09::${index + 1}`, peers: [`fd09::${2 - index}`], advertMs: 10 })
    await Promise.all(nodes().map((node, index) => node.announcer.configure(over6(index), signal)))
    await expect.poll(oneOwnerEach, WITHIN).toBe(true)
    const owner = masterOf(1)!
    await reach('10.9.0.201')
    signalAll(await daemonsOf(owner), 'SIGKILL')
    await expectNeighbour('10.9.0.201', owner === first ? second : first)
  })
})

describe('a node that cannot', () => {
  it('says which interface is missing', async () => {
    const node = new VrrpNode(lab, 'client', 'nope0')
    try {
      await node.startAgent()
      const began = performance.now()
      const refused = node.announcer.configure(settingsOf(0), signal)
      await expect(refused).rejects.toThrow(`fabric interface nope0 does not exist in ${lab.namespace('client')}`)
      expect(node.announcer.shards()).toEqual([])
      recordFault({
        fault: 'vrrp: interface missing',
        outcome: 'refused naming it; nothing is started',
        figure: `reason after ${msSince(began)}`,
      })
    } finally {
      await node.end()
    }
  })

  it('keeps what it had when settings or configuration are refused, and says why', async () => {
    const before = [await daemonsOf(first), moves(first)]
    const text = await readFile(`${first.directory}/keepalived.conf`, 'utf8')
    const bad = first.announcer.configure(settingsOf(0, { advertMs: 7 }), signal)
    await expect(bad).rejects.toThrow('advertMs: 7 is not a whole number from 10 to 40950')
    // keepalived itself refuses the loopback interface.
    const other = new VrrpNode(lab, 'node1', 'lo')
    const announcer = await other.startAgentIn(first.directory)
    const began = performance.now()
    await expect(announcer.configure(settingsOf(0), signal)).rejects.toThrow('keepalived refuses its configuration')
    const told = msSince(began)
    await other.dropAgent()
    await other.end()
    expect(await readFile(`${first.directory}/keepalived.conf`, 'utf8')).toBe(text)
    expect([await daemonsOf(first), moves(first)]).toEqual(before)
    recordFault({
      fault: 'vrrp: keepalived refuses its configuration',
      outcome: "the old one stays, keepalived's words are the reason",
      figure: `reason after ${told}, 0 moves`,
    })
  })

  it('refuses what belongs to no shard of its own', async () => {
    const outcomes = await first.announcer.apply([announce(9, '10.9.0.209'), ...WANTED], signal)
    expect(outcomes.map(({ error }) => error)).toEqual([
      "shard 9 is none of this node's shards",
      null,
      null,
      null,
      null,
    ])
    await first.announcer.configure(null, signal)
    await expectOwners(second, second)
    const [outcome] = await first.announcer.apply(WANTED.slice(0, 1), signal)
    expect(outcome?.error).toBe('VRRP is not configured on this node')
    expect(first.announcer.shards()).toEqual([])
  })
})
