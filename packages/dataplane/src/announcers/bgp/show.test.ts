import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ControlReply, isRefusal, ReplyReader, replyText } from './control-reply.ts'
import { parseNetstat } from './dropped-segments.ts'
import { parseBfd } from './show-bfd.ts'
import { parseProtocols } from './show-protocols.ts'

const recorded = (name: string): ControlReply => {
  const [reply] = new ReplyReader().read(readFileSync(new URL(`testdata/${name}`, import.meta.url), 'utf8'))
  return reply!
}

describe('ReplyReader', () => {
  const line = fc.stringMatching(/^[ -~]{0,30}$/)
  const reply = fc.record({
    first: fc.array(fc.record({ code: fc.integer({ min: 0, max: 9_999 }), text: line, more: fc.array(line) })),
    last: fc.record({ code: fc.integer({ min: 0, max: 9_999 }), text: line }),
  })
  const coded = (code: number) => String(code).padStart(4, '0')

  it('finds the replies however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(reply, { maxLength: 5 }), fc.array(fc.nat(40)), (replies, cuts) => {
        const text = replies
          .map(({ first, last }) =>
            [
              ...first.flatMap(({ code, text, more }) => [`${coded(code)}-${text}`, ...more.map((each) => ` ${each}`)]),
              `${coded(last.code)} ${last.text}`,
            ].join('\n'),
          )
          .join('\n')
        const reader = new ReplyReader()
        const found: ControlReply[] = []
        let rest = replies.length === 0 ? '' : `${text}\n`
        for (const cut of cuts) {
          found.push(...reader.read(rest.slice(0, cut)))
          rest = rest.slice(cut)
        }
        found.push(...reader.read(rest))
        expect(found).toEqual(
          replies.map(({ first, last }) => ({
            code: last.code,
            lines: [
              ...first.flatMap(({ code, text, more }) => [text, ...more].map((each) => ({ code, text: each }))),
              { code: last.code, text: last.text },
            ],
          })),
        )
      }),
    )
  })

  it('tells a refusal and its words', () => {
    const [refused] = new ReplyReader().read('0002-Reading configuration from x\n8002 x:1:2 syntax error\n')
    expect(isRefusal(refused!)).toBe(true)
    expect(replyText(refused!)).toBe('x:1:2 syntax error')
  })
})

describe('parsers of what the daemon shows', () => {
  it('never throw', () => {
    const words = fc.constantFrom(
      'BGP',
      'Channel ipv4',
      'Routes:',
      '1 exported',
      'Hold timer:',
      '/',
      'Up',
      '0.1',
      'p1 ',
    )
    const text = fc.oneof(
      fc.string(),
      fc.array(words).map((some) => some.join(' ')),
    )
    const lines = fc.array(fc.record({ code: fc.constantFrom(1002, 1006, 1020, 0), text }))
    fc.assert(
      fc.property(lines, (lines) => {
        parseProtocols({ code: 0, lines })
        parseBfd({ code: 0, lines })
        parseNetstat(lines.map((each) => each.text).join('\n'))
      }),
    )
  })

  it('read an established session over its prefix limit, and one that is not', () => {
    expect(parseProtocols(recorded('show-protocols.txt'))).toEqual([
      {
        name: 'peer_a',
        protocolState: 'up',
        since: '2026-11-21 15:37:07.746',
        bgpState: 'Established',
        neighborAddress: '10.9.0.254',
        lastError: null,
        holdTimeS: 240,
        keepaliveTimeS: 80,
        neighborRestarts: true,
        channels: [
          { family: 'ipv4', state: 'UP', exported: 1, received: 2, limited: true },
          { family: 'ipv6', state: 'UP', exported: 12, received: 0, limited: false },
        ],
      },
      {
        name: 'peer_b',
        protocolState: 'start',
        since: '2026-11-21 15:37:06.943',
        bgpState: 'Connect',
        neighborAddress: '10.9.0.253',
        lastError: 'Socket: Connection refused',
        holdTimeS: null,
        keepaliveTimeS: null,
        neighborRestarts: false,
        channels: [{ family: 'ipv4', state: 'DOWN', exported: 0, received: 0, limited: false }],
      },
    ])
  })

  it('read BFD sessions', () => {
    expect(parseBfd(recorded('show-bfd.txt'))).toEqual([
      { address: '10.9.0.254', state: 'up', since: '2026-11-21 15:27:50.123', intervalMs: 10, timeoutMs: 30 },
      { address: 'fe80::1', state: 'down', since: '2026-11-21 15:27:50.123', intervalMs: 1_000, timeoutMs: 0 },
    ])
  })

  it('read what the kernel dropped', () => {
    const text = 'TcpExt: A TCPMD5NotFound TCPMD5Unexpected TCPMD5Failure\nTcpExt: 9 1 2 3\nIpExt: X\nIpExt: 7\n'
    expect(parseNetstat(text)).toEqual({ wrong: 4, unexpected: 2 })
  })
})
