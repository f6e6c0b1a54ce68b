import { closeSync, cpSync, openSync, statSync, writeSync } from 'node:fs'
import path from 'node:path'
import { bundled, Lab, PRODUCT_ENVIRONMENT, run, type SystemAccess, startControlPlane, WallClock } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

// The program as people run it, beside a control plane as it is started.
const MAIN = bundled(path.join(import.meta.dirname, '../main.ts'))
const DAY_MS = 86_400_000

let lab: Lab
let access: SystemAccess
beforeAll(async () => {
  lab = await Lab.create()
  access = await startControlPlane(lab)
}, 120_000)
afterAll(() => lab?.destroy())

interface Shown {
  readonly level: string
  readonly check: string
  readonly code?: string
  readonly subject: string | null
  readonly message: string
}

async function doctor(env: Readonly<Record<string, string>> = {}, ...set: readonly string[]) {
  const settings = [
    `stateDirectory=${path.join(lab.directory, 'control-plane')}`,
    `api.port=${new URL(access.endpoint).port}`,
    `status.port=${new URL(access.statusUrl).port}`,
    `agentLink.host=${lab.hostAddress}`,
    ...set,
  ].flatMap((setting) => ['--set', setting])
  const argv = [process.execPath, MAIN, 'doctor', '--all', '-o', 'json', ...settings]
  const { code, stdout, stderr } = await run(argv, { env: { ...PRODUCT_ENVIRONMENT, ...env } })
  if (stdout === '') throw new Error(`exit ${code}: ${stderr}`)
  const findings = JSON.parse(stdout) as readonly Shown[]
  return { code, findings, codes: findings.flatMap((one) => one.code ?? []) }
}

test('a control plane that is in order has nothing to do', async () => {
  const { code, findings } = await doctor()
  expect(findings.map(({ level, check }) => [level, check])).toEqual(
    ['readiness', 'store', 'database', 'disk', 'certificates'].map((check) => ['ok', check]),
  )
  expect(code).toBe(0)
})

test('certificates and authority end', async () => {
  using clock = await WallClock.create()
  clock.set(84 * DAY_MS)
  expect((await doctor(clock.env)).codes).toEqual(['ServedCertificateEnds'])
  clock.set(3_500 * DAY_MS)
  expect((await doctor(clock.env)).codes).toEqual(['ServedCertificateEnds', 'AuthorityEnds'])
})

test('nobody answers', async () => {
  const control = lab.process('control-plane')
  if (control === null) throw new Error('no control plane runs')
  await lab.stop(control)
  expect((await doctor()).codes).toEqual(['ControlPlaneStopped', 'PortSilent'])
})

test('a damaged store is found before it is started with', async () => {
  const copy = path.join(lab.directory, 'damaged')
  cpSync(path.join(lab.directory, 'control-plane'), copy, { recursive: true })
  const file = path.join(copy, 'spout.db')
  const { size } = statSync(file)
  const open = openSync(file, 'r+')
  // Every page but the first, which is the header.
  writeSync(open, Buffer.alloc(size - 4096, 0xa5), 0, size - 4096, 4096)
  closeSync(open)
  const { findings, codes, code } = await doctor({}, `stateDirectory=${copy}`)
  expect(codes).toContain('StoreDamaged')
  expect(findings.find((one) => one.code === 'StoreDamaged')).toMatchObject({ level: 'error', subject: file })
  expect(code).toBe(1)
})

test('called wrongly', async () => {
  expect(await run([process.execPath, MAIN, 'doctor', '-o', 'xml'])).toMatchObject({ code: 2, stdout: '' })
  expect(await run([process.execPath, MAIN, 'doctor', '--set', 'api.prot=1'])).toMatchObject({ code: 2, stdout: '' })
  expect((await run([process.execPath, MAIN, 'doctor', '--help'])).stdout).toContain(
    'Usage: spout-control-plane doctor',
  )
})
