import { spawn } from 'node:child_process'
import path from 'node:path'
import type { Finding } from '@spout/runtime/findings'
import {
  agentSettings,
  bundled,
  Caller,
  isAlive,
  PRODUCT_ENVIRONMENT,
  pageShell,
  recordFault,
  startAgent,
  startControlPlane,
  type Tenant,
  TestSystem,
  THIS_CHECKOUT,
  TypedPage,
  WallClock,
  waitFor,
} from '@spout/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { ACME, balancer, vipOf } from './fixtures.ts'
import { agentOf } from './node-processes.ts'

const AGENT = bundled(path.join(THIS_CHECKOUT, 'apps/agent/src/main.ts'))
/** Each look starts a program, which takes seconds on a busy machine. */
const LONG_MS = 90_000
const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS

let system: TestSystem
let client: Caller
let vip: string
/** The node that has the VIP. */
let owner: string
let other: string
/** What each test has to undo, also when it fails. */
const undo: (() => unknown)[] = []

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME] })
  const [acme] = system.tenants as [Tenant]
  vip = vipOf(await system.createLoadBalancer(acme, balancer('web', 'http')))
  client = await Caller.start(system.lab, 'client')
  await waitFor(() => answers(), { what: 'the first answer' })
})

// A starved machine moves shards by itself.
beforeEach(async () => {
  const bound = await system.boundAddresses('node1')
  ;[owner, other] = bound.includes(vip) ? ['node1', 'node2'] : ['node2', 'node1']
})

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const answers = async (): Promise<boolean> => (await client.members(vip, 1, { timeoutMs: 1_000 }))[0] !== null
const run = (place: string, command: string) => system.lab.run(place, ['sh', '-c', command])
const must = (place: string, command: string) => system.lab.must(place, ['sh', '-c', command])

/** Findings of the real program on a node, what is right included. */
async function doctor(
  node: string,
  { env = {}, set = [] }: { readonly env?: Readonly<Record<string, string>>; readonly set?: readonly string[] } = {},
): Promise<{ readonly code: number; readonly findings: readonly Finding[] }> {
  const settings = [...agentSettings(system.lab, node), ...set].flatMap((setting) => ['--set', setting])
  const argv = [process.execPath, AGENT, 'doctor', '--all', '-o', 'json', ...settings]
  const { code, stdout, stderr } = await system.lab.run(node, argv, { env: { ...PRODUCT_ENVIRONMENT, ...env } })
  if (stdout === '') throw new Error(`doctor: exit ${code}: ${stderr}`)
  return { code, findings: JSON.parse(stdout) as readonly Finding[] }
}

const MACHINES: ReadonlySet<string> = new Set(['ClockAlone', 'FeatureLacking'])
const codesOf = (findings: readonly Finding[]): readonly string[] =>
  // Whether a time server is reached, and what its kernel lacks, is the machine's, not the lab's.
  findings.flatMap(({ code }) => (code === undefined || MACHINES.has(code) ? [] : [code]))

/** Looks until exactly these findings are there. */
const found = (node: string, codes: readonly string[], options?: Parameters<typeof doctor>[1]) =>
  waitFor(
    async () => {
      const { code, findings } = await doctor(node, options)
      expect(codesOf(findings).toSorted()).toEqual(codes.toSorted())
      expect(code).toBe(findings.some(({ level }) => level === 'error' || level === 'warning') ? 1 : 0)
      return findings
    },
    { what: `${node} to have the findings ${codes.join(', ') || 'of a healthy node'}`, timeoutMs: LONG_MS },
  )

const fixOf = (findings: readonly Finding[], code: string): string => {
  const finding = findings.find((one) => one.code === code)
  if (finding?.fix == null) throw new Error(`${code} has no fix`)
  return finding.fix
}

it('a node that is in order has nothing to do, and every check says so', async () => {
  for (const node of [owner, other]) {
    const findings = await found(node, [])
    const right = findings.filter(({ level }) => level === 'ok').map(({ check }) => check)
    expect(new Set([...right, 'clock', 'kernel'])).toEqual(
      new Set([
        ...['versions', 'kernel', 'sysctls', 'connections', 'disk', 'clock', 'packet sizes', 'firewall', 'ports'],
        ...['routers', 'addresses', 'vrrp', 'bgp', 'control plane', 'agent'],
      ]),
    )
  }
})

it('a strict reverse path filter is nothing to find: answers to clients pass it', async () => {
  undo.push(() => run(owner, 'sysctl -qw net.ipv4.conf.all.rp_filter=0'))
  await must(owner, 'sysctl -qw net.ipv4.conf.all.rp_filter=1')
  expect(await answers()).toBe(true)
})

