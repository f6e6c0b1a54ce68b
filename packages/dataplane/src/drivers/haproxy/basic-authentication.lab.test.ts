import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { NodeForward } from '@spout/model'
import { findProcesses } from '@spout/sys'
import { waitFor } from '@spout/testkit'
import { describe, expect, test } from 'vitest'
import { httpMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleRoute, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import type { HaproxyDriver } from './haproxy-driver.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)
const member = await started(httpMember('shop'))

const PASSWORD = 'open sesame'
/** Of that password, each made by another program: htpasswd, openssl passwd, crypt(3). */
const HASHES = {
  bcrypt: '$2b$04$XGjZLFjq8Iq8/VM1mTN9hOPU9WwfhDnSjeKTupS3FysyYYSw/L6DC',
  apr1: '$apr1$abcd$a4TJDqmci1Rx5yACpaKUk.',
  sha: '{SHA}W8r/fyL/UzygmbNAjq2HbA67qac=',
  'sha-256': '$5$abcd$mNyVEhiTWofI4vq8jXG48.pXZX1G1jxnS20uKhBl2WA',
  'sha-512': '$6$abcd$pkGcxKpVZNd.S1pRv2jgxdxg43dE1sjAW3FnNKRxCwGECXOv0Urp4DwrRbclgu5UxVGqG5UwC4Yd0YQRgGhfE0',
}
/** 2 to the power of 12 rounds: one comparison takes a quarter of a second. */
const SLOW = '$2b$12$1Da/eK9o8iXg.A2up1iKoO0b3NUVcFwzhwXa1qrPZ774hhHrOqaTe'

const options = { passwords: join(import.meta.dirname, '../../../../../native/build/spout-passwords-asan') }
const driverOf = (usersStayMs = 15_000) => lab.driver({ options: { ...options, usersStayMs } })

let salts = 0
/** A list of users as it is kept. */
const listOf = (users: Readonly<Record<string, string>>) =>
  lab.storeCertificate(
    [
      `${String(++salts).padStart(32, '0')}\n`,
      ...Object.entries(users).map(([name, hash]) => `${Buffer.from(name).toString('hex')}:${hash}\n`),
    ].join(''),
  )

type Authentication = NonNullable<NodeForward['basicAuthentication']>

/** Routes that ask for passwords, by path. */
function entryOf(paths: Readonly<Record<string, Authentication>>) {
  const routes = Object.entries(paths).map(([path, basicAuthentication], at) =>
    sampleRoute(at + 1, { type: 'forward', pools: [{ pool: 1, weight: 1 }], basicAuthentication }, [
      { on: 'path', compare: 'elements', values: [path], not: false },
    ]),
  )
  return sampleEntry('web', [sampleService('web-80', { routes })], [samplePool(1, { members: [memberAt(member)] })])
}

const curlTo =
  (driver: HaproxyDriver) =>
  async (path: string, ...args: readonly string[]): Promise<string> => {
    const url = `http://${proxy}:${portOf(driver, 'web-80')}${path}`
    const { stdout } = await run('curl', ['-s', '-m', '20', '-o', '/dev/null', '-w', '%{http_code}', ...args, url])
    return stdout
  }

/** The process of the lab's domain; undefined when there is none. */
const checker = async () => (await findProcesses(([name = '', ...words]) => isOurs(name, words)))[0]
const isOurs = (name: string, words: readonly string[]) =>
  name.includes('spout-passwords') && words.some((word) => word.startsWith(lab.runDirectory))

describe('a route that asks for passwords', () => {
  test.each(Object.entries(HASHES))('lets users with a hash of kind %s in, and no others', async (_, hash) => {
    const driver = driverOf()
    await put(driver, entryOf({ '/': { realm: 'shop', users: listOf({ jürgen: hash, eve: HASHES.apr1 }) } }))
    const curl = curlTo(driver)
    expect(await curl('/', '-u', `jürgen:${PASSWORD}`)).toBe('200')
    // The second time it is answered from memory.
    expect(await curl('/', '-u', `jürgen:${PASSWORD}`)).toBe('200')
    for (const wrong of [`jürgen:${PASSWORD}s`, `jurgen:${PASSWORD}`, 'jürgen:', `:${PASSWORD}`, `eve:${hash}`])
      expect(await curl('/', '-u', wrong)).toBe('401')
    expect(await curl('/')).toBe('401')
    expect(await curl('/', '-X', 'POST', '-d', 'some body')).toBe('401')
    expect(await curl('/', '-X', 'POST', '-d', 'some body', '-u', `jürgen:${PASSWORD}`)).toBe('200')
  })

  test('challenges with its realm, as a quoted string', async () => {
    const driver = driverOf()
    const realm = 'Shop "A" \\ ; { } %[src]'
    await put(driver, entryOf({ '/': { realm, users: listOf({ eve: HASHES.apr1 }) } }))
    const { stdout } = await run('curl', ['-s', '-D', '-', `http://${proxy}:${portOf(driver, 'web-80')}/`])
    expect(stdout).toContain('401 Unauthorized')
    expect(stdout.toLowerCase()).toContain('www-authenticate: ')
    expect(stdout).toContain('Basic realm="Shop \\"A\\" \\\\ ; { } %[src]", charset="UTF-8"')
  })

  test('asks about what the client sent, and of its headers nothing else', async () => {
    const driver = driverOf()
    const [ours, other] = [listOf({ eve: HASHES.apr1 }), listOf({ mallory: HASHES.sha })]
    await put(driver, entryOf({ '/a': { realm: '', users: ours }, '/b': { realm: '', users: other } }))
    const curl = curlTo(driver)
    const mallory = ['-u', `mallory:${PASSWORD}`]
    expect(await curl('/b', ...mallory)).toBe('200')
    expect(await curl('/a', ...mallory, '-H', `x-spout-users: ${other.contentId}`)).toBe('401')
    expect(await curl('/a', ...mallory, '-H', 'x-spout-mirror: b0')).toBe('401')
    const basic = (text: string) => `Authorization: Basic ${Buffer.from(text).toString('base64')}`
    const eve = basic(`eve:${PASSWORD}`)
    expect(await curl('/a', '-H', eve)).toBe('200')
    expect(await curl('/a', '-H', eve.replace('Basic', 'bAsIc'))).toBe('200')
    // With two headers the member might read the other one.
    expect(await curl('/a', '-H', eve, '-H', basic('root:toor'))).toBe('401')
    for (const hostile of [
      'Authorization: Basic',
      'Authorization: Basic ====',
      `Authorization: Bearer ${Buffer.from(`eve:${PASSWORD}`).toString('base64')}`,
      `${eve}%00`,
      basic('eve'),
      basic(`eve\0:${PASSWORD}`),
      basic(`eve:${PASSWORD}\0`),
      basic(`eve:${PASSWORD}\nx-spout-users: ${ours.contentId}`),
      basic(`${'e'.repeat(300)}:${PASSWORD}`),
      basic(`eve:${'p'.repeat(900)}`),
      basic('e'.repeat(5000)),
    ])
      expect(await curl('/a', '-H', hostile)).toBe('401')
    expect(await curl('/a', '-H', eve)).toBe('200')
  })

  test('is closed while its list is gone, and while the process is not there', async () => {
    const driver = driverOf()
    const curl = curlTo(driver)
    const eve = ['-u', `eve:${PASSWORD}`]
    const users = listOf({ eve: HASHES.apr1 })
    await put(driver, entryOf({ '/a': { realm: '', users }, '/b': { realm: '', users: null } }))
    expect(await curl('/b', ...eve)).toBe('500')
    expect(await curl('/a', ...eve)).toBe('200')
    const before = (await checker())!.pid
    process.kill(before, 'SIGSTOP')
    process.kill(before, 'SIGKILL')
    await waitFor(async () => (await checker())?.pid !== before, { what: 'the process to end' })
    await waitFor(async () => (await curl('/a', ...eve)) === '200', { what: 'another process', timeoutMs: 20_000 })
    expect(await curl('/a', '-u', 'eve:wrong')).toBe('401')
  })

  test('is not served while its list is not on the node', async () => {
    const driver = driverOf()
    const users = { id: 'x', contentId: 'a'.repeat(32) }
    await expect(put(driver, entryOf({ '/': { realm: '', users } }))).rejects.toThrow(/CertificateMissing/)
  })
})

test('the process outlives the agent, has no rights and no file, and goes with the last route that asks', async () => {
  const driver = driverOf()
  const users = listOf({ eve: HASHES.bcrypt })
  await put(driver, entryOf({ '/': { realm: '', users } }))
  const found = (await checker())!
  const status = readFileSync(`/proc/${found.pid}/status`, 'utf8')
  expect(/^Uid:\t(\d+)\t\1\t\1\t\1$/m.exec(status)?.[1]).not.toBe('0')
  expect(status).toMatch(/^NoNewPrivs:\t1$/m)
  // Hashes and names are in no argument and no environment of it.
  expect(found.words.join(' ')).not.toContain('$2b$')
  await driver.close()

  const next = driverOf(50)
  await next.adopt([])
  await put(next, entryOf({ '/': { realm: '', users } }))
  expect((await checker())?.pid).toBe(found.pid)
  expect(await curlTo(next)('/', '-u', `eve:${PASSWORD}`)).toBe('200')
  await put(next, entryOf({}))
  await waitFor(async () => (await checker()) === undefined, { what: 'the process to end', timeoutMs: 10_000 })
  // It comes again with the next one.
  await put(next, entryOf({ '/': { realm: '', users } }))
  expect(await curlTo(next)('/', '-u', `eve:${PASSWORD}`)).toBe('200')
})

test('users and routes change without a reload, and no request with the right password fails meanwhile', async () => {
  const driver = driverOf()
  const curl = curlTo(driver)
  await put(driver, entryOf({ '/': { realm: '', users: listOf({ eve: HASHES.apr1 }) } }))
  const { reloads } = driver.counters
  let isDone = false
  const codes: string[] = []
  const asking = (async () => {
    while (!isDone) codes.push(await curl('/', '-u', `eve:${PASSWORD}`))
  })()
  for (const hash of [HASHES.sha, HASHES['sha-512'], HASHES.bcrypt, HASHES.apr1, HASHES['sha-256']]) {
    const users = listOf({ eve: hash, [`user-${salts}`]: HASHES.sha })
    await put(driver, entryOf({ '/': { realm: `realm ${salts}`, users }, '/other': { realm: '', users } }))
    expect(await curl('/other', '-u', `eve:${PASSWORD}`)).toBe('200')
  }
  isDone = true
  await asking
  expect(new Set(codes)).toEqual(new Set(['200']))
  expect(driver.counters.reloads).toBe(reloads)
  await put(driver, entryOf({ '/': { realm: '', users: listOf({ adam: HASHES.apr1 }) } }))
  expect(await curl('/', '-u', `eve:${PASSWORD}`)).toBe('401')
})

test('a flood of wrong passwords at one list stops neither users of others nor requests without passwords', async () => {
  const driver = driverOf()
  const curl = curlTo(driver)
  const slow = { realm: '', users: listOf({ eve: SLOW }) }
  const other = { realm: '', users: listOf({ adam: HASHES.bcrypt }) }
  await put(driver, entryOf({ '/slow': slow, '/other': other }))
  expect(await curl('/slow', '-u', `eve:${PASSWORD}`)).toBe('200')
  const seen: string[] = []
  const flood = Array.from({ length: 100 }, (_, at) => {
    const socket = net.connect(portOf(driver, 'web-80'), proxy)
    const credentials = Buffer.from(`eve:wrong ${at}`).toString('base64')
    socket.write(`GET /slow HTTP/1.1\r\nHost: a\r\nAuthorization: Basic ${credentials}\r\n\r\n`)
    socket.on('data', (data) => seen.push(String(data).slice(9, 12)))
    socket.on('error', () => {})
    return socket
  })
  await waitFor(() => seen.includes('503'), { what: 'the queue of the list to be full', timeoutMs: 10_000 })
  // Users of other lists wait for one comparison. A remembered user of the same list does not wait.
  expect(await curl('/other', '-u', `adam:${PASSWORD}`)).toBe('200')
  expect(await curl('/slow', '-u', `eve:${PASSWORD}`)).toBe('200')
  expect(await curl('/open')).toBe('200')
  for (const socket of flood) socket.destroy()
})
