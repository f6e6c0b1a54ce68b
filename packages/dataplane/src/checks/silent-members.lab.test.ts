import { createSocket, type Socket } from 'node:dgram'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CheckSpec, MemberHealth } from '@spout/model'
import { NativeHelper } from '@spout/sys'
import { msSince, recordFault, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HELPER_PATH, silent } from '../testing/lab-node.ts'
import type { WantedProbe } from './probe-plan.ts'
import { Prober } from './prober.ts'
import { tcpCheck } from './tcp.ts'
import { udpCheck } from './udp.ts'

const SILENT_MEMBERS = 600
const HOURS: CheckSpec = { type: 'udp', intervalMs: 1_000, timeoutMs: 3_600_000, rise: 1, fall: 1, http: null }
const QUICK: CheckSpec = { type: 'tcp', intervalMs: 200, timeoutMs: 200, rise: 1, fall: 1, http: null }

let helper: NativeHelper
const sockets: Socket[] = []

beforeAll(async () => {
  helper = await NativeHelper.start({ path: HELPER_PATH, log: silent })
  // They accept datagrams and never answer.
  for (let n = 0; n < SILENT_MEMBERS; n++) {
    const socket = createSocket('udp4')
    sockets.push(socket)
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  }
})
afterAll(async () => {
  for (const socket of sockets) socket.close()
  await helper.close()
})

it('silent members of one tenant, with time-outs of hours, do not hide a dead member of another, and are cancelled when they are removed', async () => {
  const told: MemberHealth[] = []
  const prober = new Prober({
    checks: [udpCheck(helper, () => undefined), tcpCheck(helper, () => undefined)],
    log: silent,
    onChange: (changed) => told.push(...changed),
  })
  const server = http.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const probe = (domain: number, port: number, spec: CheckSpec): WantedProbe => ({
    target: { domain, address: '127.0.0.1', port, spec },
    subscriber: { loadBalancerId: `lb${domain}`, poolId: 'p', memberId: `${port}` },
    owner: domain,
  })
  const { port } = server.address() as AddressInfo
  const health = () => prober.health('honest')[0]?.health
  try {
    prober.put(
      'silent',
      sockets.map((socket) => probe(1, socket.address().port, HOURS)),
    )
    await waitFor(() => prober.delayed > 0, { what: 'the silent members to take what they get' })
    prober.put('honest', [probe(2, port, QUICK)])
    await waitFor(() => health() === 'up', { what: 'the honest member to be found' })
    const diedAt = performance.now()
    server.close()
    server.closeAllConnections()
    await waitFor(() => health() === 'down', { what: 'its death to be seen', everyMs: 1 })
    const figure = msSince(diedAt)
    prober.remove('silent')
    prober.remove('honest')
    await waitFor(async () => (await helper.stats()).probesInFlight === 0, { what: 'all probes to be given up' })
    expect(told.some(({ health: said }) => said === 'down')).toBe(true)
    recordFault({
      fault: 'tenant: 600 silent members, time-outs of an hour',
      outcome: 'the death of another tenant’s member is seen (every 200 ms); no probe is left when they are deleted',
      figure,
    })
  } finally {
    prober.close()
    server.close()
  }
})
