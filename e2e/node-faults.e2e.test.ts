import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  askOn,
  byLength,
  Caller,
  instanceOf,
  isAlive,
  nodesInSync,
  type Outcome,
  type ProcessId,
  recordFault,
  type ShownLoadBalancer,
  startAgent,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, BOLT, balancer, quickCheck, vipOf } from './fixtures.ts'
import { KernelWatch } from './kernel-watch.ts'
import { agentOf, proxiesOf } from './node-processes.ts'
import { failuresOf } from './traffic.ts'

// Nothing moves on a busy machine: only what a node does by itself is tested here.
const SET = ['nodes.announcer=l2', 'liveness.moveAfterMs=600000']
const ALL_KILLS = { agent: 100, proxy: 10 } as const
const KILLS = { agent: byLength(15, ALL_KILLS.agent), proxy: byLength(5, ALL_KILLS.proxy) } as const
const PAUSES = { longestMs: 200, lifeMs: 1_200 } as const

let system: TestSystem
let client: Caller
let acme: Tenant
let bolt: Tenant
/** `shop` is balanced in the kernel, `blog` by a proxy. */
let shop: ShownLoadBalancer
let blog: ShownLoadBalancer

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT], set: SET })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  const pool = { monitor: quickCheck('tcp') }
  shop = await system.createLoadBalancer(acme, balancer('shop', 'tcp', { memberPort: 8080, pool }))
  blog = await system.createLoadBalancer(bolt, balancer('blog', 'http', { pool: { monitor: quickCheck('http') } }))
  client = await Caller.start(system.lab, 'client')
  for (const shown of [shop, blog])
    await waitFor(async () => (await client.http(vipOf(shown))).ok, { what: `${vipOf(shown)} to answer` })
  // The node without the addresses, too: what it has yet to learn would look like a change.
  await nodesInSync(system.access, 2)
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const ownerOf = async (who: Tenant, shown: ShownLoadBalancer): Promise<string> => {
  const { status } = await system.loadBalancer(who, shown.id)
  return (await system.nodes()).find(({ id }) => id === status.ownerNodeId)?.name ?? ''
}

interface Asked {
  readonly outcome: Outcome<{ readonly status: number }>
  readonly beganMs: number
  readonly endedMs: number
}

/** Requests on new connections, one after the other, each with its times. */
function askTimed(shown: ShownLoadBalancer, timeoutMs = 5000) {
  const asked: Asked[] = []
  const stream = askOn(async () => {
    const beganMs = performance.now()
    const outcome = await client.http(vipOf(shown), 80, { timeoutMs })
    asked.push({ outcome, beganMs, endedMs: performance.now() })
    return outcome
  })
  return {
    asked: asked as readonly Asked[],
    stop: async () => {
      await stream.stop()
      return asked as readonly Asked[]
    },
  }
}

const isAnswered = ({ outcome }: Asked): boolean => outcome.ok && outcome.value.status === 200
const failed = (asked: readonly Asked[]) => failuresOf(asked.map(({ outcome }) => outcome))
const longestMs = (asked: readonly Asked[]): number => Math.max(...asked.map((one) => one.endedMs - one.beganMs))
const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const ms = (value: number): string => `${Math.round(value)} ms`

/** Pseudo-random numbers below 1 that are the same in every run (a linear congruential generator). */
function* numbers(): Generator<number, never> {
  for (let state = 1; ; ) {
    state = (state * 48_271) % 2_147_483_647
    yield state / 2_147_483_647
  }
}

