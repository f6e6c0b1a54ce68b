import type { CheckSpec } from '@spout/model'
import type { UdpResult } from '@spout/sys'
import { expect, it } from 'vitest'
import { udpCheck } from './udp.ts'

const spec: CheckSpec = { type: 'udp', intervalMs: 1_000, timeoutMs: 500, rise: 1, fall: 1, http: null }
const target = { domain: 1, address: '10.0.0.1', port: 53, spec }
const answered: UdpResult = { answered: true, durationMs: 1 }
const silent: UdpResult = { answered: false, reason: 'timed out', durationMs: 500 }
const refused: UdpResult = { answered: false, reason: 'connection refused', durationMs: 1 }

it('takes silence for health, but not soon after a refusal, which a host does not repeat at once', async () => {
  let nowMs = 0
  let result: UdpResult = answered
  const check = udpCheck(
    { udp: async (): Promise<UdpResult> => result },
    () => undefined,
    () => nowMs,
  )
  const says = async (next: UdpResult, atMs: number, port = 53) => {
    result = next
    nowMs = atMs
    return (await check.run({ ...target, port })).reason
  }
  expect(await says(silent, 0)).toBeNull()
  expect(await says(refused, 1_000)).toBe('connection refused')
  expect(await says(silent, 2_000)).toBe('connection refused')
  expect(await says(silent, 2_000, 54)).toBeNull()
  expect(await says(refused, 9_000)).toBe('connection refused')
  expect(await says(silent, 18_900)).toBe('connection refused')
  expect(await says(silent, 19_000)).toBeNull()
  expect(await says(refused, 20_000)).toBe('connection refused')
  expect(await says(answered, 20_100)).toBeNull()
  expect(await says(silent, 20_200)).toBeNull()
})
