import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import path from 'node:path'
import { bundled, PRODUCT_ENVIRONMENT, type Tenant, TestSystem } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACME, PORT } from './fixtures.ts'

// `spout conformance --traffic-member` as a tenant on the internet runs it: a real member answers through real nodes.
const MAIN = bundled(path.resolve(import.meta.dirname, '../apps/cli/src/main.ts'))
const MINUTES = 60_000

interface Report {
  readonly left: readonly string[]
  readonly results: readonly { readonly group: string; readonly outcome: string; readonly reason: string | null }[]
}

let system: TestSystem
let relay: Server
let clouds: string

const joined = (one: Socket, other: Socket): void => {
  one.pipe(other).pipe(one)
  for (const [end, far] of [
    [one, other],
    [other, one],
  ] as const)
    end.on('error', () => far.destroy())
}

/** The API listens on the host's loopback; the client's place has it at the same address and port. */
const FAR_END = `
const { connect, createServer } = require('node:net')
const [socketFile, port] = process.argv.slice(1)
createServer((one) => {
  const other = connect(socketFile)
  one.pipe(other).pipe(one)
  one.on('error', () => other.destroy())
  other.on('error', () => one.destroy())
}).listen(Number(port), '127.0.0.1', () => console.log('relay listens'))`

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME], set: ['limits.requestsPerSecond=100000'] })
  const { lab, access } = system
  const [acme] = system.tenants as [Tenant]
  const { port } = new URL(access.endpoint)
  mkdirSync(lab.runDirectory, { recursive: true })
  const socketFile = path.join(lab.runDirectory, 'api.sock')
  rmSync(socketFile, { force: true })
  relay = createServer((one) => joined(one, connect(Number(port), '127.0.0.1')))
  await new Promise<void>((resolve) => relay.listen(socketFile, resolve))
  await lab.start('client', 'api-relay', [process.execPath, '-e', FAR_END, socketFile, port], {
    readyText: 'relay listens',
  })
  clouds = path.join(lab.directory, 'clouds.yaml')
  const auth = {
    ...{ auth_url: `${access.endpoint}/identity/v3`, username: acme.user, password: acme.password },
    project_name: acme.project,
  }
  writeFileSync(clouds, JSON.stringify({ clouds: { mine: { auth } } }))
}, 5 * MINUTES)

afterAll(async () => {
  relay?.close()
  await system?.destroy()
})

async function conformance(member: string, ...more: readonly string[]): Promise<Report> {
  const words = ['conformance', '--os-cloud', 'mine', '--network', system.publicPoolId, '--seed', '7', '--json']
  const { stdout, stderr } = await system.lab.run(
    'client',
    [process.execPath, MAIN, ...words, '--member-prefix', '10.0.0', '--traffic-member', member, ...more],
    { env: { ...PRODUCT_ENVIRONMENT, NO_COLOR: '1', OS_CLIENT_CONFIG_FILE: clouds }, timeoutMs: 10 * MINUTES },
  )
  expect(stdout, stderr).toMatch(/^\{/)
  return JSON.parse(stdout) as Report
}

const traffic = ({ results }: Report) => results.filter(({ group }) => group === 'traffic')

it(
  'a connection through the VIP reaches the member, and none when the listener is disabled',
  async () => {
    const report = await conformance(`10.0.0.11:${PORT.tcp}`, '--timeout', '20')
    expect(traffic(report)).toMatchObject([{ outcome: 'passed', reason: null }])
    expect(report.results.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    expect(report.left).toEqual([])
  },
  12 * MINUTES,
)

it(
  'a member that accepts nothing fails the check with what was waited for',
  async () => {
    // The time-out is waited for.
    const report = await conformance('10.0.0.11:1', '--only', 'traffic', '--timeout', '10')
    expect(traffic(report)).toMatchObject([
      { outcome: 'failed', reason: expect.stringMatching(/^.*198\.51\.100\.\d+ port 8080 to accept a connection/) },
    ])
    expect(report.left).toEqual([])
  },
  12 * MINUTES,
)