describe('F2: an agent that is killed again and again', () => {
  it('changes nothing on its node, whenever it dies, and no request fails', async () => {
    const owner = await ownerOf(acme, shop)
    const before = await proxiesOf(system.lab, owner)
    const streams = [askTimed(shop), askTimed(blog)]
    const watch = await KernelWatch.start(system.lab, 'kills')
    const random = numbers()
    const { logFile } = await dies(owner)
    const earlier = adoptedIn(logFile).length
    for (let kill = 1; kill < KILLS.agent; kill++) {
      // At any moment of its start, or just after.
      await new Promise((resolve) => setTimeout(resolve, random.next().value * PAUSES.longestMs))
      await dies(owner)
    }
    await system.inSyncAfter(owner, Date.now() - 1000)
    // The log continues from one agent to the next.
    const adopted = adoptedIn(logFile).slice(earlier)
    await Promise.all([system.active(acme, shop.id), system.active(bolt, blog.id)])
    expect(await watch.stop()).toEqual([])
    expect(await proxiesOf(system.lab, owner)).toEqual(before)
    expect(adopted.length).toBeGreaterThan(0)
    for (const one of adopted) expect(one).toMatchObject({ transactions: 0, reloads: 0 })
    const asked = (await Promise.all(streams.map((stream) => stream.stop()))).flat()
    expect(failed(asked)).toEqual([])
    recordFault({
      fault: `agent: killed ${KILLS.agent} times at any moment, under load (F2)`,
      whole: `${ALL_KILLS.agent} kills`,
      outcome: 'no request fails, nothing is changed in the kernel, the proxies are the same processes',
      figure: `0 of ${asked.length} requests failed, 0 transactions and 0 reloads in ${adopted.length} starts that came to the end`,
    })
  })

  async function dies(node: string) {
    await system.lab.stop(agentOf(system.lab, node), 'SIGKILL')
    return startAgent(system.lab, system.access, node)
  }

  const adoptedIn = (logFile: string): readonly unknown[] =>
    readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"event":"adopted"'))
      .map((line) => JSON.parse(line) as unknown)
})

describe('F3: a proxy that is killed', () => {
  it('is back within a moment, and nobody else notices', async () => {
    const owner = await ownerOf(bolt, blog)
    const other = askTimed(shop)
    const gapsMs: number[] = []
    for (let kill = 0; kill < KILLS.proxy; kill++) {
      const [proxy] = await proxiesOf(system.lab, owner)
      const stream = askTimed(blog, 300)
      const began = performance.now()
      // One that dies soon after its start is restarted after a growing pause, which is another fault.
      await waitFor(() => performance.now() - began > PAUSES.lifeMs && stream.asked.some(isAnswered), {
        what: 'a life of some length',
      })
      const diedMs = performance.now()
      process.kill(proxy!.pid, 'SIGKILL')
      await waitFor(() => !isAlive(proxy!) && stream.asked.filter(isAnswered).some(({ beganMs }) => beganMs > diedMs), {
        what: 'an answer of the next one',
        everyMs: 5,
      })
      await waitFor(async () => (await proxiesOf(system.lab, owner)).length === 1, { what: 'one proxy' })
      const answered = (await stream.stop()).filter(isAnswered)
      const last = answered.findLast(({ endedMs }) => endedMs <= diedMs)
      const first = answered.find(({ beganMs }) => beganMs > diedMs)
      gapsMs.push((first?.endedMs ?? Number.NaN) - (last?.endedMs ?? Number.NaN))
    }
    const asked = await other.stop()
    expect(failed(asked)).toEqual([])
    expect(gapsMs.every((gap) => gap > 0)).toBe(true)
    recordFault({
      fault: `proxy: killed ${KILLS.proxy} times (F3)`,
      whole: `${ALL_KILLS.proxy} kills`,
      outcome: 'the agent starts the next one with the state of its members; another tenant notices nothing',
      figure: `no answer for ${ms(middle(gapsMs))} (median), at most ${ms(Math.max(...gapsMs))}; 0 of ${asked.length} requests of the other tenant failed`,
    })
  })
})

