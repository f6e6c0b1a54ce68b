import { createNetns, deleteNetns, execOk, NativeHelper } from '@spout/sys'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { labPrefix } from '../testing/lab-names.ts'
import { HELPER_PATH, silent } from '../testing/lab-node.ts'
import type { DomainConfig } from './domain-config.ts'
import { type Run, run } from './run.ts'
import { prepareRoot, removeSteering } from './steering-rules.ts'

const TABLE = 7123
const root = `${labPrefix()}-r`
const config: DomainConfig = {
  instance: 'sr',
  fabricInterface: 'lo',
  segments: {},
  rootNamespace: root,
  steeringTable: TABLE,
}
let helper: NativeHelper

beforeAll(async () => {
  helper = await NativeHelper.start({ path: HELPER_PATH, log: silent })
})
afterAll(async () => {
  await helper?.close()
  await deleteNetns(root)
})
beforeEach(async () => {
  await deleteNetns(root)
  await createNetns(root)
})

/** As on a system where this file has these lines. */
const where =
  (file: string, lines: string): Run =>
  (program, args, input) => {
    const script = `t=$(mktemp); printf '${lines}' > $t; mount --bind $t ${file}; rm $t; exec "$@"`
    return execOk(['unshare', '--mount', 'sh', '-c', script, 'sh', program, ...args], { input })
  }

const shown = async (family: '-4' | '-6') => {
  const rules = JSON.parse(await run('ip', ['-n', root, family, '-N', '-j', 'rule', 'show'])) as readonly {
    readonly priority: number
    readonly iif?: string
    readonly ipproto?: string
    readonly table?: string
  }[]
  return rules.map(({ priority, iif, ipproto, table }) => [priority, iif, ipproto, table].filter(Boolean).join(' '))
}

it.each<readonly [string, Run]>([
  ['as Debian installs it', run],
  ['that has no names of protocols, as a container', where('/etc/protocols', '')],
  ['that has a name for the table', where('/etc/iproute2/rt_tables', `${TABLE} spout\\n`)],
])('steers on a system %s, and finds it done the next time', async (_, on) => {
  expect(await prepareRoot(on, helper, config)).toBeGreaterThan(0)
  const steered = (protocol: number) => `10 lo ipproto-${protocol} ${TABLE}`
  expect(await shown('-4')).toEqual(expect.arrayContaining([steered(6), steered(17), steered(132), steered(1)]))
  expect(await shown('-6')).toEqual(expect.arrayContaining([steered(6), steered(17), steered(132)]))
  for (const family of ['-4', '-6'] as const) {
    const locals = (await shown(family)).filter((rule) => rule.endsWith(' 255'))
    expect(locals).toEqual(['100 255'])
  }
  expect(await prepareRoot(on, helper, config)).toBe(0)
})

it('stops steering what arrives at an interface that the node has left, whether it is there or gone', async () => {
  const former = { ...config, fabricInterface: 'old0' }
  await run('ip', ['-n', root, 'link', 'add', 'old0', 'type', 'veth', 'peer', 'name', 'old1'])
  await prepareRoot(run, helper, former)
  await prepareRoot(run, helper, config)
  const kept = (await shown('-4')).filter((rule) => !rule.includes('old0'))
  await run('ip', ['-n', root, 'link', 'delete', 'old0'])
  expect(await removeSteering(run, former)).toBe(7)
  expect(await shown('-4')).toEqual(kept)
  expect((await shown('-6')).join()).not.toContain('old0')
  expect(await removeSteering(run, former)).toBe(0)
})
