import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadConfig } from '@spout/runtime/config'
import {
  callApi,
  KubernetesCluster,
  Lab,
  LONGEST_BUILD_MS,
  must,
  passwordToken,
  recordFault,
  run,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { controlPlaneConfig } from '../config.ts'
import { ControlPlaneProcess } from '../testing/control-plane-process.ts'

/** Control planes whose store is in the API of a real cluster, with the rights that deploy/kubernetes gives. */

const ADMIN = { user: 'admin', password: 'a-password-for-tests', project: 'admin' }
const DEPLOY = path.resolve(import.meta.dirname, '../../../../deploy/kubernetes')
const MAIN = path.resolve(import.meta.dirname, '../main.ts')
const SPOUT = path.resolve(import.meta.dirname, '../../../cli/src/main.ts')

let lab: Lab
let cluster: KubernetesCluster
let directory: string
let kubeconfig: string
beforeAll(async () => {
  lab = await Lab.create()
  cluster = await KubernetesCluster.start(lab)
  directory = mkdtempSync(path.join(tmpdir(), 'spout-cluster-store-'))
  await cluster.createNamespace('spout')
  await must([...cluster.kubectl, 'create', 'serviceaccount', 'control-plane', '--namespace=spout'])
  await must([...cluster.kubectl, 'apply', '--filename', path.join(DEPLOY, 'control-plane-store.yaml')])
  await must([
    ...[...cluster.kubectl, 'wait', '--for=condition=Established', '--timeout=60s'],
    'customresourcedefinition/storerecords.store.spout.dev',
  ])
  kubeconfig = path.join(directory, 'kubeconfig')
  writeFileSync(kubeconfig, await kubeconfigOf('control-plane'), { mode: 0o600 })
}, LONGEST_BUILD_MS)
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
  await cluster?.destroy()
  await lab?.destroy()
})

/** Of a service account, which may what deploy/kubernetes says and nothing else. */
async function kubeconfigOf(account: string): Promise<string> {
  const token = (await must([...cluster.kubectl, 'create', 'token', account, '--namespace=spout'])).trim()
  const whole = await must([...cluster.kubectl, 'config', 'view', '--raw', '--flatten', '--output=json'])
  const { clusters } = JSON.parse(whole) as { clusters: readonly { name: string; cluster: object }[] }
  const name = clusters[0]?.name
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', clusters, 'current-context': 'own' },
    users: [{ name: account, user: { token } }],
    contexts: [{ name: 'own', context: { cluster: name, user: account, namespace: 'spout' } }],
  })
}

const settings = () => [
  ...['store.engine=kubernetes', `store.kubernetes.kubeconfigFile=${kubeconfig}`],
  `admin.password=${ADMIN.password}`,
]

class Client {
  readonly #plane: ControlPlaneProcess
  #token = ''

  constructor(plane: ControlPlaneProcess) {
    this.#plane = plane
  }

