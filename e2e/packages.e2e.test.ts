import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  callApi,
  createPublicPool,
  createTenant,
  Lab,
  passwordToken,
  type ShownLoadBalancer,
  type ShownNode,
  type SystemAccess,
  startMember,
  type Tenant,
  TypedPage,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPackages } from '../tools/release/packages/build-packages.ts'
import { BareMachine } from './bare-machine.ts'
import { ACME, balancer, quickCheck, vipOf } from './fixtures.ts'

// The packages on a Debian 12 of their own, whose first process is systemd: installed by apt, started from their units. It
// is one machine, which has control plane and agent. Its network is that of a node of the lab.
const ROOT = path.resolve(import.meta.dirname, '..')
const UNITS = ['spout-agent', 'spout-control-plane']
/** On a machine that does other things too. */
const LONG_MS = 550_000
const INSTALL = 'apt-get install -qq'
/** Nobody answers questions, and the machine has no network from which it could get what is recommended. */
const APT = 'APT::Get::Assume-Yes "true"; APT::Install-Recommends "false";'

let directory: string
let lab: Lab
let machine: BareMachine
let access: SystemAccess
let acme: Tenant

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-packages-'))
  const packages = await buildPackages({ root: ROOT, version: '1.2.3', epochSeconds: 1_700_000_000 }, directory)
  lab = await Lab.create()
  machine = await BareMachine.start(lab, 'node1', packages)
}, 600_000)

afterAll(async () => {
  await lab?.destroy()
  rmSync(directory, { recursive: true, force: true })
})

/** One property of a unit, such as `MainPID`. */
const shown = async (unit: string, property: string): Promise<string> =>
  (await machine.must(['systemctl', 'show', '--value', `--property=${property}`, unit])).trim()
const statusOf = async (unit: string, field: string): Promise<string> =>
  (await machine.sh(`sed -n 's/^${field}:\\t//p' /proc/${await shown(unit, 'MainPID')}/status`)).trim()
const pidsOf = async (name: string): Promise<readonly string[]> =>
  (await machine.run(['pidof', name])).stdout.trim().split(' ').filter(Boolean).sort()
const DAEMONS = ['keepalived', 'spout-mover', 'spout-flows']
const ended = (daemon: string) =>
  waitFor(async () => (await pidsOf(daemon)).length === 0, { what: `${daemon} to end`, timeoutMs: LONG_MS })
const inSync = () =>
  waitFor(
    async () => {
      const { items } = await callApi<{ items: readonly ShownNode[] }>(
        access.endpoint,
        access.admin.token,
        'GET',
        '/nodes',
      )
      return items.some(({ status }) => status.connection === 'connected' && status.inSync)
    },
    { what: 'the node to be in sync', timeoutMs: LONG_MS },
  )
const answer = async (address: string): Promise<string> =>
  (await lab.run('client', ['curl', '-s', '-m', '5', `http://${address}/`])).stdout

/** What docs/installing.md says to type: in the directory of the packages, where the editor writes what it is given. */
const page = new TypedPage('installing.md', (command, input) =>
  machine.run(['sh', '-euc', `cd /srv\n${command.replace(/^editor /, 'cat > ')}`], {
    ...(input === undefined ? {} : { input }),
    timeoutMs: LONG_MS,
  }),
)

test(
  'apt installs them with what they need, and starts nothing',
  async () => {
    await machine.write('/etc/apt/apt.conf.d/90answers', APT)
    await page.type('apt-get install ./spout_*.deb ./spout-control-plane_*.deb')
    await page.type('apt-get install ./spout_*.deb ./spout-node_*.deb')
    await machine.sh(`${INSTALL} /srv/spout-connector_*.deb`, { timeoutMs: LONG_MS })
    expect(await machine.sh('dpkg --audit')).toBe('')
    for (const unit of UNITS) {
      expect(await shown(unit, 'LoadState')).toBe('loaded')
      expect([await shown(unit, 'ActiveState'), await shown(unit, 'UnitFileState')]).toEqual(['inactive', 'disabled'])
    }
    expect(await machine.must(['spout', '--version'])).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(await machine.must(['spout', '--help'])).toContain('SPOUT_ENDPOINT')
    // What systemd itself says of the units.
    const verified = await machine.run([
      'systemd-analyze',
      'verify',
      '--man=no',
      ...UNITS.map((unit) => `${unit}.service`),
    ])
    expect(verified).toMatchObject({ code: 0, stderr: '' })
  },
  LONG_MS,
)

