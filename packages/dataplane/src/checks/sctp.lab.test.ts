import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { CheckSpec, MemberHealth } from '@spout/model'
import { createNetns, deleteNetns, ensureVeth, type Log, NativeHelper, netnsPath, runIn } from '@spout/sys'
import { waitFor } from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type HeardSctp, type SctpManner, sctpServers } from '../testing/checks/sctp-servers.ts'
import { labPrefix } from '../testing/lab-names.ts'
import { HELPER_PATH, silent } from '../testing/lab-node.ts'
import { Prober } from './prober.ts'
import { sctpCheck } from './sctp.ts'

const ADDRESS = { 4: '10.0.0.11', 6: 'fd01::11' } as const
const VERSIONS = [4, 6] as const
/** For targets that answer: a script, which shares the machine with other tests. */
const TIMEOUT_MS = 30_000
/** For silent targets: the test waits this long. */
const SILENCE_MS = 300
/**
 * For probes that end with their time-out, beside others: of silent targets, and of those whose answers have wrong
 * checksums, since a right one may follow. The script answers within it, also on a busy machine.
 */
const LONG_MS = 6_000
const SILENCE = `timed out after ${SILENCE_MS} ms`

/** A port for each kind of target, far enough apart that no off-by-one port belongs to another. */
const PORTS = {
  accepting: 3900,
  refusing: 3910,
  full: 3920,
  silent: 3930,
  wrongTag: 3940,
  wrongChecksum: 3950,
  wrongPort: 3960,
  withoutCookie: 3970,
  late: 3980,
  flooding: 3990,
  losing: 4000,
} as const satisfies Record<SctpManner, number>

/** Used by one test only, since the last packets of earlier checks may arrive late. */
const LISTENED_TO = { 4: 4010, 6: 4020 } as const

const REASONS: Readonly<Record<SctpManner, string | null>> = {
  accepting: null,
  refusing: 'refused the association',
  full: 'refused the association (out of resource)',
  silent: SILENCE,
  wrongTag: SILENCE,
  wrongChecksum: 'the answer has a wrong checksum',
  wrongPort: SILENCE,
  withoutCookie: 'the answer is not a valid INIT ACK',
  late: null,
  flooding: 'the answer has a wrong checksum',
  losing: null,
}
/** Known at the time-out. One test probes all of these at once, over both families. */
const AT_THE_TIME_OUT: ReadonlySet<SctpManner> = new Set(['wrongChecksum', 'flooding'])

