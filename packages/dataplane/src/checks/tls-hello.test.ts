import type { CheckSpec } from '@spout/model'
import type { Connect, ConnectResult } from '@spout/sys'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clientHello } from './client-hello.ts'
import { judgeHello, tlsHelloCheck } from './tls-hello.ts'

const spec: CheckSpec = { type: 'tls-hello', intervalMs: 1_000, timeoutMs: 500, rise: 1, fall: 1, http: null }
const target = { domain: 7, address: '10.0.0.9', port: 8443, spec }

type End = 'full' | 'closed' | 'timeout' | 'reset'
const received = (hex: string, end: End = 'full'): ConnectResult => ({
  connected: true,
  received: Buffer.from(hex, 'hex'),
  end,
  durationMs: 2,
})

describe('tlsHelloCheck', () => {
  it.each<[string, ConnectResult, string | null]>([
    ['a hello of TLS 1.2 and later', received('1603030056' + '0200'), null],
    ['a hello of TLS 1.0', received('1603010056' + '0200'), null],
    ['another message', received('1603030056' + '0e00'), 'the answer is not TLS'],
    ['a refusal', received('1503030002' + '0228'), 'refused the TLS handshake (handshake failure)'],
    ['a refusal with a code nobody knows', received('1503030002' + '02fe'), 'refused the TLS handshake (alert 254)'],
    ['a record of another kind', received('1703030056' + '0200'), 'the answer is not TLS'],
    ['SSL 2', received('1602000056' + '0200'), 'the answer is not TLS'],
    ['HTTP', received(Buffer.from('HTTP/1.').toString('hex')), 'the answer is not TLS'],
    ['half a hello, and an end', received('160303', 'closed'), 'the answer is not TLS'],
    ['half a hello in time', received('160303', 'timeout'), 'timed out after 500 ms'],
    ['nothing in time', received('', 'timeout'), 'timed out after 500 ms'],
    ['an end', received('', 'closed'), 'closed without an answer'],
    ['a reset', received('', 'reset'), 'connection reset'],
    ['a refusal to connect', { connected: false, reason: 'connection refused', durationMs: 1 }, 'connection refused'],
    ['nobody', { connected: false, reason: 'timed out', durationMs: 500 }, 'timed out after 500 ms'],
  ])('%s', async (_, result, reason) => {
    const asked: Connect[] = []
    const connect = async (request: Connect) => {
      asked.push(request)
      return result
    }
    const check = tlsHelloCheck({ connect }, (domain) => `/run/netns/d${domain}`)
    expect(await check.run(target)).toEqual({ ok: reason === null, reason, durationMs: result.durationMs })
    const { send, ...rest } = asked[0]!
    expect(rest).toEqual({ netns: '/run/netns/d7', address: '10.0.0.9', port: 8443, timeoutMs: 500, maxBytes: 7 })
    expect(send).toEqual(await clientHello())
  })

  it('gives a reason for any answer, and accepts only the start of a ServerHello', () => {
    const ends = fc.constantFrom<End>('full', 'closed', 'timeout', 'reset')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 7 }), ends, (bytes, end) => {
        const isHello = bytes.length === 7 && bytes[0] === 22 && bytes[1] === 3 && bytes[5] === 2
        expect(judgeHello({ received: bytes, end }, 500) === null).toBe(isHello)
      }),
    )
  })
})

describe('clientHello', () => {
  it('is one handshake record that fits into a segment, and the same each time', async () => {
    const hello = Buffer.from(await clientHello())
    expect(hello[0]).toBe(22)
    expect(hello[5]).toBe(1)
    expect(hello.readUInt16BE(3)).toBe(hello.length - 5)
    expect(hello.length).toBeLessThan(1_200)
    expect(await clientHello()).toEqual(await clientHello())
  })
})
