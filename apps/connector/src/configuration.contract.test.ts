import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { bundled, LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ConfigBed,
  isReady,
  openConfigBed,
} from '../../../packages/intents/kubernetes-config/src/testing/config-bed.fixture.ts'

let bed: ConfigBed
let directory: string

beforeAll(async () => {
  bed = await openConfigBed()
  directory = mkdtempSync(path.join(tmpdir(), 'spout-configuration-'))
}, LONGEST_BUILD_MS)
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
  await bed.close()
})

test('the connector as a process brings configuration objects to the control plane', async () => {
  const tokenFile = path.join(directory, 'token')
  writeFileSync(tokenFile, await bed.spout.adminLogin(), { mode: 0o600 })
  const settings = [
    'work=configuration',
    `spout.endpoint=${bed.endpoint}`,
    `spout.tokenFile=${tokenFile}`,
    `kubernetes.kubeconfig=${bed.cluster.kubeconfigFile}`,
    'configuration.project=tenant',
    'http.host=127.0.0.1',
    'http.port=0',
  ]
  const program = bundled(path.join(import.meta.dirname, 'main.ts'))
  const child = spawn(process.execPath, [program, ...settings.flatMap((setting) => ['--set', setting])], { env: {} })
  try {
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8')
      })
    const port = await bed.until('it to listen', () => {
      if (child.exitCode !== null) throw new Error(text)
      return /"httpPort":(\d+)/.exec(text)?.[1]
    })
    await bed.until('both sides read', async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200)
    const addresses = [{ first: '198.51.100.10', last: '198.51.100.20' }]
    await bed.create('AddressPool', 'by-process', { subnet: '198.51.100.0/24', addresses })
    await bed.when('AddressPool', 'by-process', 'ready', isReady)
    expect(bed.spout.view.list('addressPool').map(({ name }) => name)).toContain('by-process')
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  } finally {
    child.kill('SIGKILL')
  }
})