describe('F14: a proxy that runs out of memory', () => {
  it('is ended alone by the kernel, and comes back; nobody else notices', async () => {
    const owner = await ownerOf(bolt, blog)
    const [proxy] = await proxiesOf(system.lab, owner)
    const group = await memoryGroupOf(proxy!)
    const other = askTimed(shop)
    const agent = agentOf(system.lab, owner)
    const limit = readFileSync(path.join(group, 'memory.limit_in_bytes'), 'utf8')
    const leave = (bytes: number) => {
      const used = Number(readFileSync(path.join(group, 'memory.usage_in_bytes'), 'utf8'))
      writeFileSync(path.join(group, 'memory.limit_in_bytes'), String(used + bytes))
    }
    const downloads: Promise<unknown>[] = []
    const download = (count: number): void => {
      const options = { path: '/download?seconds=10', timeoutMs: 30_000 }
      downloads.push(...Array.from({ length: count }, () => client.http(vipOf(blog), 80, options)))
    }
    leave(256 * 1024)
    download(400)
    // The kernel takes pages of files back first, so one limit may not be enough.
    await waitFor(
      () => {
        if (!isAlive(proxy!)) return true
        leave(16 * 1024)
        download(20)
        return false
      },
      { what: 'the kernel to end the proxy', everyMs: 200 },
    )
    expect(killsIn(group)).toBeGreaterThan(0)
    writeFileSync(path.join(group, 'memory.limit_in_bytes'), limit)
    await Promise.all(downloads)
    await waitFor(async () => isAnswered(await once(blog)), { what: 'the next proxy to answer' })
    const wordOf = async (who: Tenant, { id }: ShownLoadBalancer) =>
      (await system.loadBalancer(who, id)).status.serving.message
    const ended = `Node ${owner} ended its proxy, which exceeded its memory limit`
    await waitFor(async () => (await wordOf(bolt, blog)).includes(ended), {
      ...{ what: 'its tenant to be told', timeoutMs: 60_000 },
    })
    expect(await wordOf(acme, shop)).not.toContain('ended its proxy')
    const asked = await other.stop()
    expect(failed(asked)).toEqual([])
    expect(agentOf(system.lab, owner)).toEqual(agent)
    recordFault({
      fault: 'proxy: out of memory in its control group (F14)',
      outcome: 'the kernel ends this one alone, the agent starts the next',
      figure: `0 of ${asked.length} requests of another tenant failed, the longest took ${ms(longestMs(asked))}`,
    })
  })

  const once = async (shown: ShownLoadBalancer): Promise<Asked> => {
    const beganMs = performance.now()
    const outcome = await client.http(vipOf(shown), 80, { timeoutMs: 1000 })
    return { outcome, beganMs, endedMs: performance.now() }
  }

  /**
   * Its own group, in which it is soon after its start: the one that it begins in has all processes of the test. Version 1
   * of control groups, as on the lab's machines.
   */
  const memoryGroupOf = ({ pid }: ProcessId): Promise<string> =>
    waitFor(
      () => {
        const group = groupIn(String(pid))
        return group !== groupIn('self') && path.join('/sys/fs/cgroup/memory', group)
      },
      { what: 'the proxy to be in its group' },
    )

  function groupIn(processId: string): string {
    const lines = readFileSync(`/proc/${processId}/cgroup`, 'utf8').split('\n')
    return lines.find((one) => one.includes(':memory:'))?.split(':')[2] ?? ''
  }

  const killsIn = (group: string): number =>
    Number(/^oom_kill (\d+)$/m.exec(readFileSync(path.join(group, 'memory.oom_control'), 'utf8'))?.[1] ?? 0)
})

