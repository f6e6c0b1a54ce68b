import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { NamedFabric } from '@spout/agent'
import { FABRIC, Lab, type PlaceName } from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { agentConfig } from './config.ts'
import { changeFabricRecord, type FabricRecord, readFabricRecord } from './fabric-record.ts'
import { composeFabric, groupFabric } from './group-fabric.ts'

// A node of the lab has two interfaces with addresses: `fab0` and `mgmt0`.

const NODE: PlaceName = 'node1'
const OWN = '198.51.100.2'
const NO_RECORD: FabricRecord = { interface: null, group: null }

let lab: Lab
let file: string
beforeAll(async () => {
  lab = await Lab.create()
})
afterAll(() => lab?.destroy())
beforeEach((context) => {
  file = join(lab.directory, context.task.id, 'fabric.json')
})

const settings = (fabric: object = {}) =>
  agentConfig.parse({ fabric: { interface: '', address: OWN, namespace: lab.namespace(NODE), ...fabric } })
const composed = (group: NamedFabric, fabric: object = {}) =>
  composeFabric(settings(fabric), { ...NO_RECORD, interface: 'fab0', group })
async function judgeOf(fabric: object = {}) {
  const config = settings(fabric)
  return groupFabric(config, file, await composeFabric(config, NO_RECORD), () => {})
}

it('is the one that the group named last, else the one that has the address', async () => {
  expect(await composeFabric(settings(), NO_RECORD)).toMatchObject({ interface: 'fab0', verdict: { state: 'here' } })
  expect(await composed({ interface: 'mgmt0' })).toMatchObject({ interface: 'mgmt0', verdict: { state: 'here' } })
  expect(await composed({ reaches: lab.hostAddress })).toMatchObject({ interface: 'mgmt0' })
})

it('is that of the own settings, whatever the group names', async () => {
  expect(await composed({ interface: 'mgmt0' }, { interface: 'fab0' })).toMatchObject({
    interface: 'fab0',
    named: null,
  })
  const reaches = { reaches: FABRIC.gateway }
  expect(await composed({ interface: 'mgmt0' }, reaches)).toMatchObject({ interface: 'fab0', named: null })
  const fabric = await judgeOf({ interface: 'fab0' })
  for (const named of [null, { interface: 'mgmt0' }, { interface: 'edge0' }])
    expect(await fabric.judge(named)).toEqual({ state: 'here' })
})

it('is missing, with the reason, if the node has none such', async () => {
  expect(await composed({ interface: 'edge0' })).toEqual({
    interface: 'fab0',
    named: { interface: 'edge0' },
    verdict: { state: 'missing', reason: 'the node has no interface edge0' },
  })
  const { verdict } = await composed({ reaches: '203.0.113.10' })
  expect(verdict).toMatchObject({ state: 'missing', reason: expect.stringContaining('is behind a router') })
})

it('is judged against the one that the agent works on, and remembered for the next', async () => {
  await changeFabricRecord(file, { interface: 'fab0' })
  const fabric = await judgeOf()
  const said = async (named: NamedFabric) => (await fabric.judge(named)).state
  expect(await said({ interface: 'fab0' })).toBe('here')
  expect(await said({ reaches: FABRIC.gateway })).toBe('here')
  expect(await said({ interface: 'edge0' })).toBe('missing')
  expect(await said({ interface: 'mgmt0' })).toBe('elsewhere')
  expect(await readFabricRecord(file)).toEqual({ interface: 'fab0', group: { interface: 'mgmt0' } })
  expect(await said(null)).toBe('here')
  expect(await readFabricRecord(file)).toEqual({ interface: 'fab0', group: null })
})

it('is composed by the address if the file of the last agent is damaged, and written anew', async () => {
  await changeFabricRecord(file, { interface: 'mgmt0' })
  await writeFile(file, '{"interface": 7')
  const damaged: unknown[] = []
  const record = await readFabricRecord(file, (error) => damaged.push(error))
  expect([record, damaged.length]).toEqual([NO_RECORD, 1])
  expect(await composeFabric(settings(), record)).toMatchObject({ interface: 'fab0' })
  await changeFabricRecord(file, { interface: 'fab0' })
  expect(await readFabricRecord(file)).toEqual({ ...NO_RECORD, interface: 'fab0' })
})

it('knows which of its addresses are on another interface', async () => {
  const fabric = await judgeOf()
  expect(await fabric.elsewhere(OWN)).toBeNull()
  expect(await fabric.elsewhere('203.0.113.77')).toBeNull()
  const managed = JSON.parse(await lab.must(NODE, ['ip', '-j', 'address', 'show', 'dev', 'mgmt0'])) as {
    addr_info: { local: string }[]
  }[]
  expect(await fabric.elsewhere(managed[0]?.addr_info[0]?.local ?? '')).toBe('mgmt0')
})
