import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import path from 'node:path'
import {
  Caller,
  callApi,
  isAlive,
  Lab,
  must,
  type ProductUnit,
  productUnit,
  type ShownLoadBalancer,
  SyscallFilter,
  startAgent,
  startControlPlane,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ACME, balancer, quickCheck, vipOf } from './fixtures.ts'
import { agentOf, daemonsOf, proxiesOf } from './node-processes.ts'
import { dropAll, expectAlive, holdSome } from './traffic.ts'

// A lab has no service manager: `setpriv` drops what the units of deploy/systemd/ do not grant, and a filter refuses
// the system calls that they do not list.
const NOBODY = 65_534
// The units start the sources.
vi.stubEnv('SPOUT_PROGRAMS', 'sources')
afterAll(() => void vi.unstubAllEnvs())

function grantedBy(unit: ProductUnit, filter: SyscallFilter, ...more: readonly string[]): readonly string[] {
  const granted = unit.capabilities.map((name) => `+${name.replace('CAP_', '').toLowerCase()}`)
  return [
    'setpriv',
    `--bounding-set=${['-all', ...granted].join()}`,
    '--inh-caps=-all',
    '--no-new-privs',
    ...more,
    '--',
    ...filter.within,
  ]
}

const filters = { agent: null as SyscallFilter | null, 'control-plane': null as SyscallFilter | null }
beforeAll(async () => {
  for (const app of ['agent', 'control-plane'] as const)
    filters[app] = await SyscallFilter.create(productUnit(app).systemCalls)
})
afterAll(() => {
  for (const filter of Object.values(filters)) filter?.[Symbol.dispose]()
})

const agentOptions = () => ({
  within: grantedBy(productUnit('agent'), filters.agent!),
  set: ['metrics.listen=127.0.0.1:9132'],
})

/** Seccomp mode of each thread of a process: 2 with a filter (proc_pid_status(5)). */
const seccompOf = (pid: number): readonly string[] =>
  readdirSync(`/proc/${pid}/task`).map(
    (thread) => /^Seccomp:\t(\d)$/m.exec(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))?.[1] ?? '',
  )

test.each(['agent', 'control-plane'] as const)('%s: what no service of ours does is refused', async (app) => {
  const { allowed, numbers, within } = filters[app]!
  const never = ['ptrace', 'bpf', 'init_module', 'finit_module', 'kexec_load', 'reboot', 'settimeofday', 'swapon']
  expect(never.filter((name) => allowed.has(name))).toEqual([])
  // A process that asks to be traced: that needs no capability.
  const askedTraced = ['perl', '-e', `$! = 0; syscall(${numbers.get('ptrace')}, 0, 0, 0, 0); print $! + 0`]
  expect(await must(askedTraced)).toBe('0')
  expect(await must([...within, ...askedTraced])).toBe(String(constants.errno.EPERM))
})