describe('F15: a node whose agent stands still', () => {
  it('holds up nobody: changes of others are on their nodes meanwhile', async () => {
    const [fast, slow] = await bothNodes()
    const calmMs = await changes(fast, 10)
    const stopped = agentOf(system.lab, slow.node)
    process.kill(stopped.pid, 'SIGSTOP')
    const slowChange = change(slow)
    let meanwhileMs: readonly number[]
    try {
      // Its own change waits, and theirs do not wait for it.
      meanwhileMs = await changes(fast, 10)
      expect(await isThere(slow)).toBe(false)
    } finally {
      process.kill(stopped.pid, 'SIGCONT')
    }
    await slowChange
    await waitFor(() => isThere(slow), { what: 'the change of the slow node' })
    recordFault({
      fault: 'agent: stands still (F15)',
      outcome: 'changes on other nodes go on, its own come when it wakes',
      figure: `until confirmed: p50 ${ms(middle(calmMs))} and at most ${ms(Math.max(...calmMs))} before, ${ms(middle(meanwhileMs))} and ${ms(Math.max(...meanwhileMs))} meanwhile`,
    })
  })

  interface Placed {
    readonly who: Tenant
    readonly id: string
    readonly node: string
  }

  interface Confirmed {
    readonly generation: number
    readonly status: { readonly provisioning: string; readonly confirmedGeneration: number }
  }

  /** Makes load balancers until each node has one. */
  async function bothNodes(): Promise<[Placed, Placed]> {
    const placed = new Map<string, Placed>()
    for (let number = 0; placed.size < 2 && number < 20; number++) {
      const made = await system.createLoadBalancer(bolt, balancer(`placed-${number}`, 'tcp', { port: 81 }))
      const node = await ownerOf(bolt, made)
      placed.set(node, { who: bolt, id: made.id, node })
    }
    const [one, other] = [...placed.values()]
    if (one === undefined || other === undefined) throw new Error('all load balancers are on one node')
    return [one, other]
  }

  let port = 1000
  const change = async ({ who, id }: Placed): Promise<void> => {
    await system.api(who, 'POST', `/load-balancers/${id}/listeners`, {
      name: `l${port}`,
      protocol: 'tcp',
      port: port++,
    })
  }
  const isThere = async ({ who, id }: Placed): Promise<boolean> => {
    const { generation, status } = await system.api<Confirmed>(who, 'GET', `/load-balancers/${id}`)
    return status.provisioning === 'active' && status.confirmedGeneration >= generation
  }
  async function changes(placed: Placed, count: number): Promise<readonly number[]> {
    const tookMs: number[] = []
    for (let number = 0; number < count; number++) {
      const began = performance.now()
      await change(placed)
      await waitFor(() => isThere(placed), { what: 'the change to be there', everyMs: 5 })
      tookMs.push(performance.now() - began)
    }
    return tookMs
  }
})

describe('F30: a member that swallows what opens connections', () => {
  it('is tried once and left out: every request is answered by another', async () => {
    const hole = ['nft', 'add table inet hole; add chain inet hole input { type filter hook input priority 0; }']
    const drop = ['nft', 'add rule inet hole input tcp flags syn tcp dport 8080 drop']
    const member = 'tenant-b-member1'
    await system.lab.must(member, hole)
    const stream = askTimed(blog, 10_000)
    await waitFor(() => stream.asked.length > 20, { what: 'requests before' })
    const before = stream.asked.length
    await system.lab.must(member, drop)
    try {
      await waitFor(async () => (await healthOf('member1')) === 'down', {
        what: 'the member to be left out',
        timeoutMs: 20_000,
      })
      const known = stream.asked.length
      await waitFor(() => stream.asked.length > known + 20, { what: 'requests after' })
    } finally {
      await system.lab.must(member, ['nft', 'delete table inet hole'])
    }
    const asked = await stream.stop()
    expect(failed(asked)).toEqual([])
    recordFault({
      fault: 'member: connections to it are swallowed (F30)',
      outcome: 'what was on its way to it goes to another member, its check takes it out',
      figure: `0 of ${asked.length} requests failed; the longest took ${ms(longestMs(asked.slice(0, before)))} before, ${ms(longestMs(asked.slice(before)))} meanwhile`,
    })
    await waitFor(async () => (await healthOf('member1')) === 'up', { what: 'the member to be back' })
  })

  const healthOf = async (name: string): Promise<string | undefined> => {
    const { pools, status } = await system.loadBalancer(bolt, blog.id)
    return status.members[pools[0]?.members.find((one) => one.name === name)?.id ?? '']?.health
  }
})

