import path from 'node:path'
import { expect, it } from 'vitest'
import { needing, runTimeNeeds } from './run-time-needs.ts'

const graph = runTimeNeeds(path.resolve(import.meta.dirname, '../..'))
/** The names of the test files: their folders may change. */
const testsOf = (file: string): readonly string[] =>
  [...needing(graph, [file])].filter((one) => one.endsWith('.test.ts')).map((one) => path.basename(one))

it('leads through workspace packages, by the names that are taken from them', () => {
  const tests = testsOf('packages/plan/src/slots/edit-slots.ts')
  expect(tests).toContain('plan-controller.test.ts')
  expect(tests).toContain('slots.test.ts')
  expect(tests).not.toContain('ipam.test.ts')
  expect(tests).not.toContain('transport.test.ts')
})

it('a package imported whole, and its index, concern all importers', () => {
  expect(testsOf('packages/net/src/cidr.ts')).toContain('net.test.ts')
  expect(testsOf('packages/kube/src/index.ts')).toContain('faults.contract.test.ts')
})

it('leads from C to the tests that start the program, and to whatever starts an agent', () => {
  const mover = testsOf('native/mover/run.c')
  expect(mover).toContain('mover.lab.test.ts')
  expect(mover).toContain('failover.e2e.test.ts')
  expect(mover).not.toContain('native-helper.contract.test.ts')
  expect(testsOf('native/helper/probes/sctp.c')).toContain('native-helper.contract.test.ts')
  // Linked into the mover, too.
  expect(testsOf('native/net/address.h')).toContain('mover.lab.test.ts')
})

it('leads to programs that tests start, and to data that they read', () => {
  expect(testsOf('apps/connector/src/connector.ts')).toContain('services.e2e.test.ts')
  expect(testsOf('packages/server/src/authn/scrypt-worker.ts')).toContain('password.test.ts')
  const data = testsOf('packages/intents/service/src/to-model/testdata/new.json')
  expect(data).toContain('draft.test.ts')
  expect(data).not.toContain('sharing.test.ts')
})
