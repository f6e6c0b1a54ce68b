import { issueCertificate, recordFault } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { MEMBER_ADDRESS, ProxyLab } from '../../testing/haproxy/proxy-lab.ts'
import { type Field, FLAG, FRAME, frame, headerBlock, openHttp2 } from '../../testing/haproxy/raw-http2.ts'
import {
  sampleEntry,
  sampleMember,
  samplePool,
  sampleService,
  sampleWanted,
} from '../../testing/haproxy/sample-entry.ts'
import { StrictMember } from '../../testing/haproxy/strict-member.ts'

/**
 * Requests of HTTP/2 that become others when they are written as HTTP/1 for a member (RFC 9113 section 10.3). Each
 * connection also sends an honest request behind the hostile one, which must get its own answer.
 */

const lab = await ProxyLab.create()
const NAME = 'a.example'
let port = 0
let plainPort = 0
/** It answers with the request's own path. */
const member = await StrictMember.start((line) => {
  const [method, path = ''] = line.split(' ')
  return `HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${method === 'HEAD' ? '' : path}`
})

beforeAll(async () => {
  const { certificate, key } = issueCertificate({ names: [NAME] })
  const driver = lab.driver()
  const pool = samplePool(1, {
    members: [sampleMember(1, { address: MEMBER_ADDRESS, port: member.port })],
  })
  const timeouts = { clientMs: 2_000, connectMs: 2_000, memberMs: 2_000 }
  const tls = {
    certificates: [lab.storeCertificate(certificate + key)],
    ...{ unknownNames: 'default' as const, minVersion: '1.2' as const, alpn: ['h2', 'http/1.1'] as const },
  }
  const services = [
    sampleService('secure', { protocol: 'https', port: 443, timeouts, tls }),
    sampleService('plain', { timeouts }),
  ]
  await driver.apply({ put: [sampleWanted(sampleEntry('web', services, [pool]))], remove: [] })
  port = driver.proxyPort('secure')!.port
  plainPort = driver.proxyPort('plain')!.port
})
afterEach(() => {
  member.forget()
})
afterAll(async () => {
  member.close()
  await lab.down()
})

const PSEUDO = { method: 'POST', scheme: 'https', authority: NAME, path: '/sent' }
type Pseudo = Partial<Record<keyof typeof PSEUDO, string | null>>

/** The fields of a request. @param change pseudo-headers that differ; null: left out */
const fieldsOf = (change: Pseudo, ...fields: readonly Field[]): readonly Field[] => [
  ...Object.entries({ ...PSEUDO, ...change }).flatMap(([name, value]): readonly Field[] =>
    value === null ? [] : [[`:${name}`, value]],
  ),
  ...fields,
]

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\nX-Injected: 1\r\n\r\n'
const LAST = '0\r\n\r\n'

/** A request: its header, then its body in one frame or none, then its trailer. */
interface Hostile {
  readonly fields: readonly Field[]
  readonly body?: string
  readonly trailer?: readonly Field[]
}

const get = (change: Pseudo, ...fields: readonly Field[]): Hostile => ({
  fields: fieldsOf({ method: 'GET', ...change }, ...fields),
})
const post = (body: string, ...fields: readonly Field[]): Hostile => ({ fields: fieldsOf({}, ...fields), body })

/** What breaks out of a line, or out of a text of C. */
const BREAKS = ['\r\n', '\n', '\r', '\0']
const injected = (end: string): string => `x${end}x-injected: 1${end}${end}${SMUGGLED}`

