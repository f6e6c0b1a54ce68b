import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { httpMember, type LabMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)
const web: LabMember[] = []
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
const CLIENTS: string[] = []

beforeAll(async () => {
  for (const name of NAMES) web.push(await started(httpMember(name)))
  for (let number = 2; number < 14; number++) CLIENTS.push(await lab.source(number))
})

const entryOf = (mode: 'http' | 'tcp-proxy', members: readonly LabMember[], keepSeconds?: number) =>
  sampleEntry(
    'web',
    [sampleService('web-80', { protocol: mode })],
    [
      samplePool(1, {
        mode,
        sourceAffinity: true,
        members: members.map((member) => memberAt(member)),
        ...(keepSeconds === undefined ? {} : { keepSeconds }),
      }),
    ],
  )

async function memberOf(port: number, client: string): Promise<string> {
  const { stdout } = await run('curl', ['-si', '--interface', client, `http://${proxy}:${port}/`])
  return /^x-member: (.*)$/im.exec(stdout)?.[1]?.trim() ?? stdout
}

const allOf = async (port: number): Promise<readonly string[]> => {
  const members: string[] = []
  for (const client of CLIENTS) members.push(await memberOf(port, client))
  return members
}

describe.each(['http', 'tcp-proxy'] as const)('a pool of mode %s with a time-out', (mode) => {
  test('keeps its clients with their members when further ones come, and without one the hash moves some', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(mode, web.slice(0, 2), 3600))
    const port = portOf(driver, 'web-80')
    const before = await allOf(port)
    await put(driver, entryOf(mode, web, 3600))
    expect(await allOf(port)).toEqual(before)

    await put(driver, entryOf(mode, web.slice(0, 2)))
    expect(await allOf(portOf(driver, 'web-80'))).toEqual(before)
    await put(driver, entryOf(mode, web))
    expect(await allOf(portOf(driver, 'web-80'))).not.toEqual(before)
  })

  test('gives the client of a member that is down another one, and lets the hash decide after the time', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(mode, web.slice(0, 2), 1))
    const port = portOf(driver, 'web-80')
    const before = await allOf(port)
    await put(driver, entryOf(mode, web.slice(0, 2), 1), [before[0]!])
    expect(await memberOf(port, CLIENTS[0]!)).not.toBe(before[0])
    await put(driver, entryOf(mode, web, 1))
    // Each look begins the time anew.
    await expect.poll(() => allOf(port), { timeout: 20_000, interval: 2_500 }).not.toEqual(before)
  })
})