it.each([
  ['ForwardingOff', 'sysctl -qw net.ipv4.ip_forward=0', 'sysctl -qw net.ipv4.ip_forward=1'],
  [
    'ForwardingDropped',
    "nft 'add table ip strangers; add chain ip strangers forward { type filter hook forward priority 0; policy drop; }'",
    'nft delete table ip strangers',
  ],
])('%s: clients get no answer, and what is typed brings it back', async (code, breaking, mending) => {
  undo.push(() => run(owner, mending))
  await must(owner, breaking)
  expect(await answers()).toBe(false)
  await must(owner, fixOf(await found(owner, [code]), code))
  await waitFor(answers, { what: 'an answer after the fix' })
  await found(owner, [])
  recordFault({
    fault: `doctor: ${code}`,
    outcome: 'found; its fix, as typed, brings traffic back',
    figure: 'exit 1, then 0',
  })
})

it('docs/doctor.md shows what a node says', async () => {
  undo.push(() => run(owner, 'sysctl -qw net.ipv4.ip_forward=1'))
  await must(owner, 'sysctl -qw net.ipv4.ip_forward=0')
  const settings = agentSettings(system.lab, owner).flatMap((setting) => ['--set', setting])
  const script = ['exec "$0" "$1" "$2"', ...settings.map((word) => `'${word}'`)].join(' ')
  const shell = pageShell({
    ...{ directory: system.lab.directory, lab: system.lab, place: owner, env: PRODUCT_ENVIRONMENT },
    programs: { 'spout-agent': ['sh', '-c', script, process.execPath, AGENT] },
  })
  const page = new TypedPage('doctor.md', shell)
  page.leaveOut(
    'spout doctor',
    'it looks at a cluster: apps/cli/src/commands/doctor/cluster/cluster-doctor.contract.test.ts',
  )
  const { command, printed } = page.take('spout-agent doctor')
  const { code, stdout } = await shell(command)
  expect(code).toBe(1)
  // What follows is of the machine: its clock, what its kernel lacks.
  expect(stdout.split('\n').slice(0, 3)).toEqual(printed.slice(0, 3))
  expect(page.left).toEqual([])
})

it('UplinkDiffers: the fabric got a smaller MTU after the network came', async () => {
  undo.push(() => run(owner, 'ip link set dev fab0 mtu 1500'))
  await must(owner, 'ip link set dev fab0 mtu 1400')
  const fix = fixOf(await found(owner, ['UplinkDiffers']), 'UplinkDiffers')
  await must(owner, fix)
  await found(owner, [])
  // Raised again, the uplink is smaller: the fix of that is typed, too.
  await must(owner, 'ip link set dev fab0 mtu 1500')
  await must(owner, fixOf(await found(owner, ['UplinkDiffers']), 'UplinkDiffers'))
  await found(owner, [])
})

it('SegmentSmaller: a segment with a smaller MTU', async () => {
  undo.push(() => run(other, 'ip link set dev seg-b mtu 1500'))
  await must(other, 'ip link set dev seg-b mtu 1400')
  await must(other, fixOf(await found(other, ['SegmentSmaller']), 'SegmentSmaller'))
  await found(other, [])
})

it('OwnAddressTwice, VipTwice: a second holder on the segment', async () => {
  const own = (await must(owner, 'ip -4 -o address show dev fab0 scope global')).match(/inet ([\d.]+)\/24/)?.[1] ?? ''
  for (const address of [own, vip]) undo.push(() => run('router', `ip address delete ${address}/32 dev fab0`))
  for (const address of [own, vip]) await must('router', `ip address add ${address}/32 dev fab0`)
  const findings = await found(owner, ['OwnAddressTwice', 'VipTwice'])
  const mac = (await must('router', 'ip -o link show dev fab0')).match(/link\/ether (\S+)/)?.[1] ?? ''
  for (const [code, address] of [
    ['OwnAddressTwice', own],
    ['VipTwice', vip],
  ] as const) {
    const finding = findings.find((one) => one.code === code)
    expect(finding).toMatchObject({ level: 'error', check: 'addresses', subject: address })
    expect(finding?.message).toBe(`${mac} answers for it, too.`)
    const [where, command = ''] = finding?.fix?.split(': ip ') ?? []
    expect(where).toBe(`on the machine with ${mac}`)
    await must('router', `ip ${command.replace('PREFIX', '32').replace('INTERFACE', 'fab0')}`)
  }
  await found(owner, [])
})

it('AdvertsUnheeded: firewalls drop VRRP, so that both nodes are master; without them one is', async () => {
  // A node that hears the other gives way if it has the lower priority, so neither does.
  const nodes = [owner, other]
  for (const node of nodes) undo.push(() => run(node, 'nft delete table ip strangers'))
  const rules =
    'add table ip strangers; add chain ip strangers input { type filter hook input priority 0; policy drop; }'
  // All but VRRP passes, as with a firewall that somebody wrote for services that he knew.
  for (const node of nodes) await must(node, `nft '${rules}; add rule ip strangers input meta l4proto != 112 accept'`)
  const before = await waitFor(
    async () => {
      const { findings } = await doctor(other)
      const codes = new Set(codesOf(findings))
      return ['AdvertsDropped', 'AdvertsUnheeded', 'VipTwice'].every((code) => codes.has(code)) && findings
    },
    { what: 'a second master to be found', timeoutMs: LONG_MS },
  )
  for (const node of nodes) await must(node, fixOf(before, 'AdvertsDropped'))
  for (const node of nodes) await found(node, [])
  recordFault({
    fault: 'doctor: firewalls of both nodes drop VRRP',
    outcome: 'found as the cause, with both masters; its fix, as typed, leaves one',
    figure: 'exit 1, then 0',
  })
})

