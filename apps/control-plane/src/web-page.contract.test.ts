import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlPlaneProcess } from './testing/control-plane-process.ts'

const PAGE = '<!doctype html><div id="page"></div>\n'
const BROWSER = { accept: 'text/html,*/*;q=0.8' }

let directory: string
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-web-page-'))
  mkdirSync(path.join(directory, 'assets'))
  writeFileSync(path.join(directory, 'index.html'), PAGE)
  writeFileSync(path.join(directory, 'assets/index-B1c2.js'), 'export {}\n')
})
afterAll(() => rmSync(directory, { recursive: true }))

test('the page is for everybody, within the share of those without a token', { timeout: 120_000 }, async () => {
  const settings = [`ui.directory=${directory}`, 'limits.strangerRequestsPerSecond=1']
  await using controlPlane = await ControlPlaneProcess.start(settings)
  const ask = (at: string) => fetch(`${controlPlane.address}${at}`, { headers: BROWSER })
  const shown = await ask('/')
  expect([shown.status, new URL(shown.url).pathname, await shown.text()]).toEqual([200, '/ui/', PAGE])
  expect((await ask('/ui/assets/index-B1c2.js')).status).toBe(200)
  const many = await Promise.all(Array.from({ length: 20 }, () => ask('/ui/')))
  const refused = many.filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(0)
  for (const { status, headers } of refused)
    expect([status, headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)])
})

test('ui.enabled: false takes it away, and the API stays', { timeout: 120_000 }, async () => {
  await using controlPlane = await ControlPlaneProcess.start([`ui.directory=${directory}`, 'ui.enabled=false'])
  for (const at of ['/', '/ui/', '/ui/assets/index-B1c2.js'])
    expect((await fetch(`${controlPlane.address}${at}`, { headers: BROWSER })).status).toBe(404)
  expect((await fetch(`${controlPlane.address}/api/v1/openapi.json`)).status).toBe(200)
})
