import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { silentLogger } from '@spout/runtime'
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createServer, mount } from '../http/host.ts'
import { readPage } from './page-files.ts'
import { SHEETS_OF_REACT_ARIA } from './page-policy.ts'
import { frontDoor, pageSurface } from './page-surface.ts'

const PAGE = '<!doctype html><div id="page"></div>\n'
const SCRIPT = `console.log(${JSON.stringify('x'.repeat(5000))})\n`
let directory: string

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-page-'))
  mkdirSync(path.join(directory, 'page/assets'), { recursive: true })
  const put = (name: string, text: string) => writeFileSync(path.join(directory, name), text)
  put('page/index.html', PAGE)
  put('page/assets/index-B1c2.js', SCRIPT)
  put('page/assets/index-B1c2.js.map', '{}')
  put('page/assets/index-D3e4.css', 'body { margin: 0 }\n')
  put('page/icon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>\n')
  put('secret.html', 'outside\n')
  symlinkSync('../secret.html', path.join(directory, 'page/linked.html'))
})
afterAll(() => rmSync(directory, { recursive: true }))

function server(at = 'page') {
  const app = createServer({ log: silentLogger() })
  onTestFinished(() => app.close())
  const files = readPage(path.join(directory, at))
  mount(app, frontDoor(files))
  mount(app, pageSurface(files))
  return app
}

async function listening(): Promise<number> {
  const app = server()
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
}

function open(at = 'page') {
  const app = server(at)
  return (url: string, options: InjectOptions = {}) => app.inject({ url, ...options })
}