  async create(name: string): Promise<string> {
    try {
      if (this.#token === '') this.#token = (await passwordToken(this.#plane.address, ADMIN)).token
      await callApi(this.#plane.address, this.#token, 'POST', '/projects', { name })
      return 'created'
    } catch (error) {
      return String(error)
    }
  }

  async names(): Promise<readonly string[]> {
    const list = await callApi<{ items: { name: string }[] }>(this.#plane.address, this.#token, 'GET', '/projects')
    return list.items.map(({ name }) => name)
  }

  async ready(): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.#plane.statusPort}/readyz`)
    return `${response.status} ${await response.text()}`
  }

  async leads(): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${this.#plane.statusPort}/metrics`)
    return /^spout_leader 1$/m.test(await response.text())
  }
}

test('while the API server is away it reads and says why, and goes on afterwards; another leads when the leader is killed', {
  timeout: 300_000,
}, async () => {
  const leader = await ControlPlaneProcess.start(settings())
  await using second = await ControlPlaneProcess.start(settings())
  const [one, other] = [new Client(leader), new Client(second)]
  try {
    expect(await one.create('before')).toBe('created')
    expect(await other.create('by-the-other')).toBe('created')
    expect([await one.leads(), await other.leads()]).toEqual([true, false])

    await cluster.controlPlane.stopApiServer()
    await waitFor(async () => (await one.ready()).startsWith('503'), { what: 'not to be ready' })
    expect(await one.ready()).toMatch(/store: .*(connection|silent)/)
    expect(await one.create('refused')).toMatch(/503 .*does not accept writes/)
    expect(await one.names()).toEqual(expect.arrayContaining(['admin', 'before', 'by-the-other']))
    await cluster.controlPlane.startApiServer()
    await waitFor(async () => (await one.create('after')) === 'created', { what: 'writes', timeoutMs: 60_000 })
    const leads = async () => ((await one.leads()) ? one : (await other.leads()) ? other : null)
    await waitFor(leads, { what: 'a leader', timeoutMs: 60_000 })
  } finally {
    await leader[Symbol.asyncDispose]()
  }
  const killedMs = performance.now()
  await waitFor(() => other.leads(), { what: 'the other to lead', timeoutMs: 60_000 })
  const tookMs = performance.now() - killedMs
  expect(await other.create('by-the-next')).toBe('created')
  const names = await other.names()
  expect(names).toEqual(expect.arrayContaining(['before', 'by-the-other', 'after', 'by-the-next']))
  expect(names).not.toContain('refused')
  recordFault({
    fault: 'kill -9 of the leading control plane, its store in the API of a cluster',
    outcome: 'the other leads, and has all that was acknowledged',
    figure: `${Math.round(tookMs)} ms, 0 acknowledged writes lost`,
  })
})

test('the account of the control plane may read and write records in its namespace, and nothing more for that', async () => {
  const may = async (verb: string, what: string, ...more: readonly string[]) =>
    (await run([...cluster.kubectl, `--kubeconfig=${kubeconfig}`, 'auth', 'can-i', verb, what, ...more])).stdout.trim()
  const records = 'storerecords.store.spout.dev'
  for (const verb of ['get', 'list', 'watch', 'create', 'update', 'delete'])
    expect(await may(verb, records)).toBe('yes')
  expect(await may('get', records, '--namespace=default')).toBe('no')
  expect(await may('deletecollection', records)).toBe('no')
  expect(await may('get', 'secrets')).toBe('no')
  expect(await may('get', 'secret/control-plane-keys')).toBe('yes')
  expect(await may('get', 'secret/another')).toBe('no')
})

test('without the kind, or the right to it, the start is refused with the reason', async () => {
  const file = path.join(directory, 'no-rights')
  writeFileSync(file, await kubeconfigOf('default'), { mode: 0o600 })
  const set = [
    'store.engine=kubernetes',
    `store.kubernetes.kubeconfigFile=${file}`,
    `stateDirectory=${directory}/state`,
  ]
  const { code, stdout, stderr } = await run([process.execPath, MAIN, ...set.flatMap((one) => ['--set', one])])
  expect(code).not.toBe(0)
  expect(`${stdout}${stderr}`).toMatch(/the store spout in namespace spout cannot be used: .*403 Forbidden/)
})

test('a SQLite store moves there whole', { timeout: 120_000 }, async () => {
  const file = path.join(directory, 'spout.db')
  {
    await using before = await ControlPlaneProcess.start(['store.engine=sqlite', `admin.password=${ADMIN.password}`])
    expect(await new Client(before).create('moved')).toBe('created')
    for (const end of ['', '-wal']) copyFileSync(path.join(before.stateDirectory, `spout.db${end}`), `${file}${end}`)
  }
  const move = () =>
    run([
      ...[process.execPath, SPOUT, 'store', 'migrate', '--from', file],
      ...['--kubeconfig', kubeconfig, '--name', 'moved'],
    ])
  const moved = await move()
  expect([moved.code, moved.stderr]).toEqual([0, ''])
  expect(moved.stdout).toMatch(/^project 2$/m)
  expect(moved.stdout).toMatch(/^copied to store moved in namespace spout\n$/m)
  const again = await move()
  expect([again.code, again.stderr]).toEqual([2, expect.stringMatching(/store moved in namespace spout is not empty/)])
  await using after = await ControlPlaneProcess.start([...settings(), 'store.kubernetes.name=moved'])
  const client = new Client(after)
  expect(await client.create('later')).toBe('created')
  expect(await client.names()).toEqual(expect.arrayContaining(['admin', 'moved', 'later']))
})

test('with a Secret the keys outlive the state directory, and two that start at once have the same', {
  timeout: 120_000,
}, async () => {
  const own = ['store.kubernetes.name=keys', 'store.kubernetes.keysSecret=control-plane-keys']
  const withKeys = [...['store.engine=kubernetes', `store.kubernetes.kubeconfigFile=${kubeconfig}`], ...own]
  const keysIn = ({ stateDirectory }: ControlPlaneProcess) =>
    ['agent-link/ca.crt', 'agent-link/ca.key', 'sealing-keys', 'admin-password'].map((file) =>
      readFileSync(path.join(stateDirectory, file), 'utf8'),
    )
  let keys: readonly string[]
  {
    const [one, other] = await Promise.all([ControlPlaneProcess.start(withKeys), ControlPlaneProcess.start(withKeys)])
    await using both = new AsyncDisposableStack()
    both.use(one)
    both.use(other)
    keys = keysIn(one)
    expect(keysIn(other)).toEqual(keys)
  }
  // Their state directories are gone.
  await using again = await ControlPlaneProcess.start(withKeys)
  expect(keysIn(again)).toEqual(keys)
  const password = keys[3]!.trim()
  expect((await passwordToken(again.address, { ...ADMIN, password })).token).not.toBe('')
  expect(again.log).not.toContain(password)

  const strange = mkdtempSync(path.join(directory, 'strange-'))
  writeFileSync(path.join(strange, 'sealing-keys'), 'a'.repeat(64))
  const set = [...withKeys, `stateDirectory=${strange}`].flatMap((one) => ['--set', one])
  const { code, stdout, stderr } = await run([process.execPath, MAIN, ...set])
  expect(code).not.toBe(0)
  expect(`${stdout}${stderr}`).toMatch(/sealing-keys differs from sealing-keys of Secret control-plane-keys in spout/)
  expect(`${stdout}${stderr}`).not.toContain('a'.repeat(64))
})

test('what is wrong in the settings is refused by its name', () => {
  const load = (...set: string[]) => loadConfig(controlPlaneConfig, { set: ['store.engine=kubernetes', ...set] }).config
  expect(load().store.kubernetes).toEqual({ namespace: '', name: 'spout', kubeconfigFile: '', keysSecret: '' })
  expect(() => load('store.kubernetes.name=../x')).toThrow(/store\.kubernetes\.name.*is no name/)
  expect(() => load('store.kubernetes.namespace=A')).toThrow(/store\.kubernetes\.namespace/)
})