test(
  'bash, zsh and fish find their completion',
  async () => {
    expect(await machine.sh(`fish -c 'complete -C "spout node li"'`)).toMatch(/^list\t/m)
    expect(await machine.sh(`fish -c 'complete -C "spout node list -o "'`)).toMatch(/^json\t/m)
    const zsh = `autoload -Uz compinit; compinit -D -u; print -- $_comps[spout]; whence -v $_comps[spout]`
    expect(await machine.must(['zsh', '-fc', zsh])).toContain('_spout is an autoload shell function')
    await machine.sh(
      'zsh -n /usr/share/zsh/vendor-completions/_spout; bash -n /usr/share/bash-completion/completions/spout',
    )
  },
  LONG_MS,
)

test(
  'the control plane starts from its unit, as a user of its own',
  async () => {
    const address = lab.places.find(({ name }) => name === 'node1')?.links.find(({ segment }) => segment === 'mgmt')
    const host = address?.addresses[0]?.split('/')[0] ?? ''
    await page.type(
      'editor /etc/spout/control-plane.yaml',
      `api: { host: ${host}, plainBeyondLoopback: true }
agentLink: { names: [localhost] }
network: { managementCidrs: [198.18.0.0/15, 198.51.100.0/24] }
`,
    )
    await page.type('systemctl enable --now spout-control-plane')
    const password = await waitFor(
      async () => (await machine.run(['cat', '/var/lib/spout/admin-password'])).stdout.trim() || null,
      { what: 'the password of the administrator', timeoutMs: LONG_MS },
    )
    const endpoint = `http://${host}:9130`
    const admin = { user: 'admin', password, project: 'admin' }
    const { token, projectId } = await waitFor(() => passwordToken(endpoint, admin), {
      what: 'the API to answer',
      timeoutMs: LONG_MS,
    })
    access = { endpoint, statusUrl: '', admin: { ...admin, projectId, token }, projects: [] }
    const webPage = await fetch(`${endpoint}/ui/`)
    expect([webPage.status, await webPage.text()]).toEqual([200, expect.stringContaining('<div id="page">')])
    expect((await statusOf('spout-control-plane', 'Uid')).split('\t')[0]).not.toBe('0')
    expect(await statusOf('spout-control-plane', 'CapBnd')).toBe('0000000000000000')
    expect(await statusOf('spout-control-plane', 'Seccomp')).toBe('2')
  },
  LONG_MS,
)

test(
  'an agent enrols, and a load balancer carries requests',
  async () => {
    const members = [1, 2].map((index) => startMember(lab, `tenant-a-member${index}`))
    await createPublicPool(access)
    acme = await createTenant(access, ACME)
    await page.type(
      'editor /etc/spout/agent.yaml',
      `server: { url: 'https://localhost:9131' }
fabric: { interface: '', reaches: 198.51.100.1 }
segments: { tenant-a: seg-a }
protectedCidrs: [198.18.0.0/15, 198.51.100.0/28]
`,
    )
    const spout = `SPOUT_ENDPOINT=${access.endpoint} SPOUT_TOKEN=${access.admin.token} spout`
    const created = JSON.parse(await machine.sh(`${spout} token create node1 -o json`)) as { readonly token: string }
    await machine.write('/etc/spout/enrolment-token', created.token)
    await page.type('systemctl disable --now haproxy keepalived bird; systemctl enable --now spout-agent')
    await Promise.all([inSync(), ...members])
    const site = balancer('site', 'http', { pool: { monitor: quickCheck('http') } })
    const [{ id: poolId = '' } = {}] = (
      await callApi<{ items: { id: string }[] }>(access.endpoint, access.admin.token, 'GET', '/address-pools')
    ).items
    const body = { vips: [{ from: 'pool', poolId }], ...site }
    const { id } = await callApi<ShownLoadBalancer>(access.endpoint, acme.token, 'POST', '/load-balancers', body)
    await waitFor(
      async () => {
        const now = await callApi<ShownLoadBalancer>(access.endpoint, acme.token, 'GET', `/load-balancers/${id}`)
        return now.status.provisioning === 'active' && (await answer(vipOf(now))).includes('tenant-a-member')
      },
      { what: 'the load balancer to answer', timeoutMs: LONG_MS },
    )
    // Both read the settings of the packages. What the kernel lacks, and whether a time server is reached, is the machine's.
    for (const unit of UNITS) {
      const { stdout } = await machine.run([unit, 'doctor', '-o', 'json'])
      const findings = JSON.parse(stdout) as readonly { readonly code?: string }[]
      expect(findings.filter(({ code = '' }) => !['ClockAlone', 'FeatureLacking'].includes(code))).toEqual([])
    }
    expect(await statusOf('spout-agent', 'NoNewPrivs')).toBe('1')
    expect(await statusOf('spout-agent', 'Seccomp')).toBe('2')
  },
  LONG_MS,
)

