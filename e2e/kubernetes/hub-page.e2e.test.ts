import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import {
  bundled,
  KubernetesCluster,
  LONGEST_BUILD_MS,
  must,
  type PageShell,
  PRODUCT_ENVIRONMENT,
  pageShell,
  type Tenant,
  TestSystem,
  TypedPage,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openstackEnv } from '../../tools/dev/env.ts'
import { ACME } from '../fixtures.ts'
import { untilEllipsis, withoutFigures } from './page-lines.ts'

/** What docs/kubernetes.md says to type, typed by a tenant who has a cluster, in a checkout. */

const ROOT = path.resolve(import.meta.dirname, '../..')
const SPOUT = bundled(path.join(ROOT, 'apps/cli/src/main.ts'))

let system: TestSystem
let tenant: Tenant
let cluster: KubernetesCluster
let directory: string
let shell: PageShell
let page: TypedPage

/** Types a command until it prints what the page shows, but for figures. */
async function shows(beginning: string): Promise<void> {
  const { command, printed } = page.take(beginning)
  const wanted = withoutFigures(untilEllipsis(printed).join('\n'))
  const said = async (): Promise<readonly string[]> => {
    const { code, stdout, stderr } = await shell(command)
    if (code !== 0) throw new Error(`${command}: exit ${code}: ${stderr || stdout}`)
    return withoutFigures(stdout).slice(0, wanted.length)
  }
  await waitFor(async () => (await said()).join('\n') === wanted.join('\n'), {
    what: `${command} to print what the page shows`,
    timeoutMs: 60_000,
  }).catch(async () => expect(await said(), command).toEqual(wanted))
}

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME], set: ['nodes.announcer=vrrp'] })
  const { lab, access } = system
  tenant = system.tenants[0]!
  cluster = await KubernetesCluster.start(lab, { segment: 'tenant-a' })
  await Promise.all(['worker1', 'worker2'].map((name) => cluster.addNode(name)))
  directory = path.join(lab.directory, 'checkout')
  await mkdir(directory)
  for (const part of ['apps', 'deploy', 'tools']) symlinkSync(path.join(ROOT, part), path.join(directory, part))
  const [program = '', role = ''] = cluster.kubectl
  shell = pageShell({
    ...{ directory, lab },
    programs: {
      kubectl: [program, role],
      node: [process.execPath],
      // As the administrator, as `./dev spout` runs it.
      spout: ['env', `SPOUT_TOKEN=${access.admin.token}`, process.execPath, SPOUT],
    },
    env: {
      ...PRODUCT_ENVIRONMENT,
      ...openstackEnv(access.endpoint, tenant),
      KUBECONFIG: cluster.kubeconfigFile,
      SPOUT_ENDPOINT: access.endpoint,
      SPOUT_TOKEN: tenant.token,
    },
  })
  page = new TypedPage('kubernetes.md', shell)
  page.leaveOut('./dev up --kubernetes', 'dev-up.e2e.test.ts types it')
}, LONGEST_BUILD_MS)
afterAll(async () => {
  await cluster?.destroy()
  await system?.destroy()
})

it('1. a credential that may only balance', async () => {
  const { said, shown } = await page.type('openstack application credential create')
  const rowsOf = (table: string) =>
    new Map([...table.matchAll(/^\| (\S+) +\| (.*?) *\|$/gm)].map(([, field = '', value = '']) => [field, value]))
  const [made, documentedOne] = [rowsOf(said), rowsOf(shown)]
  expect([...made.keys()]).toEqual([...documentedOne.keys()])
  for (const field of ['name', 'roles', 'unrestricted', 'expires_at'])
    expect([field, made.get(field)]).toEqual([field, documentedOne.get(field)])
  writeFileSync(path.join(directory, 'spout-secret'), made.get('secret')!, { mode: 0o600 })

  const { command, printed } = page.take('cat connector.yaml')
  expect(command).toBe('cat connector.yaml')
  const settings = printed
    .join('\n')
    .replace('http://127.0.0.1:9130', system.access.endpoint)
    .replace(documentedOne.get('id')!, made.get('id')!)
  expect(settings).toContain(made.get('id'))
  writeFileSync(path.join(directory, 'connector.yaml'), settings)
})

it('2. an account in the cluster, which may not read Secrets', async () => {
  await page.type('kubectl apply --filename deploy/kubernetes/connector-access.yaml')
  await page.type('kubectl config view')
  for (const what of ['unset users', 'set-credentials connector', 'set-context --current']) {
    const { said, shown } = await page.type(`kubectl --kubeconfig connector.kubeconfig config ${what}`)
    expect(said.trim()).toBe(shown)
  }
  const { command, printed } = page.take('kubectl --kubeconfig connector.kubeconfig get secrets')
  expect(await shell(command)).toMatchObject({ code: 1, stderr: `${printed.join('\n')}\n` })
})

it('3. it starts, and says where it listens', async () => {
  const { command, printed } = page.take('node apps/connector/src/main.ts')
  const { lab } = system
  // The port of the page may be taken on this machine.
  const env = { ...PRODUCT_ENVIRONMENT, SPOUT_CONNECTOR_HTTP_PORT: '0' }
  const script = `cd ${directory} && export PATH="$PWD/bin:$PATH" && exec ${command}`
  const { logFile } = await lab.start('host', 'connector', ['bash', '-c', script], {
    ...{ env, readyText: '"event":"listening"' },
  })
  const line = readFileSync(logFile, 'utf8')
    .split('\n')
    .find((text) => text.includes('"event":"listening"'))
  const fixed = (text = '{}') => {
    const { time, pid, httpPort, ...rest } = JSON.parse(text) as Record<string, unknown>
    return { ...rest, has: [typeof time, typeof pid, typeof httpPort] }
  }
  expect(fixed(line)).toEqual(fixed(printed[0]))
})

it('the first Service is served, and a refused one says why and is served once it may be', async () => {
  // The page links to one, and shows what a refused one says.
  for (const file of ['web', 'fixed-ip'])
    expect((await shell(`kubectl apply --filename tools/dev/kubernetes/${file}.yaml`)).stderr).toBe('')
  await cluster.readyPods(3, 'app=web')
  await shows('kubectl get service web')
  await shows('kubectl get service fixed-ip -o jsonpath')
  const told = (command: string) => expect.poll(async () => (await shell(command)).stdout, { timeout: 60_000 })
  await told('kubectl describe service fixed-ip').toMatch(/Warning +AddressNotInPool /)
  await told('spout explain service default/fixed-ip').toContain('AddressNotInPool')
  const { said, shown } = await page.type('kubectl annotate service fixed-ip')
  expect(said.trim()).toBe(shown)
  await shows('kubectl get service fixed-ip')
})

it('explain shows the path to the pods, and the API the routes to them', async () => {
  await shows('./dev spout explain lb default/web')
  await shows('curl -s $SPOUT_ENDPOINT/api/v1/networks')
})

it('a Service is deleted once its nodes hold nothing of it', async () => {
  await must([...cluster.kubectl, 'delete', 'service', 'web', 'fixed-ip'], { timeoutMs: 60_000 })
  expect((await system.api<{ items: readonly object[] }>(tenant, 'GET', '/load-balancers')).items).toEqual([])
})

it('nothing of the page is left to type', () => {
  expect(page.left).toEqual([])
})