const CORPUS: readonly (readonly [name: string, hostile: Hostile, mayBeSeen?: readonly string[]])[] = [
  ['an honest GET', get({}), ['/sent']],
  ['an honest body', post('hello', ['content-length', '5']), ['/sent']],
  ['an honest body without a length', post('hello'), ['/sent']],
  ['an honest trailer', { ...post('hello'), trailer: [['x-sum', '1']] }, ['/sent']],
  ['H2.CL, too short', post(`hello${SMUGGLED}`, ['content-length', '5'])],
  ['H2.CL of 0', post(SMUGGLED, ['content-length', '0'])],
  ['H2.CL, too long', post('hello', ['content-length', '500'])],
  ['H2.CL of a GET', { ...get({}, ['content-length', '0']), body: SMUGGLED }],
  ['H2.CL without a body', get({}, ['content-length', `${SMUGGLED.length}`])],
  ['two lengths', post(`hello${SMUGGLED}`, ['content-length', '5'], ['content-length', `${5 + SMUGGLED.length}`])],
  ...['+5', '-5', '0x5', '5,6', '', '5 5', '05x', '99999999999999999999', '5\0'].map(
    (length) => [`length ${JSON.stringify(length)}`, post('hello', ['content-length', length])] as const,
  ),
  ...['chunked', 'identity', 'xchunked', 'chunked, identity', ''].map(
    (coding) => [`H2.TE ${JSON.stringify(coding)}`, post(LAST + SMUGGLED, ['transfer-encoding', coding])] as const,
  ),
  ['H2.TE with a length', post(LAST + SMUGGLED, ['content-length', '5'], ['transfer-encoding', 'chunked'])],
  ...['transfer-encoding ', ' transfer-encoding', 'Transfer-Encoding', 'transfer-encoding\t', 'transfer-encoding:'].map(
    (name) => [`H2.TE ${JSON.stringify(name)}`, post(LAST + SMUGGLED, [name, 'chunked'])] as const,
  ),
  ...(
    [
      ['connection', 'transfer-encoding'],
      ['connection', 'close'],
      ['keep-alive', 'timeout=1'],
      ['proxy-connection', 'keep-alive'],
      ['upgrade', 'h2c'],
      ['te', 'chunked'],
    ] as const
  ).map((field) => [`of one hop: ${field.join(' ')}`, post('hello', field)] as const),
  ...BREAKS.flatMap((end) =>
    (
      [
        ['a value', get({}, ['x-value', injected(end)])],
        ['a name', get({}, [`x-name: ${injected(end)}`, 'x'])],
        ['the method', get({ method: `GET /smuggled HTTP/1.1${end}x-injected: 1${end}${end}GET` })],
        ['the path', get({ path: `/sent HTTP/1.1${end}x-injected: 1${end}${end}GET /smuggled` })],
        ['the authority', get({ authority: `${NAME}${end}x-injected: 1` })],
        ['the scheme', get({ scheme: `https${end}x-injected: 1` })],
        ['a cookie', get({}, ['cookie', `a=1${end}x-injected: 1`], ['cookie', 'b=2'])],
        ['a trailer', { ...post('hello'), trailer: [['x-sum', injected(end)]] as const }],
      ] as const
    ).map(([where, hostile]) => [`${JSON.stringify(end)} in ${where}`, hostile, ['/sent']] as const),
  ),
  ['a space in the path', get({ path: '/sent HTTP/1.1' })],
  ['a space in the method', get({ method: 'GET /smuggled' })],
  ['a space in the scheme', get({ scheme: 'http://a/smuggled HTTP/1.1 ' }), ['/sent']],
  ['a path without a slash', get({ path: 'smuggled' })],
  ['an empty path', get({ path: '' })],
  ['a path that is a URL', get({ path: 'https://other.example/sent' }), ['https://other.example/sent', '/sent']],
  ['an asterisk', get({ path: '*' }), ['/']],
  ['no path', get({ path: null })],
  ['no method', get({ method: null })],
  ['no scheme', get({ scheme: null })],
  ['two paths', get({}, [':path', '/smuggled'])],
  ['two methods', get({}, [':method', 'POST'])],
  ['a pseudo-header behind a header', get({ path: null }, ['x', 'y'], [':path', '/sent'])],
  ['an unknown pseudo-header', get({}, [':status', '200'])],
  ['an empty name', get({}, ['', 'x'])],
  ['a name with a colon', get({}, ['x:y', 'z'])],
  ['a name of 270 characters', post('hello', [`content-length0${'a'.repeat(255)}`, '1']), ['/sent']],
  ['another host than the authority', get({}, ['host', 'other.example']), ['/sent']],
  ['two hosts', get({ authority: null }, ['host', NAME], ['host', 'other.example']), ['/sent']],
  ['a user in the authority', get({ authority: `user:pass@${NAME}` }), ['/sent']],
  [
    'CONNECT',
    {
      fields: [
        [':method', 'CONNECT'],
        [':authority', '127.0.0.1:22'],
      ],
    },
    ['127.0.0.1:22'],
  ],
  ['CONNECT with a path', get({ method: 'CONNECT' })],
  ['WebSockets with a body of requests', { ...get({ method: 'CONNECT' }, [':protocol', 'websocket']), body: SMUGGLED }],
  ['another protocol', get({ method: 'CONNECT' }, [':protocol', 'connect-udp'])],
  ['a trailer that frames', { ...post('hello'), trailer: [['content-length', '500']] }, ['/sent']],
  ['a trailer that codes', { ...post('hello'), trailer: [['transfer-encoding', 'chunked']] }, ['/sent']],
  ['a trailer with a path', { ...post('hello'), trailer: [[':path', '/smuggled']] }, ['/sent']],
]

