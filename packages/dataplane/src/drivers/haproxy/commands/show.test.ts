import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Comparison,
  comparedRows,
  comparedServers,
  parseFrontendStats,
  parseInfo,
  parseMaps,
  parseMirrors,
  parseServerStats,
  parseServers,
} from './show.ts'

// As HAProxy 2.6.12 says it.
const SERVERS = `1
# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state bk_f_forced_id srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl srv_check_port srv_check_addr srv_agent_addr srv_agent_port
4 b0 2 m1 127.0.0.1 2 0 10 10 0 1 0 2 0 0 0 1 - 8081 - 0 0 - - 0
4 b0 3 m2 127.0.0.1 2 0 0 0 0 1 0 0 0 0 0 1 - 8082 - 0 0 - - 0
5 b1 3 m3 fd00::1 0 1 1 1 0 1 0 0 0 0 0 1 - 8082 - 0 0 - - 0
6 other 3 m3 fd00::1 0 1 1 1 0 1 0 0 0 0 0 1 - 8082 - 0 0 - - 0`

const STAT = `# pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,dreq,dresp,ereq,econ,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,req_tot
f0,FRONTEND,,,2,3,4000,41,5120,90210,0,0,7,,1,30,2,8,3,44
f12,FRONTEND,,,0,0,4000,0,0,0,0,0,0,,,,,,,
stats,FRONTEND,,,0,0,4000,9,9,9,0,0,9,,0,9,0,0,0,9`

const NO_RESPONSES = { '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 }

// The columns that matter, of many more.
const SERVER_STAT = `# pxname,svname,stot,econ,eresp,wretr,wredis,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,connect,reuse,
b0,m1,1035,0,3,0,0,0,1024,1,2,4,900,135,
b0,m2,32,1,0,2,32,0,0,0,0,0,35,0,
b1,m3,5,0,0,0,0,,,,,,5,,`

describe('show', () => {
  it('info', () => {
    const text = 'Name: HAProxy\nMaxconn: 8000\nHard_maxconn: 9\nCurrConns: 21\nCumConns: 22\nMaxConnRate: 3\n'
    const table = '# table: all, type: integer, size:1, used:1'
    const row = '0x5581d2a5f2d8: key=0 use=17 exp=9998 shard=0 conn_cur=17'
    expect(parseInfo(text, `${table}\n${row}\n`)).toEqual({ current: 17, most: 4000, droppedLines: 0 })
    expect(parseInfo(text, `${table}\n`)).toEqual({ current: 0, most: 4000, droppedLines: 0 })
    expect(parseInfo('Permission denied', 'Permission denied')).toBeNull()
  })

  it('reads the copies of requests', () => {
    expect(parseMirrors('3 128 17\n')).toEqual({ current: 3, most: 128, notMade: 17 })
    expect(
      parseMirrors("Unknown command: 'show mirrors', but maybe one of the following ones is a better match:"),
    ).toBeNull()
  })

  it('stat of servers', () => {
    expect(parseServerStats(SERVER_STAT)).toEqual(
      new Map([
        ['m1', { connected: 1035, notConnected: 0, answered: 1027, badAnswers: 7 }],
        ['m2', { connected: 0, notConnected: 35, answered: 0, badAnswers: 0 }],
        ['m3', { connected: 5, notConnected: 0, answered: 0, badAnswers: 0 }],
      ]),
    )
    expect(parseServerStats("Can't find backend.")).toEqual(new Map())
  })

  it('servers state', () => {
    expect(parseServers(SERVERS)).toEqual(
      new Map([
        [
          0,
          new Map([
            ['m1', { weight: 10, ready: true }],
            ['m2', { weight: 0, ready: true }],
          ]),
        ],
        [1, new Map([['m3', { weight: 1, ready: false }]])],
      ]),
    )
  })

  it('stat', () => {
    expect(parseFrontendStats(STAT)).toEqual(
      new Map([
        [
          0,
          {
            ...{ current: 2, total: 41, bytesIn: 5120, bytesOut: 90210, requestErrors: 7, requests: 44 },
            ...{ '1xx': 1, '2xx': 30, '3xx': 2, '4xx': 8, '5xx': 3 },
          },
        ],
        [12, { current: 0, total: 0, bytesIn: 0, bytesOut: 0, requestErrors: 0, requests: 0, ...NO_RESPONSES }],
      ]),
    )
  })

  it('map', () => {
    expect(parseMaps({ backend: '0x563b641e2aa0 f0 b0\n0x563b641e2b80 f1 b1' }).frontends).toEqual(
      new Map([
        [0, { backend: 'b0' }],
        [1, { backend: 'b1' }],
      ]),
    )
  })

  it.each(['', 'Unknown command', 'a\nb\nc'])('nothing out of %o', (text) => {
    expect(parseServers(text)).toEqual(new Map())
    expect(parseFrontendStats(text)).toEqual(new Map())
  })
})

/** Few names and values, so that pairs are often equal or nearly. */
const few = fc.constantFrom('a', 'b', 'c')

function sees(text: string, compared: Comparison): boolean {
  for (const line of text.split('\n')) compared.take(line)
  return compared.isSame
}

describe('whether what is shown is what is known', () => {
  it('rows of a map, whatever else is known', () => {
    const rows = fc.dictionary(
      fc.tuple(fc.nat(2), few, few).map(([slot, host, path]) => `f${slot}/${host}/${path}`),
      few,
    )
    const text = (all: Readonly<Record<string, string>>) =>
      Object.entries(all)
        .map(([key, value], at) => `0x${at} ${key} ${value}`)
        .join('\n')
    fc.assert(
      fc.property(rows, rows, rows, (shown, known, others) => {
        const content = parseMaps({ paths: text(known), filters: text(others) })
        const read = parseMaps({ paths: text(shown), filters: text(others) })
        expect(sees(text(shown), comparedRows('paths', content.rows))).toBe(isDeepStrictEqual(read.rows, content.rows))
        expect(sees(text(known), comparedRows('paths', content.rows))).toBe(true)
      }),
    )
  })

  it('servers', () => {
    const servers = fc.dictionary(
      fc.tuple(fc.nat(2), few).map(([slot, name]) => `b${slot} 2 ${name}`),
      fc.tuple(fc.nat(1), fc.nat(1)).map((fields) => fields.join(' ')),
    )
    const text = (all: Readonly<Record<string, string>>) =>
      [
        '1',
        '# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight',
        ...Object.entries(all).map(([server, state]) => `4 ${server} 10.0.0.1 2 ${state} 1`),
      ].join('\n')
    fc.assert(
      fc.property(servers, servers, (shown, known) => {
        const content = parseServers(text(known))
        const isSame = isDeepStrictEqual(parseServers(text(shown)), content)
        expect(sees(text(shown), comparedServers(content))).toBe(isSame)
        expect(sees(text(known), comparedServers(content))).toBe(true)
      }),
    )
  })
})
