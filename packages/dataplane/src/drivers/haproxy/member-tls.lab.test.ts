import { rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { join } from 'node:path'
import type { NodePoolTls } from '@spout/model'
import { type Issued, issueCertificate, revocationList, waitFor } from '@spout/testkit'
import { afterAll, describe, expect, it } from 'vitest'
import type { LabMember } from '../../testing/haproxy/proxy-lab.ts'
import {
  sampleEntry,
  samplePool,
  sampleRoute,
  sampleService,
  sampleWanted,
} from '../../testing/haproxy/sample-entry.ts'
import { memberAt as at, portOf, proxyLabOfFile, put, webEntry } from '../../testing/haproxy/services-in-lab.ts'
import { type SeenByMember, tlsMember } from '../../testing/haproxy/tls-member.ts'
import { StatsSocket } from './commands/stats-socket.ts'
import { processesOn } from './place/proxy-process.ts'
import { proxyFiles } from './processes/proxy-files.ts'

const { lab, host, started } = await proxyLabOfFile()
const files = proxyFiles(`${lab.runDirectory}/${lab.place.name}`, lab.certificateDirectory)
const [authority, stranger, clients] = [1, 2, 3].map(() => issueCertificate({ isAuthority: true })) as [
  Issued,
  Issued,
  Issued,
]
const member = await started(tlsMember('m', issueCertificate({ issuer: authority, names: ['m.example'] })))
const other = await started(tlsMember('o', issueCertificate({ issuer: authority, names: ['o.example'] })))
const agent = new https.Agent({ keepAlive: false })
afterAll(() => agent.destroy())

const stored = (pem: string) => lab.storeCertificate(pem)
const pemOf = ({ certificate, key }: Issued): string => certificate + key

const poolTls = (change: Partial<NodePoolTls> = {}): NodePoolTls => ({
  ...{ authorities: stored(authority.certificate), serverName: 'm.example', certificate: null },
  ...{ minVersion: '1.2', alpn: [] },
  ...change,
})

interface Answer {
  readonly status: number
  readonly seen: SeenByMember | null
}

async function ask(port: number): Promise<Answer> {
  const response = await fetch(`http://${host}:${port}/`, { headers: { connection: 'close' } })
  const text = await response.text()
  return { status: response.status, seen: response.status === 200 ? (JSON.parse(text) as SeenByMember) : null }
}

/** What the process has of the files of authorities, lists and certificates. */
async function inProcess(driver: { readonly counters: { readonly reloads: number } }): Promise<string> {
  const socket = await StatsSocket.connect(files.statsSocket(driver.counters.reloads + 1), () => {})
  const shown = await socket.execute(['show ssl ca-file\n', 'show ssl crl-file\n', 'show ssl cert\n'])
  socket.close()
  return shown.join('')
}

describe('a pool whose members are spoken to with TLS', () => {
  it('is served without a reload; the members’ certificates are of its authorities and have the name', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([at(member)], { tls: poolTls() }))
    expect(await ask(portOf(driver, 'web-80'))).toMatchObject({
      status: 200,
      seen: { member: 'm', name: 'm.example', version: '1.1', client: null, tls: 'TLSv1.3' },
    })
    expect(driver.counters.reloads).toBe(0)
  })

  it.each([
    ['another name', { serverName: 'x.example' }],
    ['another authority', { authorities: stored(stranger.certificate) }],
  ] as const)('answers 503 where a certificate has %s', async (_, change) => {
    const driver = lab.driver()
    await put(driver, webEntry([at(member)], { tls: poolTls(change) }))
    expect((await ask(portOf(driver, 'web-80'))).status).toBe(503)
  })

  it.each([
    ['HTTP/1', ['http/1.1'], 1],
    // HAProxy 2.6 gives servers of run time a maximum of no reuse there, and has no word for it.
    ['HTTP/2', ['h2', 'http/1.1'], 10],
  ] as const)('asks ten times over %s, by connections of %j: %i', async (_, alpn, expected) => {
    const driver = lab.driver()
    await put(driver, webEntry([]))
    await put(driver, webEntry([at(member)], { tls: poolTls({ alpn: [...alpn] }) }))
    const port = portOf(driver, 'web-80')
    const before = member.connections()
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    for (let count = 0; count < 10; count++)
      await new Promise((resolve, reject) => {
        http.get({ host, port, agent }, (response) => response.resume().on('end', resolve)).on('error', reject)
      })
    agent.destroy()
    expect(member.connections() - before).toBe(expected)
  })

  it('takes any certificate where no authority is named', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([at(member)], { tls: poolTls({ authorities: null, serverName: 'x.example' }) }))
    expect(await ask(portOf(driver, 'web-80'))).toMatchObject({ status: 200, seen: { name: 'x.example' } })
  })

  it('asks for the name that the client asked for, where none is set', async () => {
    const driver = lab.driver()
    const own = stored(pemOf(issueCertificate({ names: ['m.example', 'o.example'] })))
    const service = sampleService('web-443', {
      protocol: 'https',
      port: 443,
      tls: { certificates: [own], unknownNames: 'default', minVersion: '1.2', alpn: ['http/1.1'] },
    })
    const pool = samplePool(1, {
      members: [at(member)],
      tls: poolTls({ serverName: null }),
      session: { by: 'cookie' },
    })
    const timeouts = { requestMs: 20_000, backendRequestMs: null }
    const timed = sampleRoute(1, { type: 'forward', pools: [{ pool: 1, weight: 1 }], timeouts })
    for (const routes of [[], [timed]]) {
      await put(driver, sampleEntry('web', [{ ...service, routes }], [pool]))
      const port = portOf(driver, 'web-443')
      const ask = (servername: string) =>
        new Promise<http.IncomingMessage>((resolve, reject) => {
          https.get({ host, port, servername, agent, rejectUnauthorized: false }, resolve).on('error', reject)
        })
      const [right, wrong] = [await ask('m.example'), await ask('o.example')]
      for (const response of [right, wrong]) response.resume()
      expect([right.statusCode, wrong.statusCode]).toEqual([200, 503])
      expect(right.headers['set-cookie']?.join()).toMatch(/^SPOUT-[^;]*; Path=\/; HttpOnly; Secure$/)
    }
  })

  it('shows its certificate to members that ask for one', async () => {
    const driver = lab.driver()
    const strict = await started(
      tlsMember('strict', issueCertificate({ issuer: authority, names: ['m.example'] }), clients),
    )
    await put(driver, webEntry([at(strict)], { tls: poolTls() }))
    expect((await ask(portOf(driver, 'web-80'))).status).toBeGreaterThanOrEqual(502)
    const certificate = stored(pemOf(issueCertificate({ issuer: clients, names: ['proxy.example'] })))
    await put(driver, webEntry([at(strict)], { tls: poolTls({ certificate }) }))
    expect(await ask(portOf(driver, 'web-80'))).toMatchObject({
      status: 200,
      seen: { member: 'strict', client: expect.stringMatching(/^test \d+$/) },
    })
    expect(driver.counters.reloads).toBe(0)
  })

  it('speaks HTTP/2 with members that choose it', async () => {
    const driver = lab.driver()
    await put(driver, webEntry([at(member)], { tls: poolTls({ alpn: ['h2', 'http/1.1'] }) }))
    expect(await ask(portOf(driver, 'web-80'))).toMatchObject({ status: 200, seen: { version: '2.0' } })
  })

  it('takes no version below the one that is set', async () => {
    const driver = lab.driver()
    const old = await started(
      tlsMember('old', issueCertificate({ issuer: authority, names: ['m.example'] }), null, 'TLSv1.2'),
    )
    await put(driver, webEntry([at(old)], { tls: poolTls() }))
    expect(await ask(portOf(driver, 'web-80'))).toMatchObject({ status: 200, seen: { tls: 'TLSv1.2' } })
    await put(driver, webEntry([at(old)], { tls: poolTls({ minVersion: '1.3' }) }))
    expect((await ask(portOf(driver, 'web-80'))).status).toBe(503)
  })

  it('carries TCP over TLS', async () => {
    const driver = lab.driver()
    const pool = samplePool(1, { mode: 'tcp-proxy', members: [at(member)], tls: poolTls() })
    await put(driver, sampleEntry('tcp', [sampleService('tcp-7', { protocol: 'tcp-proxy', port: 7 })], [pool]))
    expect(await ask(portOf(driver, 'tcp-7'))).toMatchObject({ status: 200, seen: { member: 'm', name: 'm.example' } })
  })

  it('turns TLS on and off, and to other authorities, under requests of which none fails', async () => {
    const driver = lab.driver()
    const both = stored(stranger.certificate + authority.certificate)
    await put(driver, webEntry([at(member)], { tls: poolTls() }))
    const port = portOf(driver, 'web-80')
    let running = true
    const outcomes: Answer[] = []
    const asking = (async () => {
      while (running) outcomes.push(await ask(port))
    })()
    for (let turn = 0; turn < 10; turn++) {
      const before = outcomes.length
      await put(driver, webEntry([at(member)], { tls: poolTls(turn % 2 === 0 ? { authorities: both } : {}) }))
      await waitFor(() => outcomes.length > before + 2, { what: 'requests after the change' })
    }
    running = false
    await asking
    expect(outcomes.filter(({ status }) => status !== 200)).toEqual([])
    expect(driver.counters.reloads).toBe(0)
  })

  describe('looks members up in lists of revoked certificates', () => {
    const [good, bad] = [1, 2].map(() => issueCertificate({ issuer: authority, names: ['m.example'] })) as [
      Issued,
      Issued,
    ]
    const revoking = (...revoked: readonly Issued[]) => stored(revocationList(authority, { revoked }))

    it('sends requests to the other members, and to none once all are listed; without a reload', async () => {
      const driver = lab.driver()
      const members = [await started(tlsMember('good', good)), await started(tlsMember('bad', bad))]
      const putWith = (revocations: NodePoolTls['revocations']) =>
        put(
          driver,
          webEntry(
            members.map((one) => at(one)),
            { tls: poolTls(revocations === undefined ? {} : { revocations }) },
          ),
        )
      const port = () => portOf(driver, 'web-80')
      const answered = async () => {
        const answers: Answer[] = []
        for (let turn = 0; turn < 8; turn++) answers.push(await ask(port()))
        return new Set(answers.map(({ status, seen }) => seen?.member ?? status))
      }
      await putWith(revoking())
      expect(await answered()).toEqual(new Set(['good', 'bad']))
      await putWith(revoking(bad))
      expect(await answered()).toEqual(new Set(['good']))
      await putWith(revoking(bad, good))
      expect(await answered()).toEqual(new Set([503]))
      await putWith(undefined)
      expect(await answered()).toEqual(new Set(['good', 'bad']))
      expect(driver.counters.reloads).toBe(0)
    })

    it('refuses a member whose authority has no list', async () => {
      const driver = lab.driver()
      await put(driver, webEntry([at(member)], { tls: poolTls({ revocations: stored(revocationList(stranger)) }) }))
      expect((await ask(portOf(driver, 'web-80'))).status).toBe(503)
    })

    it.each(['TLSv1.2', 'TLSv1.3'] as const)('resumes no session with a member, of %s either', async (version) => {
      const driver = lab.driver()
      const one = await started(tlsMember('one', good, null, version))
      const resumed = async (tls: NodePoolTls) => {
        await put(driver, webEntry([at(one)], { tls }))
        const answers = [await ask(portOf(driver, 'web-80')), await ask(portOf(driver, 'web-80'))]
        return answers.map(({ seen }) => seen?.resumed)
      }
      expect(await resumed(poolTls())).toContain(true)
      expect(await resumed(poolTls({ revocations: revoking() }))).toEqual([false, false])
    })

    it('does so after a restart of the agent and of the process; what nothing uses leaves the process', async () => {
      const driver = lab.driver({ options: { sweepEveryMs: 20 } })
      const members = [await started(tlsMember('good', good)), await started(tlsMember('bad', bad))]
      const revocations = revoking(bad)
      const entry = webEntry(
        members.map((one) => at(one)),
        { tls: poolTls({ revocations }) },
      )
      await put(driver, entry)
      await driver.close()
      const next = lab.driver({ options: { sweepEveryMs: 20 } })
      await next.adopt([sampleWanted(entry)])
      expect(next.counters).toEqual({ transactions: 0, reloads: 0 })
      expect(await ask(portOf(next, 'web-80'))).toMatchObject({ status: 200, seen: { member: 'good' } })

      const [before] = await processesOn(files.config)
      process.kill(before!.pid, 'SIGKILL')
      for (const _turn of [1, 2, 3])
        await waitFor(
          async () => {
            const answer = await ask(portOf(next, 'web-80')).catch(() => null)
            return answer?.seen?.member === 'good'
          },
          { what: 'the member that is not listed to answer' },
        )
      await put(
        next,
        webEntry(
          members.map((one) => at(one)),
          { tls: poolTls() },
        ),
      )
      const socket = files.statsSocket(2)
      await waitFor(
        async () => {
          const stats = await StatsSocket.connect(socket, () => {})
          const [shown = ''] = await stats.execute(['show ssl crl-file\n'])
          stats.close()
          return !shown.includes(revocations.contentId)
        },
        { what: 'the lists to leave the process' },
      )
    })
  })

  it('lets authorities and certificates go with the last server that used them', async () => {
    const driver = lab.driver({ options: { sweepEveryMs: 20 } })
    const [authorities, revocations, certificate] = [
      stored(authority.certificate),
      stored(revocationList(authority)),
      stored(pemOf(issueCertificate({ issuer: clients }))),
    ]
    await put(driver, webEntry([at(member)], { tls: poolTls({ authorities, revocations, certificate }) }))
    for (const { contentId } of [authorities, revocations, certificate])
      expect(await inProcess(driver)).toContain(contentId)
    expect((await ask(portOf(driver, 'web-80'))).status).toBe(200)
    await put(driver, webEntry([at(member)], { tls: poolTls({ authorities: null }) }))
    for (const { contentId } of [authorities, revocations, certificate])
      await waitFor(async () => !(await inProcess(driver)).includes(contentId), {
        what: 'the file to leave the process',
      })
    expect((await ask(portOf(driver, 'web-80'))).status).toBe(200)
  })

  it('is used by two load balancers that come at once with the same authorities', async () => {
    const driver = lab.driver()
    const tls = poolTls()
    const entryOf = (id: string, number: number, to: LabMember) =>
      sampleEntry(
        id,
        [sampleService(`${id}-80`, { pool: number })],
        [samplePool(number, { members: [at(to)], tls: { ...tls, serverName: `${to.name}.example` } })],
      )
    const entries = [entryOf('one', 1, member), entryOf('two', 2, other)]
    const applied = await driver.apply({
      put: entries.map((entry) => sampleWanted(entry)),
      remove: [],
    })
    expect(applied.map(({ state }) => state)).toEqual(['programmed', 'programmed'])
    for (const [id, name] of [
      ['one', 'm'],
      ['two', 'o'],
    ])
      expect(await ask(portOf(driver, `${id}-80`))).toMatchObject({ status: 200, seen: { member: name } })
    expect(await processesOn(files.config)).toHaveLength(1)
  })

  it('is there after a restart of the agent and of the process; a lost file keeps no other pool from starting', async () => {
    const driver = lab.driver()
    const authorities = stored(authority.certificate)
    const plain = samplePool(2, { members: [at(member)], tls: poolTls({ authorities: null }) })
    const entry = sampleEntry(
      'web',
      [sampleService('web-80'), sampleService('web-81', { port: 81, pool: 2 })],
      [samplePool(1, { members: [at(member)], tls: poolTls({ authorities }) }), plain],
    )
    await put(driver, entry)
    await driver.close()
    const next = lab.driver()
    await next.adopt([sampleWanted(entry)])
    expect((await ask(portOf(next, 'web-80'))).status).toBe(200)
    expect(next.counters).toEqual({ transactions: 0, reloads: 0 })

    rmSync(join(lab.certificateDirectory, `${authorities.contentId}.pem`))
    const [before] = await processesOn(files.config)
    process.kill(before!.pid, 'SIGKILL')
    await waitFor(async () => (await ask(portOf(next, 'web-81')).catch(() => null))?.status === 200, {
      what: 'the other pool to be served',
    })
    expect((await ask(portOf(next, 'web-80'))).status).toBe(503)
    stored(authority.certificate)
    await put(next, entry)
    expect((await ask(portOf(next, 'web-80'))).status).toBe(200)
  })
})