describe.each([
  ['vrrp', ['nodes.announcer=vrrp'], ['keepalived', 'spout-mover']],
  ['bgp', ['nodes.announcer=bgp', 'nodes.localAs=64500'], ['bird', 'keepalived']],
] as const)('an agent with what its unit grants, announcer %s', (announcer, set, daemonNames) => {
  let system: TestSystem
  let acme: Tenant
  let shop: ShownLoadBalancer
  let site: ShownLoadBalancer
  let client: Caller

  beforeAll(async () => {
    system = await TestSystem.start({ tenants: [ACME], set: [...set], nodes: ['node1'], agents: agentOptions() })
    ;[acme] = system.tenants as [Tenant]
    // A router that never answers: the daemons run all the same.
    const peer = { name: 'tor', address: '198.51.100.1', as: 64_600 }
    if (announcer === 'bgp') await system.api(system.access.admin, 'POST', '/bgp-peers', peer)
    const pool = { monitor: quickCheck('tcp') }
    shop = await system.createLoadBalancer(acme, balancer('shop', 'tcp', { pool }))
    site = await system.createLoadBalancer(acme, balancer('site', 'http', { pool: { monitor: quickCheck('http') } }))
    client = await Caller.start(system.lab, 'client')
  })

  afterAll(async () => {
    await client?.[Symbol.asyncDispose]()
    await system?.destroy()
  })

  const membersUp = async (shown: ShownLoadBalancer) =>
    Object.values((await system.loadBalancer(acme, shown.id)).status.members).filter(({ health }) => health === 'up')

  test('it does all that it shall: proxies, daemons, checks, figures', async () => {
    for (const shown of [shop, site])
      await waitFor(async () => (await membersUp(shown)).length === 2, { what: 'both members to be up' })
    expect(await proxiesOf(system.lab, 'node1')).not.toHaveLength(0)
    const programs = await daemonsOf(system.lab, 'node1', daemonNames)
    expect(programs.length).toBeGreaterThanOrEqual(daemonNames.length)
    for (const { pid } of [agentOf(system.lab, 'node1'), ...programs])
      expect(new Set(seccompOf(pid))).toEqual(new Set(['2']))
    const metrics = await system.lab.must('node1', ['curl', '-s', 'http://127.0.0.1:9132/metrics'])
    expect(metrics).toMatch(/^spout_agent_in_sync 1$/m)
    expect(metrics).toMatch(/^spout_agent_entries\{state="failed"\} 0$/m)
    expect(metrics).toMatch(/^spout_agent_members\{health="up"\} [24]$/m)
  })

  test('ended alone and started again, it takes over what went on', async () => {
    const before = [...(await proxiesOf(system.lab, 'node1')), ...(await daemonsOf(system.lab, 'node1', daemonNames))]
    await system.lab.stop(agentOf(system.lab, 'node1'))
    expect(before.filter((one) => !isAlive(one))).toEqual([])
    const startedAt = Date.now()
    const { logFile } = await startAgent(system.lab, system.access, 'node1', agentOptions())
    await system.inSyncAfter('node1', startedAt)
    expect(before.filter((one) => !isAlive(one))).toEqual([])
    const adopted = readFileSync(logFile, 'utf8')
      .split('\n')
      .findLast((line) => line.includes('"event":"adopted"'))
    expect(JSON.parse(adopted ?? '{}')).toMatchObject({ transactions: 0, reloads: 0 })
  })

  test.runIf(announcer === 'vrrp')('clients notice nothing of it', async () => {
    const held = await holdSome(client, shop, 8)
    await system.lab.stop(agentOf(system.lab, 'node1'))
    await expectAlive(held)
    await startAgent(system.lab, system.access, 'node1', agentOptions())
    await expectAlive(held)
    await dropAll(held)
    const answer = await system.lab.must('client', ['curl', '-s', '-m', '5', `http://${vipOf(site)}/`])
    expect(answer).toContain('tenant-a-member')
  })

  test('what is wanted no more is taken away', async () => {
    const proxies = await proxiesOf(system.lab, 'node1')
    for (const { id } of [shop, site]) await system.api(acme, 'DELETE', `/load-balancers/${id}`)
    await waitFor(() => proxies.every((one) => !isAlive(one)), { what: 'the proxies to end' })
  })
})

test('a control plane without a capability, as a user of its own', async () => {
  const lab = await Lab.create()
  const stateDirectory = mkdtempSync(path.join(tmpdir(), 'spout-units-'))
  try {
    chownSync(stateDirectory, NOBODY, NOBODY)
    const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
    const access = await startControlPlane(lab, {
      within: grantedBy(productUnit('control-plane'), filters['control-plane']!, ...user),
      set: [`stateDirectory=${stateDirectory}`],
    })
    await callApi(access.endpoint, access.admin.token, 'POST', '/projects', { name: 'one' })
    const { pid } = lab.process('control-plane')!
    expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m)
    expect(new Set(seccompOf(pid))).toEqual(new Set(['2']))
    expect(await must(['ls', stateDirectory])).toContain('spout.db')
  } finally {
    await lab.destroy()
    rmSync(stateDirectory, { recursive: true, force: true })
  }
})