describe('F25: files of a node that rot', () => {
  const DAMAGES = {
    'a flipped bit': (bytes: Buffer) => {
      const at = bytes.length >> 1
      bytes[at] = (bytes[at] ?? 0) ^ 1
      return bytes
    },
    'the second half missing': (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1),
    'nothing left': () => Buffer.alloc(0),
  }

  it('disturb nobody while the agent runs, nor does its next start, and changes arrive', async () => {
    const owner = await ownerOf(bolt, blog)
    const kernel = askTimed(shop)
    const gapsMs: number[] = []
    let damaged = 0
    for (const damage of Object.values(DAMAGES)) {
      const proxied = askTimed(blog, 1000)
      const files = keptBy(owner)
      expect(files.map((file) => path.basename(file))).toEqual(
        expect.arrayContaining(['state.json', 'haproxy.cfg', 'entries.journal']),
      )
      for (const file of files) writeFileSync(file, damage(readFileSync(file)))
      damaged += files.length
      await changeBoth()
      await waitFor(() => proxied.asked.length > 20, { what: 'requests on damaged files' })
      expect(failed(proxied.asked)).toEqual([])
      // The change rewrote some of them: the next agent finds all of them damaged.
      for (const file of keptBy(owner)) writeFileSync(file, damage(readFileSync(file)))
      const diedMs = performance.now()
      await system.lab.stop(agentOf(system.lab, owner), 'SIGKILL')
      await startAgent(system.lab, system.access, owner)
      await system.inSyncAfter(owner, Date.now())
      await changeBoth()
      await waitFor(() => proxied.asked.some((one) => one.beganMs > diedMs && isAnswered(one)), { what: 'an answer' })
      const after = performance.now()
      await waitFor(() => proxied.asked.some((one) => one.beganMs > after), { what: 'one more' })
      const asked = await proxied.stop()
      const lost = asked.filter((one) => !isAnswered(one))
      const lastLost = lost.at(-1)
      gapsMs.push(lastLost === undefined ? 0 : lastLost.endedMs - lost[0]!.beganMs)
      expect(isAnswered(asked.at(-1)!)).toBe(true)
      // A process that a change replaced serves its connections to the end.
      await waitFor(async () => (await proxiesOf(system.lab, owner)).length === 1, { what: 'one proxy' })
      // The files that it rewrote are good: the next agent keeps the same process.
      const before = await proxiesOf(system.lab, owner)
      await system.lab.stop(agentOf(system.lab, owner), 'SIGKILL')
      await startAgent(system.lab, system.access, owner)
      await system.inSyncAfter(owner, Date.now())
      expect(await proxiesOf(system.lab, owner)).toEqual(before)
    }
    const asked = await kernel.stop()
    expect(failed(asked)).toEqual([])
    recordFault({
      fault: 'node: every file that the agent keeps is damaged, while it runs and before it starts (F25)',
      outcome: 'nobody notices while it runs; the next agent makes them new, and changes arrive',
      figure: `${damaged} files in ${gapsMs.length} ways; 0 of ${asked.length} requests to the kernel's balancer failed; a proxy without a readable state is started anew: ${gapsMs.map(ms).join(', ')} without it`,
    })
  })

  /**
   * Files that the agent writes and reads, except its identity, as without its key a node is not this node, and those
   * that it is about to rename.
   */
  function keptBy(node: string): readonly string[] {
    const { lab } = system
    const instance = instanceOf(lab, node)
    return [path.join(lab.directory, node), ...['', '-flows'].map((end) => path.join(lab.runDirectory, instance + end))]
      .flatMap((directory) =>
        readdirSync(directory, { recursive: true }).map((name) => path.join(directory, `${name}`)),
      )
      .filter(
        (file) =>
          statSync(file, { throwIfNoEntry: false })?.isFile() && !/identity|token|\.log$|pid$|\.tmp$/.test(file),
      )
  }

  let port = 2000
  /** Paths of the listeners that the last change added. */
  let added: readonly string[] = []
  /**
   * One listener more for both, and none at the next change. Were they to stay, the proxy would run out of prepared
   * frontends and be replaced by one with more, at a moment that no test knows.
   */
  async function changeBoth(): Promise<void> {
    const both = [[acme, shop, 'tcp'] as const, [bolt, blog, 'http'] as const]
    const before = added
    added = []
    for (const [index, [who, { id }, protocol]] of both.entries()) {
      const listeners = `/load-balancers/${id}/listeners`
      if (before.length > 0) await system.api(who, 'DELETE', before[index]!)
      else {
        const body = { name: `r${port}`, protocol, port: port++ }
        added = [...added, `${listeners}/${(await system.api<{ id: string }>(who, 'POST', listeners, body)).id}`]
      }
      await system.active(who, id)
    }
  }
})