it('MulticastFiltered: a switch that drops IPv6 multicast', async () => {
  undo.push(() => run('fabric', 'nft delete table bridge snooping'))
  const rules = [
    'add table bridge snooping',
    'add chain bridge snooping forward { type filter hook forward priority 0; }',
    'add rule bridge snooping forward ether daddr & ff:ff:00:00:00:00 == 33:33:00:00:00:00 drop',
  ]
  await must('fabric', `nft '${rules.join('; ')}'`)
  expect(fixOf(await found(other, ['MulticastFiltered']), 'MulticastFiltered')).toContain('MLD querier')
  await must('fabric', 'nft delete table bridge snooping')
  await found(other, [])
})

it('RouterSilent and PeerSilent: a cable is cut', async () => {
  undo.push(() => system.lab.cable('router', 'fab0', 'mended'))
  await system.lab.cable('router', 'fab0', 'cut')
  await found(other, ['RouterSilent', 'MulticastFiltered'])
  await system.lab.cable('router', 'fab0', 'mended')
  await found(other, [])
})

it('ClockDiffers, CertificateExpired: the clock of a node jumps', async () => {
  using clock = await WallClock.create()
  clock.set(HOUR_MS)
  expect(fixOf(await found(other, ['ClockDiffers'], { env: clock.env }), 'ClockDiffers')).toContain('timedatectl')
  clock.set(20 * YEAR_MS)
  // By this clock the control plane's certificate has ended as well.
  const findings = await found(other, ['CertificateExpired', 'ControlPlaneDistrusted'], { env: clock.env })
  const identity = path.join(system.lab.directory, other, 'identity.json')
  expect(fixOf(findings, 'CertificateExpired')).toContain(`rm ${identity}`)
  clock.set(0)
  await found(other, [], { env: clock.env })
})

it('PortHeld: who holds the port of metrics is named, and ends by what is typed', async () => {
  const set = ['metrics.listen=127.0.0.1:9199']
  const holding = "require('node:net').createServer().listen(9199, '127.0.0.1', () => console.log('held'))"
  const [command = '', ...args] = system.lab.argvIn(other, [process.execPath, '-e', holding])
  const holder = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  undo.push(() => holder.kill('SIGKILL'))
  await new Promise((resolve) => holder.stdout.once('data', resolve))
  const findings = await found(other, ['PortHeld'], { set })
  expect(fixOf(findings, 'PortHeld')).toBe(`kill ${holder.pid}`)
  await must(other, fixOf(findings, 'PortHeld'))
  await found(other, [], { set })
})

it('AgentStopped: nobody holds the state of the node', async () => {
  await system.lab.stop(agentOf(system.lab, other))
  await found(other, ['AgentStopped'])
  await startAgent(system.lab, system.access, other)
  await found(other, [])
})

it('DiskFull: the state directory is full', async () => {
  const directory = path.join(system.lab.directory, 'small')
  const set = [`flows.directory=${directory}`]
  await must('host', `mkdir -p ${directory} && mount -t tmpfs -o size=64m tmpfs ${directory}`)
  undo.push(() => run('host', `umount ${directory}`))
  await found(other, [], { set })
  await must('host', `head -c 60M /dev/zero > ${directory}/filler`)
  const finding = fixOf(await found(other, ['DiskFull'], { set }), 'DiskFull')
  expect(await must(other, finding)).toContain(directory)
  await must('host', `rm ${directory}/filler`)
  await found(other, [], { set })
})

it('ControlPlaneSilent: the control plane is away, and comes back', async () => {
  const control = system.lab.process('control-plane')
  if (control === null) throw new Error('no control plane runs')
  await system.lab.stop(control)
  expect(isAlive(control)).toBe(false)
  const findings = await found(other, ['ControlPlaneSilent'])
  expect(findings.find(({ code }) => code === 'ControlPlaneSilent')?.subject).toBe(
    `https://${system.lab.hostAddress}:9131`,
  )
  await startControlPlane(system.lab)
  await found(other, [])
})

it('is called wrongly: exit 2, and nothing is looked at', async () => {
  const wrong = (...words: readonly string[]) => system.lab.run('host', [process.execPath, AGENT, 'doctor', ...words])
  expect(await wrong('-o', 'xml')).toMatchObject({ code: 2, stdout: '' })
  expect((await wrong('--verbose')).stderr).toContain("Unknown option '--verbose'")
  expect(await wrong('--set', 'fabric.intf=eth0')).toMatchObject({ code: 2, stdout: '' })
  expect(await wrong('--help')).toMatchObject({ code: 0, stderr: '' })
})