describe('the files of the page', () => {
  test('a file with a hash in its name is kept for good, the page is asked for each time', async () => {
    const ask = open()
    const script = await ask('/ui/assets/index-B1c2.js')
    expect([script.statusCode, script.body]).toEqual([200, SCRIPT])
    expect(script.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(SCRIPT.length),
    })
    const page = await ask('/ui/')
    expect([page.statusCode, page.body]).toEqual([200, PAGE])
    expect(page.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
    expect((await ask('/ui/icon.svg')).headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'no-cache',
    })
  })

  test.each(['/ui/index.html', '/ui/load-balancers', '/ui/load-balancers/?health=failed', '/ui/a/b/c'])(
    'every path of the page is answered with it: %s',
    async (url) => {
      const { statusCode, body } = await open()(url)
      expect([statusCode, body]).toEqual([200, PAGE])
    },
  )

  test('without the slash at its end it leads to the page', async () => {
    const { statusCode, headers } = await open()('/ui?x=1')
    expect([statusCode, headers.location]).toEqual([308, '/ui/'])
  })

  test.each([
    ['a file that is not there', '/ui/assets/index-old.js'],
    ['a source map', '/ui/assets/index-B1c2.js.map'],
    ['a file above', '/ui/../secret.html'],
    ['a file above, written otherwise', '/ui/%2e%2e/secret.html'],
    ['a file above, with a slash written otherwise', '/ui/..%2fsecret.html'],
    ['a file above, by backslashes', '/ui/..\\secret.html'],
    ['a path from the root', '/ui//etc/passwd.txt'],
    ['a link to a file outside', '/ui/linked.html'],
    ['a name of every object', '/ui/__proto__.js'],
    ['a NUL', '/ui/index.html%00.js'],
  ])('%s is not found', async (_what, url) => {
    const port = await listening()
    // Other clients make such a path well-formed before they send it.
    const { statusCode, body } = await new Promise<{ statusCode?: number; body: string }>((resolve, reject) =>
      request({ host: '127.0.0.1', port, path: url }, async (answer) =>
        resolve({
          ...(answer.statusCode && { statusCode: answer.statusCode }),
          body: (await answer.toArray()).join(''),
        }),
      )
        .on('error', reject)
        .end(),
    )
    expect(statusCode).toBe(404)
    expect(body).not.toMatch(/outside|root:|<!doctype/)
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)('%s is refused', async (method) => {
    const { statusCode, headers } = await open()('/ui/index.html', { method })
    expect([statusCode, headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  test('HEAD answers with the headers alone', async () => {
    const ask = open()
    for (const url of ['/ui/', '/ui/assets/index-B1c2.js']) {
      const [head, get] = [await ask(url, { method: 'HEAD' }), await ask(url)]
      expect([head.statusCode, head.body]).toEqual([200, ''])
      for (const name of ['etag', 'cache-control', 'content-type', 'content-length'])
        expect(head.headers[name]).toBe(get.headers[name])
    }
  })
})

describe('compression', () => {
  test.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['BR', 'br'],
    ['br; q=0.0, gzip; q=0', undefined],
    ['identity', undefined],
    ['', undefined],
  ])('for a client that accepts %s', async (accepted, coding) => {
    const ask = open()
    const answer = await ask('/ui/assets/index-B1c2.js', { headers: { 'accept-encoding': accepted } })
    expect(answer.headers['content-encoding']).toBe(coding)
    expect(answer.headers.vary).toBe('accept-encoding')
    const decode = coding === 'br' ? brotliDecompressSync : coding === 'gzip' ? gunzipSync : null
    expect(String(decode?.(answer.rawPayload) ?? answer.body)).toBe(SCRIPT)
    if (coding !== undefined) expect(answer.rawPayload.length).toBeLessThan(500)
  })

  test('what is short is sent as it is', async () => {
    const { headers } = await open()('/ui/', { headers: { 'accept-encoding': 'br' } })
    expect(headers).not.toHaveProperty('content-encoding')
  })

  test('what the client has is not sent again, and each coding is another thing to have', async () => {
    const ask = open()
    const url = '/ui/assets/index-B1c2.js'
    const etag = async (accepted: string) =>
      String((await ask(url, { headers: { 'accept-encoding': accepted } })).headers.etag)
    const etags = [await etag('br'), await etag('gzip'), await etag('')]
    expect(new Set(etags).size).toBe(3)
    const again = (known: string) => ask(url, { headers: { 'accept-encoding': 'br', 'if-none-match': known } })
    const same = await again(`"other", W/${etags[0]}`)
    expect([same.statusCode, same.body]).toEqual([304, ''])
    expect(same.headers).toMatchObject({ etag: etags[0], 'cache-control': 'public, max-age=31536000, immutable' })
    expect((await again(etags[1]!)).statusCode).toBe(200)
  })
})

describe('what a browser may do with the page', () => {
  test('is said with every answer', async () => {
    const ask = open()
    for (const url of ['/ui/', '/ui/assets/index-B1c2.js', '/ui/none.js', '/ui']) {
      const { headers } = await ask(url)
      const policy = String(headers['content-security-policy'])
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-/)
      for (const part of ["connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"])
        expect(policy).toContain(part)
      expect(policy).not.toMatch(/unsafe|data:|blob:|https?:|\*/)
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      })
      expect(headers['permissions-policy']).toContain('camera=()')
      expect(headers).not.toHaveProperty('access-control-allow-origin')
    }
  })

  test('allows the style sheets that react-aria makes, and no others', () => {
    const resolve = createRequire(path.resolve(import.meta.dirname, '../../../../apps/dashboard/package.json')).resolve
    const library = path.join(path.dirname(resolve('react-aria/package.json')), 'dist/private')
    const made = ['interactions/usePress.mjs', 'overlays/usePreventScroll.mjs'].map((file) => {
      const source = readFileSync(path.join(library, file), 'utf8')
      const [, text = ''] = /\.textContent = `([^`]*)`\.trim\(\)/.exec(source) ?? []
      return text.trim().replace(/\$\{\S+PRESSABLE_ATTRIBUTE\}/, 'data-react-aria-pressable')
    })
    expect(made).toEqual([...SHEETS_OF_REACT_ARIA])
  })
})

describe('the host alone', () => {
  test('leads a browser to the page, and tells programs nothing', async () => {
    const ask = open()
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const browser = await ask('/', { headers: { accept } })
    expect([browser.statusCode, browser.headers.location]).toEqual([302, '/ui/'])
    for (const other of ['*/*', 'application/json'])
      expect((await ask('/', { headers: { accept: other } })).statusCode).toBe(404)
  })
})

describe('without a built page', () => {
  test('/ui says how to build it, and nothing else changes', async () => {
    const ask = open('nowhere')
    const { statusCode, body, headers } = await ask('/ui/')
    expect([statusCode, headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8'])
    expect(body).toContain('npm run build')
    expect((await ask('/', { headers: { accept: 'text/html' } })).statusCode).toBe(404)
  })
})
