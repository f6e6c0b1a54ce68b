import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CheckSpec, MemberHealth } from '@spout/model'
import { NativeHelper } from '@spout/sys'
import { waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CheckTarget } from '../contracts/check.ts'
import { HELPER_PATH, silent } from '../testing/lab-node.ts'
import { httpCheck } from './http.ts'
import { Prober } from './prober.ts'

let helper: NativeHelper
let server: http.Server
/** Requests that the server leaves without an answer from now on. */
let toLeave = 0

beforeAll(async () => {
  helper = await NativeHelper.start({ path: HELPER_PATH, log: silent })
  server = http.createServer((_, response) => {
    if (toLeave > 0) toLeave--
    else response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await helper.close()
})

it('a member stays up while this machine stands still for longer than a probe may take', async () => {
  const spec: CheckSpec = {
    type: 'http',
    intervalMs: 1_000,
    timeoutMs: 1_000,
    rise: 1,
    fall: 1,
    http: { method: 'GET', path: '/', expectedCodes: [{ first: 200, last: 200 }], version: '1.0', host: null },
  }
  const real = httpCheck(helper, () => undefined)
  const failed: number[] = []
  let ended = 0
  const run = async (target: CheckTarget) => {
    const result = await real.run(target)
    ended++
    if (!result.ok) failed.push(result.durationMs)
    return result
  }
  const told: MemberHealth['health'][] = []
  const prober = new Prober({
    checks: [{ type: 'http', run }],
    log: silent,
    onChange: (changed) => told.push(...changed.map(({ health }) => health)),
  })
  const { port } = server.address() as AddressInfo
  const subscriber = { loadBalancerId: 'lb', poolId: 'p', memberId: 'm' }
  prober.put('lb', [{ subscriber, target: { domain: 1, address: '127.0.0.1', port, spec }, owner: 1 }])
  try {
    await waitFor(() => told.at(-1) === 'up', { what: 'the member to be up' })
    toLeave = 1
    await waitFor(() => toLeave === 0, { what: 'a probe under way', everyMs: 1 })
    process.kill(helper.pid!, 'SIGSTOP')
    const before = ended
    const since = performance.now()
    await waitFor(() => performance.now() - since > spec.timeoutMs + 100, { what: 'its time to be over' })
    process.kill(helper.pid!, 'SIGCONT')
    await waitFor(() => ended >= before + 2, { what: 'the probe after it' })
    expect(failed).toHaveLength(1)
    expect(failed[0]).toBeGreaterThan(spec.timeoutMs + 20)
  } finally {
    process.kill(helper.pid!, 'SIGCONT')
    prober.close()
  }
  expect(told).toEqual(['unknown', 'up'])
})
