import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Arrangement } from '../../testing/arrangement.ts'
import { sanitizerFindings, sanitizerOptions } from '../../testing/sanitizer-findings.ts'

/** With sanitizers, since it finds more; the labs of the announcer run the build that is shipped. */
const PROGRAM = 'spout-mover-asan'

const NATIVE = path.resolve(import.meta.dirname, '../../../../../native')

interface Shard {
  readonly shard: number
  readonly state: string
  readonly sinceMs: number
  readonly takeovers: number
  readonly lastMove: { readonly to: string; readonly reason: string; readonly addresses: number } | null
}

interface State {
  readonly pid: number
  readonly generation: number
  readonly shards: readonly Shard[]
  readonly failed: readonly { readonly address: string; readonly error: string }[]
  readonly swept: number
  readonly conflicts: number
}

let lab: Arrangement

/**
 * A mover in node1, with this test in keepalived's place. A shell stands for the keepalived that it may have to end.
 */
class MoverProcess {
  readonly directory = mkdtempSync(path.join(tmpdir(), `spt${process.pid}-mover-`))
  readonly #program: string
  #fifo: number | null = null
  parent: ChildProcess | null = null
  ended: Promise<NodeJS.Signals | number | null> = Promise.resolve(null)

  constructor(program: string) {
    this.#program = path.join(NATIVE, 'build', program)
    execFileSync('mkfifo', [path.join(this.directory, 'notify.fifo')])
  }