test(
  'an upgrade restarts both, and no daemon: traffic goes on',
  async () => {
    const before = {
      agent: await shown('spout-agent', 'MainPID'),
      haproxy: await pidsOf('haproxy'),
      mover: await pidsOf('spout-mover'),
    }
    expect(before.mover).not.toEqual([])
    await machine.sh(`${INSTALL} --reinstall /srv/*.deb`, { timeoutMs: LONG_MS })
    await waitFor(async () => (await shown('spout-agent', 'MainPID')) !== before.agent, {
      what: 'another agent',
      timeoutMs: LONG_MS,
    })
    for (const unit of UNITS) expect(await shown(unit, 'ActiveState')).toBe('active')
    await waitFor(() => passwordToken(access.endpoint, access.admin), { what: 'the API to answer', timeoutMs: LONG_MS })
    await inSync()
    expect([await pidsOf('haproxy'), await pidsOf('spout-mover')]).toEqual([before.haproxy, before.mover])
    // What an administrator wrote is kept.
    expect(await machine.sh('cat /etc/spout/agent.yaml')).toContain('reaches: 198.51.100.1')
  },
  LONG_MS,
)

test(
  'a node that is taken out stops its agent, and then the daemons, which the agent has left running',
  async () => {
    const before = await pidsOf('spout-mover')
    page.leaveOut('spout node drain', 'the only node has nobody to give its shards to: operations.md drains one of two')
    await page.type('systemctl stop spout-agent')
    expect([await shown('spout-agent', 'ActiveState'), await pidsOf('spout-mover')]).toEqual(['inactive', before])
    await page.type('systemctl kill --kill-whom=all spout-agent')
    for (const daemon of DAEMONS) await ended(daemon)
    await machine.sh('systemctl start spout-agent')
    await inSync()
    await waitFor(async () => (await pidsOf('spout-mover')).length > 0, { what: 'another mover', timeoutMs: LONG_MS })
    for (const beginning of ['apt-get', 'git', 'npm', 'mkdir', 'cp', 'make', 'systemctl'])
      page.leaveOut(beginning, 'the page says that "From a checkout" is not tested')
    page.leaveOut('docker', 'no docker is here: tools/release/image/image.contract.test.ts starts the programs')
    page.leaveOut('./dev release', 'it changes the checkout: tools/release/release.test.ts')
    page.leaveOut('./dev sbom', 'it needs a checkout without changes: tools/release/sbom.contract.test.ts')
    for (const beginning of ['openssl', './dev provenance'])
      page.leaveOut(beginning, 'likewise: tools/release/provenance.test.ts')
    expect(page.left).toEqual([])
  },
  LONG_MS,
)

test(
  'remove ends what runs and keeps what was set; purge leaves nothing',
  async () => {
    await machine.sh('apt-get remove -qq spout-node spout-control-plane spout-connector spout', { timeoutMs: LONG_MS })
    for (const daemon of DAEMONS) await ended(daemon)
    const kept = await machine.sh('ls -d /etc/spout/* /var/lib/spout-agent /var/lib/private/spout')
    expect(kept.trim().split('\n')).toEqual([
      '/etc/spout/agent.yaml',
      '/etc/spout/control-plane.yaml',
      '/etc/spout/enrolment-token',
      '/var/lib/private/spout',
      '/var/lib/spout-agent',
    ])
    await machine.sh('dpkg --purge spout-node spout-control-plane', { timeoutMs: LONG_MS })
    const left = await machine.sh(
      `find / -xdev \\( -path /proc -o -path /srv -o -path /var/lib/apt \\) -prune -o -name '*spout*' -print`,
    )
    expect(left.trim()).toBe('')
  },
  LONG_MS,
)