const framesOf = ({ fields, body, trailer }: Hostile): readonly Buffer[] => {
  const flags = (isLast: boolean) => FLAG.endHeaders | (isLast ? FLAG.endStream : 0)
  return [
    frame(FRAME.headers, flags(body === undefined), 1, headerBlock(fields)),
    ...(body === undefined ? [] : [frame(FRAME.data, trailer === undefined ? FLAG.endStream : 0, 1, body)]),
    ...(trailer === undefined ? [] : [frame(FRAME.headers, flags(true), 1, headerBlock(trailer))]),
  ]
}

const HONEST = headerBlock(fieldsOf({ method: 'GET', path: '/honest' }))

it.each(['TLS', 'plain'] as const)(
  'a member sees the requests that were sent and no other, whatever a client of HTTP/2 makes of them: over %s',
  async (way) => {
    const wrong: string[] = []
    let [passed, refused] = [0, 0]
    for (const [name, hostile, mayBeSeen = ['/sent']] of CORPUS) {
      member.forget()
      const to = { host: lab.place.address4!, port: way === 'TLS' ? port : plainPort }
      const client = await openHttp2(to, way === 'TLS' ? NAME : null)
      client.write(...framesOf(hostile))
      client.write(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 3, HONEST))
      const [answer, honest] = await Promise.all([client.ended(1), client.ended(3)])
      client.end()
      const reads = member.reads
      const paths = reads.flatMap(({ whole }) => whole.map((line) => line.split(' ')[1]!))
      const seen = paths.filter((path) => path !== '/honest')
      for (const { doubt } of reads) if (doubt !== null) wrong.push(`${name}: forwarded with ${doubt}`)
      if (/^x-injected/im.test(Buffer.concat(member.connections).toString('latin1').replaceAll(SMUGGLED, '')))
        wrong.push(`${name}: a field was injected`)
      if (seen.length > 1 || seen.some((path) => !mayBeSeen.includes(path)))
        wrong.push(`${name}: seen ${seen.join(' ')}`)
      if (answer.status === 200 && !mayBeSeen.includes(answer.body)) wrong.push(`${name}: answered ${answer.body}`)
      if (honest.status === 200 && honest.body !== '/honest') wrong.push(`${name}: the next got ${honest.body}`)
      if (name.startsWith('an honest') && (answer.status !== 200 || honest.status !== 200))
        wrong.push(`${name}: ${answer.status}, ${honest.status}`)
      if (answer.status === 200) passed++
      else refused++
    }
    expect(wrong).toEqual([])
    recordFault({
      fault: `${CORPUS.length} ways to smuggle a request past a proxy (HTTP/2 over ${way})`,
      outcome:
        'a member sees what was sent, each message with one reading, or nothing; the next request gets its own answer',
      figure: `${passed} passed on, ${refused} refused, 0 smuggled`,
    })
  },
  60_000,
)
