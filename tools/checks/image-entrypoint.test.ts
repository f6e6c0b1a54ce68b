import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { must, productUnit, run, writeProgram } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** Bits of the capabilities that units name: linux/capability.h. */
const BITS: Readonly<Record<string, number>> = {
  ...{ CHOWN: 0, DAC_OVERRIDE: 1, FOWNER: 3, KILL: 5, SETGID: 6, SETUID: 7, NET_BIND_SERVICE: 10, NET_BROADCAST: 11 },
  ...{ NET_ADMIN: 12, NET_RAW: 13, IPC_LOCK: 14, SYS_CHROOT: 18, SYS_PTRACE: 19, SYS_ADMIN: 21, SYS_NICE: 23 },
  SYS_RESOURCE: 24,
}

let directory: string
let entrypoint: string

/** An image whose Node.js prints how it was started. */
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-image-'))
  for (const part of ['deploy/image', 'node_modules/.bin']) mkdirSync(path.join(directory, part), { recursive: true })
  entrypoint = path.join(directory, 'deploy/image/entrypoint.sh')
  copyFileSync(path.join(ROOT, 'deploy/image/entrypoint.sh'), entrypoint)
  writeProgram(path.join(directory, 'node_modules/.bin/node'), '#!/bin/sh\necho "$@"\nexec cat /proc/self/status\n')
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const maskOf = (status: string, name: string): bigint =>
  BigInt(`0x${new RegExp(`^${name}:\\t([0-9a-f]+)$`, 'm').exec(status)?.[1] ?? '0'}`)

test('the agent gives up whatever its unit does not grant, before it begins', async () => {
  const status = await must(['sh', entrypoint, 'agent', '--config', 'x y'])
  const granted = productUnit('agent').capabilities.reduce(
    (mask, name) => mask | (1n << BigInt(BITS[name.replace('CAP_', '')] ?? 63)),
    0n,
  )
  const own = maskOf(await must(['cat', '/proc/self/status']), 'CapBnd')
  expect(maskOf(status, 'CapBnd')).toBe(granted & own)
  expect(maskOf(status, 'CapEff')).toBe(granted & own)
  expect(status).toMatch(/^NoNewPrivs:\t1$/m)
  expect(status).toMatch(new RegExp(`${directory}/apps/agent/src/main.ts --config x y$`, 'm'))
})

test('a program that there is none of is named', async () => {
  const { code, stderr } = await run(['sh', entrypoint, 'web'])
  expect([code, stderr]).toEqual([2, "spout: 'web' is none of control-plane, agent, connector, cli\n"])
})