  /** Starts it and waits until it has looked at the table. */
  async start(lines: readonly string[], generation = 1): Promise<void> {
    this.table(lines, generation)
    const fifo = path.join(this.directory, 'notify.fifo')
    this.#fifo = openSync(fifo, 'r+')
    // keepalived continues when its script is killed.
    const script = '"$0" "$1" "$2" & wait $!; code=$?; [ $code = 137 ] && exec sleep infinity; exit $code'
    const env = { ...process.env, ...sanitizerOptions(this.directory) }
    this.parent = spawn(
      'ip',
      ['netns', 'exec', lab.namespace('node1'), 'sh', '-c', script, this.#program, this.directory, fifo],
      { stdio: 'ignore', env },
    )
    const parent = this.parent
    this.ended = new Promise((resolve) => parent.once('exit', (code, signal) => resolve(signal ?? code)))
    await expect.poll(() => this.#alive() && this.state().generation, { timeout: 10_000 }).toBe(generation)
  }

  state(): State {
    return JSON.parse(readFileSync(path.join(this.directory, 'state.json'), 'utf8'))
  }

  shard(shard: number): Shard | undefined {
    return this.state().shards.find((each) => each.shard === shard)
  }

  say(line: string): void {
    if (this.#fifo === null) throw new Error('no mover was started')
    writeSync(this.#fifo, `${line}\n`)
  }

  /** Writes a line as keepalived would, and waits until the mover has done it. */
  async become(shard: number, word: string, state: string): Promise<void> {
    this.say(`INSTANCE "shard${shard}" ${word} 200`)
    await expect.poll(() => this.shard(shard)?.state, { timeout: 10_000 }).toBe(state)
  }

  table(lines: readonly string[], generation: number): void {
    const file = path.join(this.directory, 'addresses')
    writeFileSync(`${file}.new`, [`generation ${generation}`, ...lines, ''].join('\n'))
    renameSync(`${file}.new`, file)
  }

  async change(lines: readonly string[], generation: number): Promise<void> {
    this.table(lines, generation)
    await expect.poll(() => this.state().generation, { timeout: 10_000 }).toBe(generation)
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.state().pid, signal)
  }

  /** Closes the FIFO as keepalived does when it ends. */
  hangUp(): void {
    if (this.#fifo !== null) closeSync(this.#fifo)
    this.#fifo = null
  }

  /** Kills the mover and its guard, so that nothing cleans up. */
  async kill(): Promise<void> {
    for (const pid of this.holders().toReversed()) tryKill(pid)
    this.parent?.kill('SIGKILL')
    await this.ended
    this.hangUp()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    const said = sanitizerFindings(this.directory)
    rmSync(this.directory, { recursive: true, force: true })
    if (said !== '') throw new Error(said)
  }

  /** Process ids of the mover and its guard, which hold the lock. */
  holders(): readonly number[] {
    try {
      return readFileSync(path.join(this.directory, 'lock'), 'utf8').trim().split(' ').map(Number)
    } catch {
      return []
    }
  }

  /** Takes the lock when the process lets it go, and holds it like one that ends slowly. @returns releases it */
  async holdLock(): Promise<() => void> {
    const holder = spawn('flock', [path.join(this.directory, 'lock'), 'sh', '-c', 'echo held; exec cat'])
    await new Promise((resolve) => holder.stdout.once('data', resolve))
    return () => void holder.stdin.end()
  }

  #alive(): boolean {
    const [mover] = this.holders()
    return mover !== undefined && mover === this.state().pid && isAlive(mover)
  }
}

/** Whether a process runs. A zombie does not. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

function nameOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return null
  }
}

function tryKill(pid: number): void {
  try {
    if (nameOf(pid)?.startsWith('spout-')) process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

/** Addresses with a host prefix on an interface of node1, except its own. */
async function bound(dev = 'fab0'): Promise<readonly string[]> {
  const [link] = JSON.parse(await lab.run('node1', `ip -j address show dev ${dev}`))
  return link.addr_info
    .filter((each: { prefixlen: number }) => each.prefixlen === 32 || each.prefixlen === 128)
    .map((each: { local: string }) => each.local)
    .sort()
}

/** Addresses that an interface of node1 proxies without having them. `half`: one of its two parts is missing. */
async function proxied(dev = 'fab0'): Promise<readonly string[]> {
  const neighbours: { dst: string }[] = JSON.parse(await lab.run('node1', `ip -6 -j neigh show proxy dev ${dev}`))
  const routes: { dst: string; protocol: string }[] = JSON.parse(
    await lab.run('node1', `ip -6 -j route show table local type local dev ${dev}`),
  )
  const [answered, taken] = [
    neighbours.map(({ dst }) => dst),
    routes.filter(({ protocol }) => protocol === '83').map(({ dst }) => dst),
  ]
  return [...new Set([...answered, ...taken])]
    .map((address) => (answered.includes(address) && taken.includes(address) ? address : `half ${address}`))
    .sort()
}

/** Lines that tcpdump prints in the client from now on. */
async function capture(filter: string): Promise<{ readonly lines: readonly string[] } & Disposable> {
  const lines: string[] = []
  const argv = ['netns', 'exec', lab.namespace('client'), 'tcpdump', '-lni', 'eth0', ...filter.split(' ')]
  const tcpdump = spawn('ip', argv)
  await new Promise((resolve) =>
    tcpdump.stderr.on('data', (data) => String(data).includes('listening') && resolve(null)),
  )
  tcpdump.stdout.on('data', (data) => lines.push(...String(data).trim().split('\n')))
  return { lines, [Symbol.dispose]: () => void tcpdump.kill('SIGKILL') }
}

const many = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `0 10.51.${index >> 8}.${index & 255} - fab0`)

beforeAll(async () => {
  execFileSync('make', ['-s', '-C', NATIVE, 'build/spout-mover', 'build/spout-mover-asan'], { stdio: 'inherit' })
  lab = await Arrangement.create()
}, 120_000)

afterAll(async () => {
  await lab?.[Symbol.asyncDispose]()
})

describe('spout-mover', () => {
  let mover: MoverProcess

  afterEach(async () => {
    await mover?.[Symbol.asyncDispose]()
    await lab.run('node1', 'ip address flush dev fab0 to 10.51.0.0/16')
  })

  const begin = async (lines: readonly string[]): Promise<void> => {
    mover = new MoverProcess(PROGRAM)
    await mover.start(lines)
  }

  it('binds and announces the addresses of a shard that this node masters, three times', async () => {
    await begin(['0 10.51.0.1 - fab0', '0 fd09::5101 - fab0', '1 10.51.0.2 - fab0'])
    using heard = await capture('(arp and host 10.51.0.1) or (icmp6 and ip6[40] == 136 and ip6[44] == 0x20)')
    await mover.become(0, 'MASTER', 'master')
    expect(await bound()).toEqual(['10.51.0.1', 'fd09::5101'])
    expect(mover.shard(0)).toMatchObject({ takeovers: 1, lastMove: { to: 'master', reason: 'vrrp', addresses: 2 } })
    await expect.poll(() => heard.lines.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(6)
    expect(heard.lines.filter((line) => line.includes('Request who-has 10.51.0.1 tell 10.51.0.1'))).toHaveLength(3)
    expect(heard.lines.filter((line) => line.includes('tgt is fd09::5101'))).toHaveLength(3)
    await lab.run('client', 'ping -c 1 -W 2 fd09::5101')
  })

  it('binds so that the addresses are never the source of the node itself', async () => {
    await begin(['0 10.51.0.1 - fab0', '0 fd09::5101 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    expect(await lab.run('node1', 'ip address show dev fab0')).toMatch(/inet6 fd09::5101\/128 .*deprecated/)
    for (const [target, own] of [
      ['10.9.0.9', '10.9.0.1'],
      ['10.51.0.7', '10.9.0.1'],
      ['fd09::9', 'fd09::1'],
    ])
      expect(await lab.run('node1', `ip route get ${target} oif fab0`)).toContain(`src ${own} `)
  })

  it.each([
    ['BACKUP', 'backup', 'vrrp'],
    ['FAULT', 'fault', 'vrrp'],
    ['STOP', 'stopped', 'stop'],
    ['DELETED', 'stopped', 'stop'],
  ])('unbinds when it hears %s', async (word, state, reason) => {
    await begin(['0 10.51.0.1 - fab0', '1 10.51.0.2 - fab0'])
    await mover.become(1, 'MASTER', 'master')
    await mover.become(0, 'MASTER', 'master')
    await mover.become(0, word, state)
    expect(await bound()).toEqual(['10.51.0.2'])
    expect(mover.shard(0)?.lastMove).toMatchObject({ to: state, reason, addresses: 1 })
  })

  it('is backup since its start until keepalived says more', async () => {
    const before = Date.now()
    await begin(['0 10.51.0.1 - fab0'])
    expect(mover.shard(0)).toMatchObject({ state: 'backup', lastMove: null })
    expect(mover.shard(0)?.sinceMs).toBeGreaterThanOrEqual(before)
  })

  it('applies the difference when the table changes', async () => {
    await begin(['0 10.51.0.1 - fab0', '0 10.51.0.2 - fab0', '1 10.51.0.3 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    using heard = await capture('arp and host 10.51.0.2 or host 10.51.0.4')
    await mover.change(['0 10.51.0.2 - fab0', '1 10.51.0.3 - fab0', '0 10.51.0.4 - fab0'], 2)
    expect(await bound()).toEqual(['10.51.0.2', '10.51.0.4'])
    await expect
      .poll(() => heard.lines.filter((line) => line.includes('10.51.0.4')).length, { timeout: 10_000 })
      .toBe(3)
    await mover.change(['1 10.51.0.2 - fab0', '0 10.51.0.4 - fab0'], 3)
    expect(await bound()).toEqual(['10.51.0.4'])
  })

  it('removes what a killed mover left, also what the table no longer has', async () => {
    await begin(['0 10.51.0.1 - fab0', '0 10.51.0.2 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    await mover.kill()
    expect(await bound()).toHaveLength(2)
    await mover.start(['0 10.51.0.1 - fab0'], 2)
    expect(await bound()).toEqual([])
    expect(mover.state()).toMatchObject({ swept: 2, shards: [{ shard: 0, state: 'backup', takeovers: 1 }] })
  })

  it('is started again by its guard with addresses and states as they were', async () => {
    await begin(['0 10.51.0.1 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    const before = mover.state().pid
    mover.signal('SIGKILL')
    await expect.poll(() => mover.state().pid !== before && mover.shard(0)?.state, { timeout: 10_000 }).toBe('master')
    expect(await bound()).toEqual(['10.51.0.1'])
    await mover.become(0, 'BACKUP', 'backup')
    expect(await bound()).toEqual([])
  })

  it('is started again though the kernel is slow to close what the killed one had open', async () => {
    await begin(['0 10.51.0.1 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    const [before = 0, guard = 0] = mover.holders()
    process.kill(guard, 'SIGSTOP')
    mover.signal('SIGKILL')
    const release = await mover.holdLock()
    process.kill(guard, 'SIGCONT')
    await expect.poll(() => nameOf(guard), { timeout: 10_000 }).toBe('spout-mover')
    release()
    await expect.poll(() => mover.state().pid !== before && mover.shard(0)?.state, { timeout: 10_000 }).toBe('master')
    expect(await bound()).toEqual(['10.51.0.1'])
  })

  it('unbinds everything on SIGTERM', async () => {
    await begin(['0 10.51.0.1 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    mover.signal('SIGTERM')
    expect(await mover.ended).toBe(0)
    expect(await bound()).toEqual([])
    expect(mover.shard(0)).toMatchObject({ state: 'stopped', lastMove: { to: 'stopped', reason: 'stop' } })
  })

  it('unbinds everything when keepalived is gone', async () => {
    await begin(['0 10.51.0.1 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    mover.hangUp()
    expect(await mover.ended).toBe(0)
    expect(await bound()).toEqual([])
    expect(mover.shard(0)?.state).toBe('stopped')
  })

  it('leaves addresses to the next one when keepalived reloads, and unbinds them when there is none', async () => {
    await begin(['0 10.51.0.1 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    mover.signal('SIGSTOP')
    mover.signal('SIGTERM')
    mover.hangUp()
    mover.signal('SIGCONT')
    expect(await mover.ended).toBe(0)
    expect(await bound()).toEqual(['10.51.0.1'])
    await expect.poll(() => bound(), { timeout: 10_000 }).toEqual([])
    expect(mover.shard(0)?.state).toBe('stopped')
  })

  it('leaves addresses to the next one when keepalived pauses in the middle of its reload', async () => {
    await begin(['0 10.51.0.1 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    mover.signal('SIGTERM')
    const pausesUntil = performance.now() + 600
    await expect.poll(() => performance.now() > pausesUntil, { timeout: 10_000 }).toBe(true)
    mover.hangUp()
    expect(await mover.ended).toBe(0)
    expect(await bound()).toEqual(['10.51.0.1'])
  })

  it('gives way after it was frozen', async () => {
    await begin(['freeze 300', '0 10.51.0.1 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    mover.signal('SIGSTOP')
    const asleepUntil = performance.now() + 600
    await expect.poll(() => performance.now() > asleepUntil, { timeout: 10_000 }).toBe(true)
    expect(await bound()).toEqual(['10.51.0.1'])
    mover.signal('SIGCONT')
    expect(await mover.ended).toBe('SIGKILL')
    await expect.poll(() => bound(), { timeout: 10_000 }).toEqual([])
    await expect
      .poll(() => mover.shard(0), { timeout: 10_000 })
      .toMatchObject({
        state: 'backup',
        lastMove: { to: 'backup', reason: 'frozen', addresses: 1 },
      })
  })

  it.each([
    ['IPv4', 'socket.AF_INET', '10.9.0.1', 255, 7],
    ['IPv6', 'socket.AF_INET6', 'fd09::1', 255, 7],
  ])('says again whose the addresses are when another sends adverts over %s', async (_, family, to, hops, vrid) => {
    await begin(['router 0 7', 'router 1 8', '0 10.51.0.1 - fab0', '1 10.51.0.2 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    await mover.become(1, 'MASTER', 'master')
    using heard = await capture('arp and host 10.51.0.1 or host 10.51.0.2')
    await sendAdvert(family, to, 64, vrid)
    await sendAdvert(family, to, hops, 99)
    await sendAdvert(family, to, hops, vrid)
    await expect.poll(() => mover.state().conflicts, { timeout: 10_000 }).toBe(1)
    await expect
      .poll(() => heard.lines.filter((line) => line.includes('10.51.0.1')).length, { timeout: 10_000 })
      .toBeGreaterThanOrEqual(3)
    await mover.become(0, 'BACKUP', 'backup')
    expect(mover.shard(0)?.lastMove).toMatchObject({ to: 'backup', reason: 'conflict' })
  })

  it('ignores invalid lines', async () => {
    await begin([
      'freeze soon',
      'router 0 256',
      '256 10.51.0.9 - fab0',
      '0 10.51.0 - fab0',
      '0 10.51.0.8 relative fab0',
      '0 10.51.0.7 - an-interface-name-too-long',
      '0 10.51.0.6 - fab0 more',
      '',
      '0 10.51.0.1 - fab0',
      '0 10.51.0.1 - fab0',
    ])
    for (const line of ['', 'GROUP "shard0" MASTER 1', 'INSTANCE "shard0"', 'INSTANCE "shard999" MASTER 1'])
      mover.say(line)
    mover.say(`INSTANCE "shard0" ${'M'.repeat(3000)}`)
    mover.say('INSTANCE "other" MASTER 1')
    await mover.become(0, 'MASTER', 'master')
    expect(await bound()).toEqual(['10.51.0.1'])
    expect(mover.state().failed.map(({ address }) => address)).toEqual([2, 3, 4, 5, 6, 7, 8, 0].map((n) => `line ${n}`))
    expect(mover.state().shards.map(({ shard }) => shard)).toEqual([0])
  })

  it('keeps its table when the next one is invalid', async () => {
    await begin(['0 10.51.0.1 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    writeFileSync(path.join(mover.directory, 'addresses'), 'no generation\n')
    await mover.become(1, 'MASTER', 'master')
    expect(await bound()).toEqual(['10.51.0.1'])
    expect(mover.state().generation).toBe(1)
  })

  it('binds in other namespaces, and says which it could not', async () => {
    const red = `/run/netns/${lab.namespace('red9')}`
    await begin([`0 10.0.0.51 ${red} eth0`, '0 10.51.0.1 /run/netns/spt-nowhere eth0', '0 10.51.0.2 - nowhere0'])
    await mover.become(0, 'MASTER', 'master')
    expect(await lab.run('red9', 'ip address show dev eth0')).toContain('inet 10.0.0.51/32')
    expect(mover.state().failed).toEqual([
      { address: '10.51.0.1', error: 'ENOENT' },
      { address: '10.51.0.2', error: 'ENODEV' },
    ])
    await mover.become(0, 'BACKUP', 'backup')
    expect(await lab.run('red9', 'ip address show dev eth0')).not.toContain('10.0.0.51')
    expect(mover.state().failed).toEqual([])
  })

  it('binds again on an interface that was created again', async () => {
    await lab.run('node1', 'ip link add name mv0 type veth peer name mv1')
    try {
      await lab.run('node1', 'ip link set dev mv0 up')
      await begin(['0 10.51.0.1 - mv0'])
      await mover.become(0, 'MASTER', 'master')
      await lab.run('node1', 'ip link delete dev mv0')
      await lab.run('node1', 'ip link add name mv0 type veth peer name mv1')
      await expect.poll(() => bound('mv0'), { timeout: 15_000, interval: 200 }).toEqual(['10.51.0.1'])
    } finally {
      await lab.run('node1', 'ip link delete dev mv0')
    }
  }, 30_000)

  it('moves 1,000 addresses', async () => {
    await begin(many(1000))
    using heard = await capture('arp and net 10.51.0.0/16')
    await mover.become(0, 'MASTER', 'master')
    expect(await bound()).toHaveLength(1000)
    expect(mover.shard(0)?.lastMove).toMatchObject({ addresses: 1000 })
    await expect.poll(() => heard.lines.length, { timeout: 10_000 }).toBe(3000)
    // Every address is announced once before any is announced a second time.
    const said = heard.lines.map((line) => /tell ([\d.]+)/.exec(line)?.[1])
    expect(new Set(said.slice(0, 1000)).size).toBe(1000)
    await mover.become(0, 'BACKUP', 'backup')
    expect(await bound()).toEqual([])
  })
})

describe('spout-mover on a node that forwards IPv6', () => {
  let mover: MoverProcess
  const address = 'fd09::5101'

  beforeAll(() => lab.run('node1', 'sysctl -qw net.ipv6.conf.all.forwarding=1'))
  afterAll(() => lab.run('node1', 'sysctl -qw net.ipv6.conf.all.forwarding=0'))
  afterEach(async () => {
    if (mover === undefined) return
    mover.hangUp()
    await expect.poll(() => proxied(), { timeout: 10_000 }).toEqual([])
    await mover[Symbol.asyncDispose]()
  })

  const begin = async (lines: readonly string[]): Promise<void> => {
    mover = new MoverProcess(PROGRAM)
    await mover.start(lines)
  }
  /** Whether a host without a neighbour entry for the address resolves it. */
  const isFound = async (): Promise<boolean> => {
    await lab.run('client', `ip neigh flush to ${address}`)
    return lab.run('client', `ping -c 1 -W 0.3 ${address}`).then(
      () => true,
      () => false,
    )
  }

  it('answers for IPv6 addresses without having them, while it is master and no longer', async () => {
    await begin([`0 ${address} - fab0`, '0 10.51.0.1 - fab0', '1 fd09::5102 - fab0'])
    using heard = await capture('icmp6 and ip6[40] == 136 and ip6[44] == 0x20')
    expect(await isFound()).toBe(false)
    await mover.become(0, 'MASTER', 'master')
    expect(await proxied()).toEqual([address])
    expect(await bound()).toEqual(['10.51.0.1'])
    expect(mover.shard(0)?.lastMove).toMatchObject({ to: 'master', addresses: 2 })
    expect(await isFound()).toBe(true)
    await expect
      .poll(() => heard.lines.filter((line) => line.includes(`tgt is ${address}`)).length, { timeout: 10_000 })
      .toBe(3)
    // It is never the source of the node's own packets.
    expect(await lab.run('node1', 'ip route get fd09::9 oif fab0')).toContain('src fd09::1 ')
    await mover.become(0, 'BACKUP', 'backup')
    expect(await proxied()).toEqual([])
    expect(await isFound()).toBe(false)
  })

  it('leaves a route to the same address alone that others keep', async () => {
    await lab.run('node1', `ip -6 route add local ${address} dev lo table local`)
    try {
      await begin([`0 ${address} - fab0`])
      await mover.become(0, 'MASTER', 'master')
      expect(await proxied()).toEqual([address])
      await mover.become(0, 'BACKUP', 'backup')
      expect(await proxied()).toEqual([])
    } finally {
      // Fails when it is gone.
      await lab.run('node1', `ip -6 route delete local ${address} dev lo table local`)
    }
  })

  it('removes what a killed mover left, also half entries and what the table no longer has', async () => {
    await begin([`0 ${address} - fab0`, '0 fd09::5102 - fab0', '0 fd09::5103 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    await mover.kill()
    await lab.run('node1', 'ip -6 route delete local fd09::5102 dev fab0 table local')
    await lab.run('node1', 'ip -6 neigh delete proxy fd09::5103 dev fab0')
    expect(await proxied()).toEqual([address, 'half fd09::5102', 'half fd09::5103'])
    await mover.start(['0 fd09::5102 - fab0'], 2)
    expect(await proxied()).toEqual([])
    expect(mover.state().swept).toBe(2)
  })

  it('is started again by its guard with addresses as they were, and makes whole what is not', async () => {
    await begin([`0 ${address} - fab0`, '0 fd09::5102 - fab0'])
    await mover.become(0, 'MASTER', 'master')
    const before = mover.state().pid
    await lab.run('node1', 'ip -6 neigh delete proxy fd09::5102 dev fab0')
    mover.signal('SIGKILL')
    await expect.poll(() => mover.state().pid !== before && mover.shard(0)?.state, { timeout: 10_000 }).toBe('master')
    expect(await proxied()).toEqual([address, 'fd09::5102'])
  })

  it('takes over what was bound as an address, by a mover before it or on a node that did not forward', async () => {
    await begin([`0 ${address} - fab0`])
    await lab.run('node1', 'sysctl -qw net.ipv6.conf.fab0.forwarding=0')
    await mover.become(0, 'MASTER', 'master')
    await lab.run('node1', 'sysctl -qw net.ipv6.conf.fab0.forwarding=1')
    expect([await bound(), await proxied()]).toEqual([[address], []])
    await mover.become(0, 'BACKUP', 'backup')
    expect([await bound(), await proxied()]).toEqual([[], []])
    await mover.become(0, 'MASTER', 'master')
    expect([await bound(), await proxied()]).toEqual([[], [address]])
  })

  it('answers again when the interface comes up again', async () => {
    await lab.run('node1', 'ip link add name mv0 type veth peer name mv1')
    try {
      for (const end of ['mv0', 'mv1']) await lab.run('node1', `ip link set dev ${end} up`)
      await begin([`0 ${address} - mv0`])
      await mover.become(0, 'MASTER', 'master')
      for (const dev of ['mv1', 'mv0']) {
        await lab.run('node1', `ip link set dev ${dev} down`)
        await lab.run('node1', `ip link set dev ${dev} up`)
        await expect.poll(() => proxied('mv0'), { timeout: 10_000 }).toEqual([address])
      }
    } finally {
      await lab.run('node1', 'ip link delete dev mv0')
    }
  })

  it('moves 1,000 addresses, again and again', async () => {
    const all = Array.from({ length: 1000 }, (_, index) => `fd09::5:${(index + 4096).toString(16)}`)
    await begin(all.map((each) => `0 ${each} - fab0`))
    for (const last of [false, true]) {
      using heard = await capture('icmp6 and ip6[40] == 136 and ip6[44] == 0x20')
      await mover.become(0, 'MASTER', 'master')
      expect(await proxied()).toEqual(all)
      expect(mover.shard(0)?.lastMove).toMatchObject({ addresses: 1000 })
      if (last) await expect.poll(() => heard.lines.length, { timeout: 10_000 }).toBe(3000)
      await mover.become(0, 'BACKUP', 'backup')
      expect(await proxied()).toEqual([])
    }
  })
})

/** One VRRPv3 advert from the client, of another router than node1's. */
async function sendAdvert(family: string, to: string, hops: number, vrid: number): Promise<void> {
  const program = [
    'import socket, sys',
    `s = socket.socket(${family}, socket.SOCK_RAW, 112)`,
    family === 'socket.AF_INET'
      ? `s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ${hops})`
      : `s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, ${hops})`,
    `s.sendto(bytes([0x31, ${vrid}, 100, 0, 0, 10, 0, 0]), ('${to}', 0))`,
  ].join('; ')
  execFileSync('ip', ['netns', 'exec', lab.namespace('client'), 'python3', '-c', program])
}
