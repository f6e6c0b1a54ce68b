import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { must, productUnit, run, writeProgram } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { IMAGE } from '../release/image/description.ts'

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

test('the agent is not started without root', async () => {
  const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']
  const { code, stderr } = await run([...asNobody, 'sh', path.join(ROOT, IMAGE.entrypointSource), 'agent'])
  expect([code, stderr]).toEqual([2, 'spout: the agent needs root: run its container with user 0\n'])
})

test('the image starts programs like the units, as the user of the manifests, and has what they need', () => {
  const [unit, agent] = [productUnit('control-plane'), productUnit('agent')]
  const script = readFileSync(path.join(ROOT, IMAGE.entrypointSource), 'utf8')
  for (const [young, { nodeOptions }] of [
    [/^young=(\d+)/m, unit],
    [/= agent \] && young=(\d+)/, agent],
  ] as const) {
    const started = script.replaceAll(/\s+/g, ' ').replaceAll('$young', young.exec(script)?.[1] ?? '')
    expect(started).toContain(`/node_modules/.bin/node" ${nodeOptions.join(' ')} `)
  }
  expect(script).toContain(`export MALLOC_ARENA_MAX=${unit.environment.MALLOC_ARENA_MAX}`)
  const manifests = readFileSync(path.join(ROOT, 'deploy/kubernetes/spout.yaml'), 'utf8')
  const users = new Set(Array.from(manifests.matchAll(/\brunAsUser: (\d+)/g), ([, user]) => Number(user)))
  expect([...users].sort()).toEqual([0, IMAGE.user])
  const page = readFileSync(path.join(ROOT, 'docs/installing.md'), 'utf8')
  const named = [...page.matchAll(/^# apt-get install ([^.].*)$/gm)].flatMap(([, names = '']) => names.split(' '))
  const needed = named.filter((name) => !/-dev$|^(npm|make|gcc|pkg-config)$/.test(name))
  expect(needed.length).toBeGreaterThan(6)
  expect(IMAGE.debianPackages).toEqual(expect.arrayContaining(needed))
})
