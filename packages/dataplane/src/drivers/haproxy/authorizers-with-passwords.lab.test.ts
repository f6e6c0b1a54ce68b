import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { NodeForward } from '@spout/model'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, recorder, says } from '../../testing/haproxy/recorder.ts'
import { sampleEntry, samplePool, sampleRoute, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'

const { lab, host: proxy, started } = await proxyLabOfFile()
const run = promisify(execFile)
const member = await started(recorder(says(200)))
const judge = await started(recorder(says(200)))

/** apr1 of `open sesame`. */
const users = lab.storeCertificate(
  `${'1'.padStart(32, '0')}\n${Buffer.from('eve').toString('hex')}:$apr1$abcd$a4TJDqmci1Rx5yACpaKUk.\n`,
)
const options = { passwords: join(import.meta.dirname, '../../../../../native/build/spout-passwords-asan') }
const GOOD = ['-u', 'eve:open sesame']
const BAD = ['-u', 'eve:open sesam']

type Authorizer = NonNullable<NodeForward['authorizer']>
const PLAIN: Authorizer = {
  ...{ pool: 2, method: null, host: null, path: null, pathPrefix: null },
  ...{ sendHeaders: ['*'], setHeaders: [], takeHeaders: ['x-user'], cookies: 'always', signIn: null },
}
const BOTH: Partial<NodeForward> = { authorizer: PLAIN, basicAuthentication: { realm: 'shop', users } }

/** A listener whose route asks both. @returns what sends a request and prints code, challenges, place and body */
async function asking(forward: Partial<NodeForward>, driver = lab.driver({ options })) {
  const action: NodeForward = { type: 'forward', pools: [{ pool: 1, weight: 1 }], ...BOTH, ...forward }
  const pools = [member, judge].map(({ port }, at) =>
    samplePool(at + 1, { members: [memberAt({ name: `p${port}`, port })] }),
  )
  await put(driver, sampleEntry('web', [sampleService('web-80', { routes: [sampleRoute(1, action)] })], pools))
  const format = '%{http_code} %{header_json}'
  const ask = async (...args: readonly string[]) => {
    const url = `http://${proxy}:${portOf(driver, 'web-80')}/a?b`
    const { stdout } = await run('curl', ['-s', '-m', '20', '-o', '/dev/null', '-w', format, ...args, url])
    const headers = JSON.parse(stdout.slice(4)) as Readonly<Record<string, readonly string[]>>
    return { code: stdout.slice(0, 3), challenges: headers['www-authenticate'] ?? [], headers }
  }
  return { driver, ask }
}

const OURS = 'Basic realm="shop", charset="UTF-8"'
const yes: Answer = says(200, { 'x-user': 'ada', 'set-cookie': 'session=1' })
const no: Answer = says(401, { 'www-authenticate': 'Bearer' })

beforeEach(() => {
  member.from(says(200, {}, 'served'))
  judge.from(yes)
})

describe('a route that asks for a password and an authorizer', () => {
  test.each([
    ['all', 'good', 'yes', '200'],
    ['all', 'good', 'no', '401'],
    ['all', 'bad', 'yes', '401'],
    ['all', 'bad', 'no', '401'],
    ['any', 'good', 'yes', '200'],
    ['any', 'good', 'no', '200'],
    ['any', 'bad', 'yes', '200'],
    ['any', 'bad', 'no', '401'],
  ] as const)('%s, a %s password, and an authorizer that says %s: %s', async (satisfy, password, says, expected) => {
    judge.from(says === 'yes' ? yes : no)
    const { ask } = await asking({ satisfy })
    expect((await ask(...(password === 'good' ? GOOD : BAD))).code).toBe(expected)
    expect(member.seen().length).toBe(expected === '200' ? 1 : 0)
    // The authorizer is asked only if its answer matters.
    expect(judge.seen().length).toBe((satisfy === 'all') === (password === 'good') ? 1 : 0)
  })

  test('without a word about it needs both, and each says what it wants', async () => {
    const { ask } = await asking({})
    expect(await ask()).toMatchObject({ code: '401', challenges: [OURS] })
    expect(judge.seen()).toEqual([])
    expect((await ask(...GOOD)).headers['set-cookie']).toEqual(['session=1'])
    expect(judge.seen()[0]?.headers.authorization).toMatch(/^Basic /)
    expect(member.seen()[0]?.headers).toMatchObject({ 'x-user': 'ada' })
    judge.from(no)
    expect(await ask(...GOOD)).toMatchObject({ code: '401', challenges: ['Bearer'] })
    judge.from(says(403))
    expect((await ask(...GOOD)).code).toBe('403')
    judge.from(says(302))
    expect((await ask(...GOOD)).code).toBe('500')
    expect(member.seen()).toHaveLength(1)
  })

  test('with any, whom both refuse is told both ways in, and 401 comes before 403', async () => {
    judge.from(no)
    const { ask } = await asking({ satisfy: 'any' })
    expect(await ask()).toMatchObject({ code: '401', challenges: ['Bearer', OURS] })
    judge.from(says(403))
    expect(await ask(...BAD)).toMatchObject({ code: '401', challenges: [OURS] })
    judge.from(says(302))
    expect((await ask(...BAD)).code).toBe('500')
    expect(await ask('-X', 'POST', '-d', 'x'.repeat(100_000), ...GOOD)).toMatchObject({ code: '200' })
    expect(member.seen()).toHaveLength(1)
  })

  test('with any, whom both refuse is sent where they sign in', async () => {
    judge.from(no)
    const signIn = { scheme: null, host: 'login.example', port: null, path: '/in', returnTo: null }
    const { ask } = await asking({ satisfy: 'any', authorizer: { ...PLAIN, signIn } })
    expect(await ask()).toMatchObject({ code: '302', headers: { location: ['http://login.example/in'] } })
    expect((await ask(...GOOD)).code).toBe('200')
    // If both are needed, a missing password gives 401 and no sign-in, as without an authorizer.
    const both = await asking({ authorizer: { ...PLAIN, signIn } })
    expect(await both.ask()).toMatchObject({ code: '401', challenges: [OURS] })
    expect((await both.ask(...GOOD)).code).toBe('302')
  })

  test('never passes on what only the authorizer may say, not even when it is not asked', async () => {
    const { ask } = await asking({ satisfy: 'any' })
    expect((await ask(...GOOD, '-H', 'X-User: root', '-H', 'X_User: root')).code).toBe('200')
    for (const name of ['x-user', 'x_user']) expect(member.seen()[0]?.headers).not.toHaveProperty(name)
  })

  test('with any, one that cannot be asked leaves the other; with all it lets nobody in', async () => {
    const gone = { realm: 'shop', users: null }
    const one = await asking({ satisfy: 'any', basicAuthentication: gone })
    expect((await one.ask(...GOOD)).code).toBe('200')
    judge.from(no)
    expect((await one.ask(...GOOD)).code).toBe('500')
    judge.from(yes)
    const other = { ...PLAIN, pool: null }
    expect((await (await asking({ satisfy: 'any', authorizer: other }, one.driver)).ask(...GOOD)).code).toBe('200')
    expect((await (await asking({ satisfy: 'any', authorizer: other }, one.driver)).ask(...BAD)).code).toBe('500')
    for (const change of [{ basicAuthentication: gone }, { authorizer: other }])
      expect((await (await asking(change, one.driver)).ask(...GOOD)).code).toBe('500')
  })

  test('changes from one way to the other, and to one alone, without a reload', async () => {
    judge.from(no)
    const { ask, driver } = await asking({ satisfy: 'any' })
    expect((await ask(...GOOD)).code).toBe('200')
    expect((await (await asking({ satisfy: 'all' }, driver)).ask(...GOOD)).code).toBe('401')
    const { basicAuthentication: _, ...authorizer } = BOTH
    judge.from(yes)
    await asking({ basicAuthentication: undefined as never, ...authorizer }, driver)
    expect((await ask(...BAD)).code).toBe('200')
    expect(driver.counters.reloads).toBe(0)
  })
})
