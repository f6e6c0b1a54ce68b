import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { LoadBalancerEntry } from '@spout/model'
import { waitFor } from '@spout/testkit'
import { beforeAll, describe, expect, test } from 'vitest'
import { ask, httpMember, type LabMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'
import { proxyFiles } from './processes/proxy-files.ts'
import type { SavedState } from './processes/state-file.ts'
import { BACKEND_STOCK } from './sections/shape.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)
let web: LabMember

beforeAll(async () => {
  web = await started(httpMember('web'))
})

/** Two load balancers of one network, each with a listener that answers with figures. */
const entryOf = (name: string, member = web): LoadBalancerEntry =>
  sampleEntry(
    name,
    [sampleService(`${name}-80`), sampleService(`${name}-metrics`, { protocol: 'metrics', port: 9100, pool: null })],
    [samplePool(name === 'one' ? 1 : 2, { members: [memberAt(member)] })],
  )

/** Answers with the id that it is asked for. */
const naming = () => lab.driver({ metricsOf: async (id) => (id.endsWith('-metrics') ? `figures of ${id}\n` : null) })

/** @param more options of curl */
async function get(port: number, path: string, ...more: readonly string[]) {
  const { stdout } = await run('curl', ['-s', '-w', '\n%{http_code}', ...more, `http://${proxy}:${port}${path}`])
  const end = stdout.lastIndexOf('\n')
  return { status: Number(stdout.slice(end + 1)), text: stdout.slice(0, end) }
}

const reloads = (driver: HaproxyDriver) => driver.counters.reloads

describe('a listener that answers with figures', () => {
  test('answers GET /metrics alone, with those of its own load balancer, without a reload', async () => {
    const driver = naming()
    for (const name of ['one', 'two']) await put(driver, entryOf(name))
    const [one, two] = ['one', 'two'].map((name) => portOf(driver, `${name}-metrics`)) as [number, number]
    expect(await get(one, '/metrics')).toEqual({ status: 200, text: 'figures of one-metrics\n' })
    expect(await get(two, '/metrics?name=one-metrics')).toEqual({ status: 200, text: 'figures of two-metrics\n' })
    expect((await get(one, '/metrics', '-D', '-', '-o', '/dev/null')).text).toMatch(
      /content-type: text\/plain; version=0\.0\.4/i,
    )
    expect(reloads(driver)).toBe(0)
  })

  test('lets no client choose what it reads', async () => {
    const driver = naming()
    for (const name of ['one', 'two']) await put(driver, entryOf(name))
    const port = portOf(driver, 'one-metrics')
    for (const path of ['/', '/two-metrics', '/metrics/', '/metrics/two-metrics', '/metrics/../two-metrics'])
      expect(await get(port, path, '--path-as-is'), path).toMatchObject({ status: 404 })
    expect(await get(port, '/metrics', '-X', 'POST', '-d', 'x')).toMatchObject({ status: 405 })
    // A second request in the body of the first.
    const smuggled = 'GET /two-metrics HTTP/1.1\r\nHost: x\r\n\r\n'
    expect(await get(port, '/metrics', '-X', 'GET', '-d', smuggled)).toEqual({
      status: 200,
      text: 'figures of one-metrics\n',
    })
    // A listener that serves an application does not answer with figures.
    expect((await ask({ host: proxy, port: portOf(driver, 'one-80') })).member).toBe('web')
  })

  test('goes on with the next agent, and stops with its listener', async () => {
    const first = naming()
    await put(first, entryOf('one'))
    const port = portOf(first, 'one-metrics')
    await first.close()
    expect(await get(port, '/metrics')).toMatchObject({ status: 503 })
    const second = naming()
    await put(second, entryOf('one'))
    expect(await get(portOf(second, 'one-metrics'), '/metrics')).toMatchObject({ status: 200 })
    await put(second, sampleEntry('one', [sampleService('one-80')], [samplePool(1, { members: [memberAt(web)] })]))
    expect(await get(port, '/metrics')).toMatchObject({ status: 503 })
  })

  test('is offered only where somebody knows figures', () => {
    expect(naming().features).toContain('l7.metrics')
    expect(lab.driver().features).not.toContain('l7.metrics')
  })

  test('refuses more requests than the agent should answer', async () => {
    const driver = naming()
    await put(driver, entryOf('one'))
    const port = portOf(driver, 'one-metrics')
    const url = `http://${proxy}:${port}/metrics?[1-400]`
    const options = ['-s', '-Z', '--parallel-max', '200', '-o', '/dev/null', '-w', '%{http_code}\n']
    const { stdout } = await run('curl', [...options, url])
    expect(new Set(stdout.trim().split('\n'))).toEqual(new Set(['200', '429']))
  })
})

describe('figures', () => {
  test('count requests by listener, pool and member', async () => {
    const driver = naming()
    const first = entryOf('one')
    await put(driver, first)
    for (let count = 0; count < 5; count++) await ask({ host: proxy, port: portOf(driver, 'one-80') })
    const [listener] = (await driver.stats()).filter(({ listenerId }) => listenerId === 'one-80')
    expect(listener).toMatchObject({ http: { requests: 5, responses: { '2xx': 5, '4xx': 0 } } })
    const [pool] = await driver.poolFigures(first)
    expect(pool).toMatchObject({ poolId: 'pool-1', total: 5, responses: { '2xx': 5, '5xx': 0 } })
    expect(pool!.bytesOut).toBeGreaterThan(0)
    expect(pool!.members.get('web')).toMatchObject({ total: 5, responses: { '2xx': 5 } })
  })

  test('begin at zero in a slot that another pool had', async () => {
    const driver = naming()
    const file = proxyFiles(join(lab.runDirectory, lab.place.name), lab.certificateDirectory).state
    const saved = async () => JSON.parse(await readFile(file, 'utf8')) as SavedState
    // One after another, until each slot of this shape had a pool.
    const slots = BACKEND_STOCK.find(({ shape }) => shape.mode === 'http' && shape.balance === 'roundrobin')!.count
    for (let count = 0; count <= slots; count++) {
      const entry = entryOf('one')
      await put(driver, entry)
      expect(await driver.poolFigures(entry)).toMatchObject([{ total: 0, bytesIn: 0, responses: { '2xx': 0 } }])
      await ask({ host: proxy, port: portOf(driver, 'one-80') })
      expect(await driver.poolFigures(entry)).toMatchObject([{ total: 1, responses: { '2xx': 1 } }])
      await driver.apply({ put: [], remove: [entry.key] })
      await waitFor(async () => (await saved()).backends.every(({ cooling }) => !cooling), { what: 'a free slot' })
    }
    expect(reloads(driver)).toBe(0)
    expect(Math.max(...(await saved()).inherited!.map(([, { total }]) => total))).toBe(2)
  })
})
