import type { NodeRoute } from '@spout/model'
import { recordFault } from '@spout/testkit'
import { afterAll, afterEach, expect, it } from 'vitest'
import { MEMBER_ADDRESS, ProxyLab } from '../../testing/haproxy/proxy-lab.ts'
import {
  sampleEntry,
  sampleMember,
  samplePool,
  sampleRoute,
  sampleService,
  sampleWanted,
} from '../../testing/haproxy/sample-entry.ts'
import { sendRaw } from '../../testing/haproxy/send-raw.ts'
import { StrictMember } from '../../testing/haproxy/strict-member.ts'

/**
 * Requests that two parsers read differently (RFC 9112 section 11.2). What the proxy sends to a member is read
 * strictly: a message that leaves room for a second reading is a failure, whatever it would be read as.
 */

const lab = await ProxyLab.create()
let port = 0
const member = await StrictMember.start(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')

/** Puts a proxied listener with one pool, the member above. */
async function serve(routes: readonly NodeRoute[] = []): Promise<void> {
  const driver = lab.driver()
  const pool = samplePool(1, {
    members: [sampleMember(1, { address: MEMBER_ADDRESS, port: member.port })],
  })
  const timeouts = { clientMs: 1_000, connectMs: 1_000, memberMs: 1_000 }
  const service = sampleService('web', { timeouts, ...(routes.length > 0 && { routes }) })
  await driver.apply({ put: [sampleWanted(sampleEntry('web', [service], [pool]))], remove: [] })
  port = driver.proxyPort('web')!.port
}

afterEach(async () => {
  member.forget()
  await lab.clear()
})
afterAll(async () => {
  member.close()
  await lab.down()
})

const send = async (bytes: string): Promise<string> =>
  (await sendRaw({ host: lab.place.address4!, port }, [Buffer.from(bytes, 'latin1')], true)).toString('latin1')

const head = (line: string, ...fields: readonly string[]): string => [line, 'Host: a', ...fields, '', ''].join('\r\n')
const POST = 'POST /sent HTTP/1.1'
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
const CHUNKED = 'Transfer-Encoding: chunked'
const chunk = (text: string, extension = ''): string => `${text.length.toString(16)}${extension}\r\n${text}\r\n`
const LAST = '0\r\n\r\n'

/**
 * Bytes that are sent, and the requests that a member may see: those of the only reading that RFC 9112 allows. The
 * proxy may refuse any of them, with all that follow.
 */
const CORPUS: readonly (readonly [name: string, bytes: string, mayBeSeen: readonly string[]])[] = [
  ['two honest requests in a row', head('GET /one HTTP/1.1') + head('GET /two HTTP/1.1'), ['/one', '/two']],
  ['an honest body', `${head(POST, 'Content-Length: 5')}hello`, ['/sent']],
  ['honest chunks', head(POST, CHUNKED) + chunk('hello') + LAST, ['/sent']],
  ['CL.TE', head(POST, `Content-Length: ${LAST.length + SMUGGLED.length}`, CHUNKED) + LAST + SMUGGLED, ['/sent']],
  ['TE.CL', head(POST, CHUNKED, 'Content-Length: 4') + chunk(SMUGGLED) + LAST, ['/sent']],
  ['CL.TE, in HTTP/1.0', head('POST /sent HTTP/1.0', 'Content-Length: 5', CHUNKED) + LAST + SMUGGLED, ['/sent']],
  ...[
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding:\x0bchunked',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: identity, chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: cow',
    'Transfer-Encoding: cow\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: "chunked"',
    'X: y\nTransfer-Encoding: chunked',
    'X: y\rTransfer-Encoding: chunked',
    'Transfer-Encoding\r\n : chunked',
    'Transfer-Encoding:\r\n chunked',
    'Transfer_Encoding: chunked',
    'Transfer-Encoding\0: chunked',
    '\0Transfer-Encoding: chunked',
  ].map((field) => {
    const body = LAST + SMUGGLED
    const bytes = `${head(POST, `Content-Length: ${body.length}`, field)}${body}`
    return [`TE.TE ${JSON.stringify(field)}`, bytes, ['/sent']] as const
  }),
  ...['+5', '-5', '0x5', '5,6', '5, 5', '', '5 5', '5;', '05', '99999999999999999999', '\x0b5', '5\0'].map(
    (length) =>
      [`length ${JSON.stringify(length)}`, `${head(POST, `Content-Length: ${length}`)}hello`, ['/sent']] as const,
  ),
  ['two lengths', `${head(POST, 'Content-Length: 5', `Content-Length: ${5 + SMUGGLED.length}`)}hello${SMUGGLED}`, []],
  ['no length in CVE-2023-40225', head(POST, 'Content-Length:') + SMUGGLED, ['/sent', '/smuggled']],
  ['bare LF throughout', 'GET /sent HTTP/1.1\nHost: a\n\n', ['/sent']],
  [
    'bare LF hides the end of the header',
    `POST /sent HTTP/1.1\r\nHost: a\r\nContent-Length: ${SMUGGLED.length}\n\n${SMUGGLED}`,
    ['/sent'],
  ],
  ['bare CR as the end of the header', `GET /sent HTTP/1.1\r\nHost: a\r\rGET /smuggled HTTP/1.1\r\n\r\n`, ['/sent']],
  [
    'obs-fold',
    `GET /sent HTTP/1.1\r\nHost: a\r\nX: one\r\n two\r\n\tContent-Length: 5\r\n\r\n${SMUGGLED}`,
    ['/sent', '/smuggled'],
  ],
  ['obs-fold in the first field', `GET /sent HTTP/1.1\r\n Content-Length: 5\r\nHost: a\r\n\r\n${SMUGGLED}`, []],
  [
    'an empty name, CVE-2023-25725',
    `POST /sent HTTP/1.1\r\nHost: a\r\n: x\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    ['/sent'],
  ],
  [
    'a name of 270 characters, CVE-2021-40346',
    `POST /sent HTTP/1.1\r\nHost: a\r\nContent-Length0${'a'.repeat(255)}:\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    ['/sent'],
  ],
  [
    'a space before the name',
    `GET /sent HTTP/1.1\r\nHost: a\r\nX: y\r\n Content-Length: 9\r\n\r\n${SMUGGLED}`,
    ['/sent', '/smuggled'],
  ],
  ['a field without a colon', `GET /sent HTTP/1.1\r\nHost: a\r\nContent-Length 5\r\n\r\n${SMUGGLED}`, []],
  ['chunk extension', head(POST, CHUNKED) + chunk('hello', ';name=value') + LAST, ['/sent']],
  ['chunk extension with a bare LF', `${head(POST, CHUNKED)}5;\nhello\r\n${LAST}${SMUGGLED}`, ['/sent', '/smuggled']],
  [
    'chunk extension with a bare CR',
    `${head(POST, CHUNKED)}5;\rx\r\nhello\r\n${LAST}${SMUGGLED}`,
    ['/sent', '/smuggled'],
  ],
  ['a chunk of more than 64 bits', `${head(POST, CHUNKED)}10000000000000005\r\nhello\r\n${LAST}${SMUGGLED}`, ['/sent']],
  ['a chunk of -5', `${head(POST, CHUNKED)}-5\r\nhello\r\n${LAST}${SMUGGLED}`, ['/sent']],
  ['a chunk of 0x5', `${head(POST, CHUNKED)}0x5\r\nhello\r\n${LAST}${SMUGGLED}`, ['/sent']],
  ['a chunk of many zeros', `${head(POST, CHUNKED)}${'0'.repeat(300)}5\r\nhello\r\n${LAST}`, ['/sent']],
  ['a chunk that does not end', `${head(POST, CHUNKED)}5\r\nhelloXX${LAST}${SMUGGLED}`, ['/sent']],
  [
    'a trailer that frames',
    `${head(POST, CHUNKED)}0\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    ['/sent', '/smuggled'],
  ],
  ['a body of GET', `${head('GET /sent HTTP/1.1', `Content-Length: ${SMUGGLED.length}`)}${SMUGGLED}`, ['/sent']],
  ['a line end in the target', `GET /sent\rX HTTP/1.1\r\nHost: a\r\n\r\n`, []],
  ['two spaces and a version in the target', `GET /sent HTTP/1.1 HTTP/1.1\r\nHost: a\r\n\r\n`, []],
  ['HTTP/0.9', 'GET /sent\r\n\r\n', ['/sent']],
  ['HTTP/1.1 with a suffix', 'GET /sent HTTP/1.1x\r\nHost: a\r\n\r\n', []],
  ['an empty line first', `\r\n\r\n${head('GET /sent HTTP/1.1')}`, ['/sent']],
]

it('a member sees the requests that were sent and no other, whatever a client makes of them', async () => {
  await serve()
  const wrong: string[] = []
  let seenInAll = 0
  for (const [name, bytes, mayBeSeen] of CORPUS) {
    member.forget()
    const answer = await send(bytes)
    const reads = member.reads
    const seen = reads.flatMap(({ whole }) => whole.map((line) => line.split(' ')[1]!))
    const doubts = reads.flatMap(({ doubt }) => doubt ?? [])
    const good = answer.split('HTTP/1.1 200 ').length - 1
    seenInAll += seen.length
    if (doubts.length > 0) wrong.push(`${name}: forwarded with ${doubts.join(', ')}`)
    if (seen.join() !== mayBeSeen.slice(0, seen.length).join()) wrong.push(`${name}: seen ${seen.join(' ')}`)
    if (seen.length !== good) wrong.push(`${name}: ${seen.length} seen, ${good} answered`)
  }
  expect(wrong).toEqual([])
  const paths = () => member.reads.flatMap(({ whole }) => whole.map((line) => line.split(' ')[1]))
  // The member may close a connection that the proxy is about to reuse. Then a client must repeat its request.
  for (const [name, bytes, seen] of CORPUS.slice(0, 3))
    await expect
      .poll(
        async () => {
          member.forget()
          await send(bytes)
          return paths()
        },
        { message: name, timeout: 20_000 },
      )
      .toEqual(seen)
  recordFault({
    fault: `${CORPUS.length} ways to smuggle a request past a proxy (HTTP/1)`,
    outcome: 'a member sees what was sent, each message with one reading, or nothing',
    figure: `${seenInAll} seen, 0 smuggled`,
  })
})

/** Targets that a route for `/admin` matches: its elements are compared byte by byte, and more may follow. */
const ADMIN = [
  '/admin',
  '/admin/',
  '/admin/x',
  '/admin?x',
  '/admin//x',
  '/admin/../x',
  '/admin/%2e%2e/x',
  'http://a/admin',
]

/** Targets that some server takes for `/admin`, but that the route does not match. */
const ALIASES = [
  ...['/%61dmin', '/%61%64%6d%69%6e', '/%2561dmin', '/ADMIN', '/%c1%a1dmin'],
  ...['/./admin', '//admin', '/x/../admin', '/x/%2e%2e/admin', '/x/%2E%2E%2Fadmin', '/x%2f..%2fadmin', '/.;/admin'],
  ...['/admin;x', '/admin%2fx', '/admin%00', '/admin%3fx', '/admin.', '/admin%20'],
  ...['/\\admin', '/x\\..\\admin', '/%5cadmin', '/%c0%afadmin'],
]

it('a route and a member see the same path, which nobody normalises in between', async () => {
  const route = sampleRoute(1, { type: 'respond', code: 403 }, [
    { on: 'path', compare: 'elements', values: ['/admin'], not: false },
  ])
  await serve([route])
  const seen = async (target: string) => {
    member.forget()
    const answer = await send(head(`GET ${target} HTTP/1.1`, 'Connection: close'))
    const paths = member.reads.flatMap(({ whole }) => whole.map((line) => line.split(' ')[1]!))
    return { status: answer.slice(9, 12), paths }
  }
  for (const target of ADMIN) expect([target, await seen(target)]).toEqual([target, { status: '403', paths: [] }])
  const changed: string[] = []
  let passed = 0
  for (const target of ALIASES) {
    const { status, paths } = await seen(target)
    if (status === '200' && paths.join(' ') === target) passed++
    // Refusing what no URL contains is right too.
    else if (status !== '400' || paths.length > 0) changed.push(`${target}: ${status}, member saw ${paths.join(' ')}`)
  }
  expect(changed).toEqual([])
  recordFault({
    fault: `${ALIASES.length} paths that some readers take for another`,
    outcome: 'route and member see the same bytes, or the request is refused',
    figure: `${passed} passed on as sent, ${ALIASES.length - passed} refused, 0 changed`,
  })
})

/** Targets that a member may read as the root. A route refuses the root. */
const ROOTS = ['/', '/?', 'http://a/', 'http://a', 'http://', '*', 'a']

it('a route that shuts the root shuts everything that a member may read as the root', async () => {
  await serve([
    sampleRoute(1, { type: 'respond', code: 403 }, [{ on: 'path', compare: 'exact', values: ['/'], not: false }]),
  ])
  const seen = async (line: string) => {
    member.forget()
    const answer = await send(head(`${line} HTTP/1.1`, 'Connection: close'))
    return [line, answer.slice(9, 12), ...member.reads.flatMap(({ whole }) => whole)]
  }
  for (const target of ROOTS) expect(await seen(`GET ${target}`)).toEqual([`GET ${target}`, '403'])
  // `OPTIONS *` is about the server itself, and has no path.
  expect(await seen('OPTIONS *')).toEqual(['OPTIONS *', '200', 'OPTIONS * HTTP/1.1'])
  // Routes compare the header `Host`, but a member reads the host of the target.
  expect(await seen('GET http://other/x')).toEqual(['GET http://other/x', '400'])
})
