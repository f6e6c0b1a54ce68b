import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { waitFor } from '../lab/wait-for.ts'
import { barriers, paleTexts } from './axe.ts'
import { TestBrowser } from './browser.ts'
import { beyondTheEdge, smallTexts } from './layout.ts'

/** Pages with one fault each, in a real browser: what it does not find here, it would not find in the web page. */
const PAGES: Readonly<Record<string, string>> = {
  '/good': '<main><h1>Good</h1><label>Name <input></label><p style="font-size: 12px">small enough</p></main>',
  '/throws': `<script>setTimeout(() => { throw new Error('thrown') })</script>`,
  '/logs': `<script>console.error('logged')</script>`,
  '/foreign': '<img alt="" src="http://foreign.example/picture.png">',
  '/missing': '<script src="/missing.js"></script>',
  '/refused': `<script>const call = new XMLHttpRequest(); call.open('GET', '/api/refused', false); call.send()</script>`,
  '/policy': '<p onclick="alert()" style="color: red">red</p>',
  '/barriers': '<main><h1>Form</h1><input><p style="color: #999; background: #fff">pale</p></main>',
  '/small': '<p style="font-size: 11px">tiny</p><p hidden style="font-size: 1px">hidden</p>',
  '/scaled': '<svg viewBox="0 0 200 20" width="100"><text y="15" font-size="16">halved</text></svg>',
  '/wide': '<p style="width: 2000px">wide</p>',
  '/wide-inside': '<div style="overflow-x: auto"><p style="width: 2000px">wide</p></div>',
}

/** That of `/barriers` forbids scripts: what looks for barriers must run all the same. */
const POLICIES: Readonly<Record<string, string>> = {
  '/policy': "default-src 'self'",
  '/barriers': "default-src 'self'; style-src 'unsafe-inline'",
}

const server = createServer((request, response) => {
  const html = PAGES[request.url ?? '']
  const policy = POLICIES[request.url ?? '']
  response.writeHead(html === undefined && request.url !== '/favicon.ico' ? 404 : 200, {
    'content-type': 'text/html; charset=utf-8',
    ...(policy === undefined ? {} : { 'content-security-policy': policy }),
  })
  response.end(html === undefined ? '' : `<!doctype html><html lang="en"><title>page</title>${html}</html>`)
})
let browser: TestBrowser
let origin: string

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await TestBrowser.launch()
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function visit(path: string) {
  const visit = await browser.visit(origin)
  await visit.page.goto(path)
  return visit
}

it.each([
  ['/good', []],
  ['/throws', [/^error: Error: thrown/]],
  ['/logs', [/^console: logged/]],
  ['/foreign', [/^foreign host: http:\/\/foreign\.example\/picture\.png$/]],
  ['/missing', [/^console: Failed to load resource.*404.*missing\.js/]],
  // The page has to show it; that is not the browser's to judge.
  ['/refused', []],
  ['/policy', [/Content Security Policy/, /Content Security Policy/]],
])('faults of %s', async (path, faults) => {
  await visit(path)
  const found: string[] = []
  await waitFor(() => found.push(...browser.takeFaults()) >= faults.length, { what: `faults of ${path}` })
  expect(found).toHaveLength(faults.length)
  for (const [index, fault] of faults.entries()) expect(found[index]).toMatch(fault)
  expect(browser.takeFaults()).toEqual([])
})

it('barriers: a field without a name, and text that is hard to read', async () => {
  expect(await barriers((await visit('/good')).page)).toEqual([])
  expect(await barriers((await visit('/barriers')).page)).toEqual([
    expect.stringMatching(/^color-contrast: .*: p: .*2\.84/),
    expect.stringMatching(/^label: .*: input: /),
  ])
  expect(await paleTexts((await visit('/barriers')).page)).toEqual([expect.stringMatching(/^color-contrast: /)])
})

it.each([
  ['/good', []],
  ['/small', ['11.0 px: tiny']],
  ['/scaled', ['8.0 px: halved']],
])('small texts of %s', async (path, texts) => {
  expect(await smallTexts((await visit(path)).page)).toEqual(texts)
})

it.each([
  ['/good', []],
  ['/wide', ['p.: wide']],
  ['/wide-inside', []],
])('what is beyond the edge of %s', async (path, elements) => {
  expect(await beyondTheEdge((await visit(path)).page)).toEqual(elements)
})