describe('SCTP checks by spout-helper', () => {
  const prefix = labPrefix()
  const [domain, host] = [`${prefix}-d`, `${prefix}-h`]
  const said: object[] = []
  const log: Log = { debug: () => {}, info: () => {}, warn: (fields) => said.push(fields) }
  let helper: NativeHelper
  let check: ReturnType<typeof sctpCheck>
  let server: ChildProcess | null = null
  const heard: HeardSctp[] = []

  beforeAll(async () => {
    await createNetns(domain)
    await createNetns(host)
    await ensureVeth({ netns: domain, name: 'segment' }, { netns: host, name: 'segment' })
    for (const [netns, last] of [
      [domain, '1'],
      [host, '11'],
    ] as const) {
      await runIn(netns, ['ip', 'address', 'add', `10.0.0.${last}/24`, 'dev', 'segment'])
      await runIn(netns, ['ip', 'address', 'add', `fd01::${last}/64`, 'dev', 'segment', 'nodad'])
      // The kernel sends every ICMP error, not one a second.
      await runIn(netns, ['sysctl', '-q', '-w', 'net.ipv4.icmp_ratelimit=0', 'net.ipv6.icmp.ratelimit=0'])
    }
    helper = await NativeHelper.start({ path: `${HELPER_PATH}-asan`, log })
    check = sctpCheck(helper, () => netnsPath(domain))
  })

  afterAll(async () => {
    await helper?.close()
    await stop()
    await deleteNetns(domain)
    await deleteNetns(host)
    // Sanitizers and the leak detector report here.
    expect(said).toEqual([])
  })

  beforeEach(async () => {
    if (server === null) await serve()
  })

  async function serve(): Promise<void> {
    const manners = Object.entries(PORTS).map(([manner, port]) => [port, manner as SctpManner] as const)
    const listenedTo = Object.values(LISTENED_TO).map((port) => [port, 'accepting'] as const)
    const all = Object.fromEntries([...manners, ...listenedTo])
    const argv = [`--net=${netnsPath(host)}`, '--', ...sctpServers(all)]
    server = spawn('nsenter', argv, { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface(server.stdout!)
    await once(lines, 'line')
    lines.on('line', (line) => heard.push(JSON.parse(line) as HeardSctp))
  }

  async function stop(): Promise<void> {
    if (server?.kill('SIGKILL')) await once(server, 'exit')
    server = null
  }

  const run = (port: number, address: string = ADDRESS[4], timeoutMs = TIMEOUT_MS) => {
    const spec: CheckSpec = { type: 'sctp', intervalMs: 1_000, timeoutMs, rise: 1, fall: 1, http: null }
    return check.run({ domain: 1, address, port, spec })
  }

  const rows = VERSIONS.flatMap((version) =>
    (Object.keys(PORTS) as SctpManner[])
      .filter((manner) => !AT_THE_TIME_OUT.has(manner))
      .map((manner) => ({ manner, version, reason: REASONS[manner] })),
  )
  it.each(rows)('over IPv$version at a server that is $manner: $reason', async ({ manner, version, reason }) => {
    const result = await run(PORTS[manner], ADDRESS[version], reason === SILENCE ? SILENCE_MS : TIMEOUT_MS)
    expect(result).toMatchObject({ ok: reason === null, reason })
  })

  it.each(VERSIONS)('end over IPv%d what the INIT ACK began, and refuse nothing themselves', async (version) => {
    const refusals = async () => {
      const text = await runIn(domain, ['cat', version === 4 ? '/proc/net/snmp' : '/proc/net/snmp6'])
      if (version === 6)
        return /Icmp6OutDestUnreachs\s+(\d+)/.exec(text)![1] + /Icmp6OutParmProblems\s+(\d+)/.exec(text)![1]!
      const [names, values] = text.split('\n').filter((line) => line.startsWith('Icmp:'))
      return values!.split(' ')[names!.split(' ').indexOf('OutDestUnreachs')]
    }
    const before = await refusals()
    const port = LISTENED_TO[version]
    expect(await run(port, ADDRESS[version])).toMatchObject({ ok: true })
    const heardThere = () => heard.filter((packet) => packet.port === port)
    await waitFor(() => heardThere().length >= 2, { what: 'the INIT and the ABORT to be heard' })
    expect(heardThere()).toEqual([
      { port, kind: 1, tagged: false },
      { port, kind: 6, tagged: true },
    ])
    expect(await refusals()).toBe(before)
  })

  it.each(VERSIONS)('say over IPv%d that nothing there speaks SCTP, and that a filter forbids it', async (version) => {
    await stop()
    expect(await run(PORTS.accepting, ADDRESS[version])).toMatchObject({ ok: false, reason: 'protocol not available' })
    const forbid = 'add table inet x; add chain inet x in { type filter hook input priority 0; }; add rule inet x in'
    await runIn(host, ['nft', `${forbid} meta l4proto sctp reject with icmpx admin-prohibited`])
    try {
      const reason = version === 4 ? 'no route to host' : 'permission denied'
      expect(await run(PORTS.accepting, ADDRESS[version])).toMatchObject({ ok: false, reason })
    } finally {
      await runIn(host, ['nft', 'delete table inet x'])
    }
  })

  it('take many at once over both families, also those that end with the time-out, and leave no socket behind', async () => {
    const sockets = () => readdirSync(`/proc/${helper.pid}/fd`).length
    const before = sockets()
    const all = Object.entries(REASONS) as [SctpManner, string | null][]
    const rows = VERSIONS.flatMap((version) => all.map(([manner, reason]) => ({ manner, reason, version })))
    const many = Array.from({ length: 4 }, () => rows).flat()
    const told = await Promise.all(
      many.map(async ({ manner, reason, version }) => {
        const endsLate = reason === SILENCE || AT_THE_TIME_OUT.has(manner)
        const result = await run(PORTS[manner], ADDRESS[version], endsLate ? LONG_MS : TIMEOUT_MS)
        return { manner, version, reason: result.reason?.replace(`${LONG_MS} ms`, `${SILENCE_MS} ms`) ?? null }
      }),
    )
    expect(told).toEqual(many)
    expect(sockets()).toBe(before)
    expect((await helper.stats()).probesInFlight).toBe(0)
  })

  it('give no result for a target whose namespace does not exist', async () => {
    const at = (netns: string) => helper.sctp({ netns, address: ADDRESS[4], port: 1, timeoutMs: 10 })
    await expect(at(`${netnsPath(domain)}-absent`)).rejects.toThrow('No such file')
    await expect(run(0)).rejects.toThrow('port')
    await expect(run(1, 'nowhere')).rejects.toThrow('address')
    expect(await run(1, '203.0.113.1')).toMatchObject({ ok: false, reason: 'network is unreachable' })
  })

  it('take a member out when its server is killed, and back in when it is there again', async () => {
    const spec: CheckSpec = { type: 'sctp', intervalMs: 200, timeoutMs: 200, rise: 2, fall: 2, http: null }
    const told: MemberHealth['health'][] = []
    const onChange = (changed: readonly MemberHealth[]) => told.push(...changed.map(({ health }) => health))
    const prober = new Prober({ checks: [check], log: silent, onChange })
    const target = { domain: 1, address: ADDRESS[6], port: PORTS.accepting, spec }
    prober.put('lb', [{ target, subscriber: { loadBalancerId: 'lb', poolId: 'p', memberId: 'm' }, owner: 1 }])
    try {
      for (const health of ['up', 'down', 'up'] as const) {
        if (health === 'down') await stop()
        else if (server === null) await serve()
        await waitFor(() => told.at(-1) === health, { what: `the member to be ${health}` })
      }
    } finally {
      prober.close()
    }
  })
})
