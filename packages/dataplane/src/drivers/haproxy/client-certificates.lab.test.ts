import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { join } from 'node:path'
import { connect } from 'node:tls'
import type { RouteCondition, Service, ServiceTls } from '@spout/model'
import { type Issued, issueCertificate, revocationList, waitFor } from '@spout/testkit'
import { describe, expect, it } from 'vitest'
import { httpMember } from '../../testing/haproxy/proxy-lab.ts'
import {
  sampleEntry,
  samplePool,
  sampleRoute,
  sampleService,
  sampleWanted,
} from '../../testing/haproxy/sample-entry.ts'
import { memberAt as at, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import { processesOn } from './place/proxy-process.ts'
import { proxyFiles } from './processes/proxy-files.ts'

const { lab, host, started } = await proxyLabOfFile()
const files = proxyFiles(`${lab.runDirectory}/${lab.place.name}`, lab.certificateDirectory)
const [authority, stranger] = [1, 2].map(() => issueCertificate({ isAuthority: true })) as [Issued, Issued]
const known = issueCertificate({ issuer: authority, names: ['client.example'] })
const unknown = issueCertificate({ issuer: stranger, names: ['client.example'] })
const member = await started(httpMember('a'))

const stored = (pem: string) => lab.storeCertificate(pem)
const issued = (...names: readonly string[]) => {
  const { certificate, key } = issueCertificate({ names })
  return stored(certificate + key)
}
const [first, second] = [issued('a.example'), issued('b.example')]

const entryOf = (tls: Partial<ServiceTls>, insertHeaders: Service['insertHeaders'] = [], id = 'web') =>
  sampleEntry(
    id,
    [
      sampleService(`${id}-443`, {
        protocol: 'https',
        port: 443,
        insertHeaders,
        tls: {
          certificates: [first, second],
          ...{ unknownNames: 'default', minVersion: '1.2', alpn: ['http/1.1'] },
          ...tls,
        },
      }),
    ],
    [samplePool(1, { members: [at(member)] })],
  )

const clients = (required: boolean, authorities = stored(authority.certificate)) => ({
  clients: { authorities, required },
})

const accepting = () => ({ clients: { ...clients(false).clients, acceptInvalid: true as const } })

interface Ask {
  readonly client?: Issued
  readonly name?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly session?: Buffer
  readonly onSession?: (session: Buffer) => void
}

/** One request on a connection of its own: the headers that the member saw, or the error of the handshake. */
const ask = (port: number, { client, name = 'a.example', headers = {}, session, onSession }: Ask = {}) =>
  new Promise<{ readonly seen: Record<string, string> } | { readonly refused: string }>((resolve) => {
    const request = https.get(
      {
        ...{ host, port, servername: name, rejectUnauthorized: false, agent: false, headers },
        ...(client === undefined ? {} : { cert: client.certificate, key: client.key }),
        ...(session === undefined ? {} : { session }),
      },
      (response) => {
        let body = ''
        response.on('data', (part) => {
          body += part
        })
        response.on('end', () => resolve({ seen: JSON.parse(body) }))
      },
    )
    if (onSession !== undefined) request.on('socket', (socket) => socket.on('session', onSession))
    request.on('error', (error) => resolve({ refused: error.message }))
  })

describe('clients are asked for certificates', () => {
  it('which they must have, of the authorities, whatever name they ask for', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(clients(true)))
    const port = portOf(driver, 'web-443')
    for (const name of ['a.example', 'b.example', 'other.example']) {
      expect(await ask(port, { client: known, name }), name).toHaveProperty('seen')
      expect(await ask(port, { client: unknown, name }), name).toHaveProperty('refused')
      expect(await ask(port, { name }), name).toHaveProperty('refused')
    }
  })

  it('which they may have: one that does not fit is refused all the same', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(clients(false)))
    const port = portOf(driver, 'web-443')
    expect(await ask(port)).toHaveProperty('seen')
    expect(await ask(port, { client: known })).toHaveProperty('seen')
    expect(await ask(port, { client: unknown })).toHaveProperty('refused')
  })

  it('which may not fit: it is let in, and members are told what is wrong', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(accepting(), ['x-ssl-client-verify', 'x-ssl-client-has-cert']))
    const port = portOf(driver, 'web-443')
    const told = async (client?: Issued) => {
      const outcome = await ask(port, client === undefined ? {} : { client })
      const { seen = {} } = 'seen' in outcome ? outcome : {}
      return ['verify', 'has-cert'].map((name) => seen[`x-ssl-client-${name}`])
    }
    expect(await told()).toEqual(['0', '0'])
    expect(await told(known)).toEqual(['0', '1'])
    // X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE is 21; a missing issuer is 20.
    expect(await told(unknown)).toEqual([expect.stringMatching(/^2[01]$/), '1'])
  })

  it('by one listener and not by another, whose sessions are of no use to the first', async () => {
    const driver = lab.driver()
    await put(driver, entryOf({}, [], 'open'))
    await put(driver, entryOf(clients(true), [], 'closed'))
    let session: Buffer | undefined
    await ask(portOf(driver, 'open-443'), {
      onSession: (ticket) => {
        session = ticket
      },
    })
    await waitFor(() => session !== undefined, { what: 'a session' })
    expect(await ask(portOf(driver, 'closed-443'), { session: session! })).toHaveProperty('refused')
  })

  it('of other authorities from the next handshake on, without a reload, under requests of which none fails', async () => {
    const driver = lab.driver()
    const both = stored(authority.certificate + stranger.certificate)
    await put(driver, entryOf(clients(true)))
    const { reloads } = driver.counters
    const port = portOf(driver, 'web-443')
    let running = true
    const outcomes: Awaited<ReturnType<typeof ask>>[] = []
    const asking = (async () => {
      while (running) outcomes.push(await ask(port, { client: known }))
    })()
    for (let turn = 0; turn < 10; turn++) {
      await put(driver, entryOf(turn % 2 === 0 ? clients(true, both) : clients(true)))
      expect(await ask(port, { client: unknown }), String(turn)).toHaveProperty(turn % 2 === 0 ? 'seen' : 'refused')
    }
    running = false
    await asking
    expect(outcomes.filter((outcome) => 'refused' in outcome)).toEqual([])
    expect(outcomes.length).toBeGreaterThan(0)
    expect(driver.counters.reloads).toBe(reloads)
  })

  it('of other authorities also where it would resume a session of before', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(clients(true)))
    const port = portOf(driver, 'web-443')
    const sessions: Buffer[] = []
    const onSession = (session: Buffer) => sessions.push(session)
    expect(await ask(port, { client: known, onSession })).toHaveProperty('seen')
    expect(await ask(port, { client: known, onSession, session: sessions.at(-1)! })).toHaveProperty('seen')
    await put(driver, entryOf(clients(true, stored(stranger.certificate))))
    expect(await ask(port, { client: known, session: sessions.at(-1)! })).toHaveProperty('refused')
  })

  it('after a restart of the agent, which changes nothing, and of the process', async () => {
    const driver = lab.driver()
    const wanted = entryOf(clients(true))
    await put(driver, wanted)
    await driver.close()
    const next = lab.driver()
    await next.adopt([sampleWanted(wanted)])
    expect(next.counters).toEqual({ transactions: 0, reloads: 0 })
    const port = portOf(next, 'web-443')
    expect(await ask(port, { client: known })).toHaveProperty('seen')
    const [before] = await processesOn(files.config)
    process.kill(before!.pid, 'SIGKILL')
    await waitFor(async () => 'seen' in (await ask(port, { client: known })), { what: 'the next process' })
    expect(await ask(port)).toHaveProperty('refused')
    await waitFor(() => readdirSync(files.directory).every((name) => !name.endsWith('.ca')), {
      what: 'the files that the process has read to be gone',
    })
  })

  it('of authorities whose file was lost at the start of the process, once it is back: nobody gets in until then', async () => {
    const driver = lab.driver()
    const authorities = stored(authority.certificate)
    const wanted = entryOf(clients(true, authorities))
    await put(driver, wanted)
    const port = portOf(driver, 'web-443')
    const file = (contentId: string) => join(lab.certificateDirectory, `${contentId}.pem`)
    const lost = [authorities, first].map(({ contentId }) => [file(contentId), readFileSync(file(contentId))] as const)
    for (const [path] of lost) rmSync(path)
    const [before] = await processesOn(files.config)
    process.kill(before!.pid, 'SIGKILL')
    await waitFor(async () => (await processesOn(files.config)).some(({ pid }) => pid !== before!.pid), {
      what: 'the next process',
    })
    await waitFor(async () => !JSON.stringify(await ask(port, { client: known })).includes('ECONNREFUSED'), {
      what: 'it to listen',
    })
    expect(await ask(port, { client: known })).toHaveProperty('refused')
    expect(await driver.observe()).toEqual([wanted.key])
    for (const [path, pem] of lost) writeFileSync(path, pem, { mode: 0o600 })
    await put(driver, wanted)
    expect(await ask(port, { client: known })).toHaveProperty('seen')
    expect(await ask(port)).toHaveProperty('refused')
    expect(await driver.observe()).toEqual([])
  })

  it('by a listener that comes to a running process, for which that is replaced', async () => {
    const driver = lab.driver()
    await put(driver, entryOf({}, [], 'open'))
    expect(driver.counters.reloads).toBe(0)
    await put(driver, entryOf(clients(true), [], 'closed'))
    expect(driver.counters.reloads).toBeGreaterThanOrEqual(1)
    expect(await ask(portOf(driver, 'closed-443'))).toHaveProperty('refused')
    expect(await ask(portOf(driver, 'open-443'))).toHaveProperty('seen')
  })

  it('and no more when that is turned off', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(clients(true)))
    await put(driver, entryOf({}))
    expect(await ask(portOf(driver, 'web-443'))).toHaveProperty('seen')
  })
})

describe('clients’ certificates are looked up in lists of revoked ones', () => {
  const between = issueCertificate({ issuer: authority, isAuthority: true })
  const [alice, bob] = [1, 2].map(() => issueCertificate({ issuer: authority, names: ['c.example'] })) as [
    Issued,
    Issued,
  ]
  const carol = issueCertificate({ issuer: between, names: ['c.example'] })
  const listed = (...lists: readonly string[]) => {
    const asked = clients(true, stored(authority.certificate + between.certificate))
    return { clients: { ...asked.clients, revocations: stored(lists.join('')) } }
  }
  const [none, noneBetween] = [revocationList(authority), revocationList(between)]
  const withAlice = revocationList(authority, { revoked: [alice] })
  const outcomes = async (port: number) =>
    Promise.all([alice, bob, carol].map(async (client) => Object.keys(await ask(port, { client }))[0]))

  it('and one that is listed is refused at the next handshake, without a reload or a failed request', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(listed(none, noneBetween)))
    const { reloads } = driver.counters
    const port = portOf(driver, 'web-443')
    expect(await outcomes(port)).toEqual(['seen', 'seen', 'seen'])
    let running = true
    const others: Awaited<ReturnType<typeof ask>>[] = []
    const asking = (async () => {
      while (running) others.push(await ask(port, { client: bob }))
    })()
    for (let turn = 0; turn < 10; turn++) {
      const isRevoked = turn % 2 === 0
      await put(driver, entryOf(listed(isRevoked ? withAlice : none, noneBetween)))
      expect(await outcomes(port), String(turn)).toEqual([isRevoked ? 'refused' : 'seen', 'seen', 'seen'])
    }
    running = false
    await asking
    expect(others.filter((outcome) => 'refused' in outcome)).toEqual([])
    expect(others.length).toBeGreaterThan(0)
    expect(driver.counters.reloads).toBe(reloads)
  })

  it('also where it would resume a session of before, of any version of TLS', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(listed(none, noneBetween)))
    const port = portOf(driver, 'web-443')
    const { certificate: cert, key } = alice
    const own = { ...{ host, port, cert, key, servername: 'a.example' }, rejectUnauthorized: false }
    const isResumed = (version: 'TLSv1.2' | 'TLSv1.3', session: Buffer | undefined, sessions: Buffer[]) =>
      new Promise<boolean | null>((resolve) => {
        const socket = connect({ ...own, maxVersion: version, minVersion: version, ...(session && { session }) })
        socket.on('session', (one) => sessions.push(one))
        socket.on('secureConnect', () => socket.write('GET / HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n'))
        // A client of TLS 1.3 learns that it is refused after its own handshake: only an answer counts.
        socket.on('data', () => resolve(socket.isSessionReused()))
        socket.on('close', () => resolve(null))
        socket.on('error', () => {})
      })
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const sessions: Buffer[] = []
      await put(driver, entryOf(listed(none, noneBetween)))
      expect(await isResumed(version, undefined, sessions), version).toBe(false)
      expect(await isResumed(version, sessions.at(-1), sessions), version).toBe(false)
      await put(driver, entryOf(listed(withAlice, noneBetween)))
      expect(await isResumed(version, sessions.at(-1), sessions), version).toBeNull()
    }
  })

  it('of each authority of its chain', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(listed(revocationList(authority, { revoked: [between] }), noneBetween)))
    expect(await outcomes(portOf(driver, 'web-443'))).toEqual(['seen', 'seen', 'refused'])
    await put(driver, entryOf(listed(none)))
    expect(await outcomes(portOf(driver, 'web-443'))).toEqual(['seen', 'seen', 'refused'])
  })

  it('and by no listener without lists', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(listed(withAlice, noneBetween)))
    expect(await outcomes(portOf(driver, 'web-443'))).toEqual(['refused', 'seen', 'seen'])
    await put(driver, entryOf(clients(true, stored(authority.certificate + between.certificate))))
    expect(await outcomes(portOf(driver, 'web-443'))).toEqual(['seen', 'seen', 'seen'])
  })

  it('after a restart of the agent, which changes nothing, and of the process', async () => {
    const driver = lab.driver()
    const wanted = entryOf(listed(withAlice, noneBetween))
    await put(driver, wanted)
    await driver.close()
    const next = lab.driver()
    await next.adopt([sampleWanted(wanted)])
    expect(next.counters).toEqual({ transactions: 0, reloads: 0 })
    const port = portOf(next, 'web-443')
    expect(await outcomes(port)).toEqual(['refused', 'seen', 'seen'])
    await put(next, entryOf(listed(none, noneBetween)))
    expect(await outcomes(port)).toEqual(['seen', 'seen', 'seen'])
    await put(next, wanted)
    const [before] = await processesOn(files.config)
    process.kill(before!.pid, 'SIGKILL')
    await waitFor(async () => 'seen' in (await ask(port, { client: bob })), { what: 'the next process' })
    expect(await outcomes(port)).toEqual(['refused', 'seen', 'seen'])
    expect(readdirSync(files.directory).filter((name) => name.endsWith('.crl'))).toEqual([])
  })

  it('whose file was lost at the start of the process, once it is back: nobody gets in until then', async () => {
    const driver = lab.driver()
    const tls = listed(withAlice, noneBetween)
    const wanted = entryOf(tls)
    await put(driver, wanted)
    const port = portOf(driver, 'web-443')
    const path = join(lab.certificateDirectory, `${tls.clients.revocations.contentId}.pem`)
    const pem = readFileSync(path)
    rmSync(path)
    const [before] = await processesOn(files.config)
    process.kill(before!.pid, 'SIGKILL')
    await waitFor(async () => (await processesOn(files.config)).some(({ pid }) => pid !== before!.pid), {
      what: 'the next process',
    })
    await waitFor(async () => !JSON.stringify(await ask(port, { client: bob })).includes('ECONNREFUSED'), {
      what: 'it to listen',
    })
    expect(await outcomes(port)).toEqual(['refused', 'refused', 'refused'])
    expect(await driver.observe()).toEqual([wanted.key])
    writeFileSync(path, pem, { mode: 0o600 })
    await put(driver, wanted)
    expect(await outcomes(port)).toEqual(['refused', 'seen', 'seen'])
    expect(await driver.observe()).toEqual([])
  })
})

describe('members are told of the client’s certificate', () => {
  const ALL = [
    ...(['x-ssl-client-verify', 'x-ssl-client-has-cert', 'x-ssl-client-dn', 'x-ssl-client-cn'] as const),
    ...(['x-ssl-issuer', 'x-ssl-client-sha1', 'x-ssl-client-not-before', 'x-ssl-client-not-after'] as const),
  ]

  it('and what a client says of itself counts for nothing', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(clients(false), ALL))
    const port = portOf(driver, 'web-443')
    const { subject, issuer, fingerprint } = new X509Certificate(known.certificate)
    const [dn, issuerDn] = [subject, issuer].map((name) => `/${name!.replaceAll('\n', '/')}`)
    expect(await ask(port, { client: known })).toMatchObject({
      seen: {
        'x-ssl-client-verify': '0',
        'x-ssl-client-has-cert': '1',
        'x-ssl-client-dn': dn,
        'x-ssl-client-cn': /CN=([^/]+)/.exec(dn!)![1],
        'x-ssl-issuer': issuerDn,
        'x-ssl-client-sha1': fingerprint.replaceAll(':', ''),
        'x-ssl-client-not-before': expect.stringMatching(/^\d{12}Z$/),
        'x-ssl-client-not-after': expect.stringMatching(/^\d{12}Z$/),
      },
    })
    const headers = { 'x-ssl-client-cn': 'admin', 'x-ssl-client-has-cert': '1', x_ssl_client_cn: 'admin' }
    const { seen } = (await ask(port, { headers })) as { seen: Record<string, string> }
    expect(seen).toMatchObject({ 'x-ssl-client-has-cert': '0', 'x-ssl-client-cn': '', 'x-ssl-client-dn': '' })
    expect(seen).not.toHaveProperty('x_ssl_client_cn')
  })

  it('whose names hold line ends, which end no header', async () => {
    const driver = lab.driver()
    await put(driver, entryOf(clients(true), ALL))
    const nasty = issueCertificate({ issuer: authority, names: ['n.example'], commonName: 'x\r\nx-admin: 1' })
    const { seen } = (await ask(portOf(driver, 'web-443'), { client: nasty })) as { seen: Record<string, string> }
    expect(seen['x-ssl-client-cn']).toBe('x??x-admin: 1')
    expect(seen).not.toHaveProperty('x-admin')
  })
})

describe('routes look at the client’s certificate', () => {
  const routed = (conditions: RouteCondition[], tls: Partial<ServiceTls> = clients(false)) => {
    const entry = entryOf(tls)
    const routes = [sampleRoute(1, { type: 'respond', code: 410 }, conditions)]
    return { ...entry, services: entry.services.map((service) => ({ ...service, routes })) }
  }
  const status = (port: number, client?: Issued) =>
    new Promise<number>((resolve, reject) => {
      const own = client === undefined ? {} : { cert: client.certificate, key: client.key }
      https
        .get({ host, port, rejectUnauthorized: false, agent: false, ...own }, (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        })
        .on('error', reject)
    })
  const alice = issueCertificate({ issuer: authority, names: ['c.example'], commonName: 'alice' })
  const bob = issueCertificate({ issuer: authority, names: ['c.example'], commonName: 'bob' })
  const named = (change: object) =>
    ({ on: 'client-name', name: 'CN', compare: 'exact', values: ['alice'], not: false, ...change }) as RouteCondition

  it.each<[string, RouteCondition, boolean, boolean, boolean]>([
    ['present', { on: 'client-certificate', values: ['present'], not: false }, true, true, false],
    ['absent', { on: 'client-certificate', values: ['absent'], not: false }, false, false, true],
    ['inverted', { on: 'client-certificate', values: ['present'], not: true }, false, false, true],
    ['either', { on: 'client-certificate', values: ['present', 'absent'], not: false }, true, true, true],
    ['by name', named({}), true, false, false],
    ['by name in any case', named({ name: 'cn', compare: 'prefix', values: ['al'] }), true, false, false],
    ['by name, inverted', named({ not: true }), false, true, true],
    ['by expression', named({ compare: 'regex', values: ['^b.b$'] }), false, true, false],
    ['by another part', named({ name: 'O', compare: 'contains', values: ['Spout'] }), true, true, false],
    ['by a part that is not there', named({ name: 'OU' }), false, false, false],
  ])('%s', async (_, condition, ofAlice, ofBob, ofNobody) => {
    const driver = lab.driver()
    await put(driver, routed([condition]))
    const port = portOf(driver, 'web-443')
    for (const [client, holds] of [
      [alice, ofAlice],
      [bob, ofBob],
      [undefined, ofNobody],
    ] as const)
      expect(await status(port, client)).toBe(holds ? 410 : 200)
  })

  it.each<[string, RouteCondition]>([
    ['is none', { on: 'client-certificate', values: ['absent'], not: false }],
    ['has no name', named({ not: true })],
  ])('one that does not fit %s, where it is let in', async (_, condition) => {
    const forged = issueCertificate({ issuer: stranger, names: ['c.example'], commonName: 'alice' })
    const driver = lab.driver()
    await put(driver, routed([condition], accepting()))
    const port = portOf(driver, 'web-443')
    expect([await status(port, forged), await status(port, alice)]).toEqual([410, 200])
  })

  it('and find none where clients are not asked for one, or the listener has no TLS', async () => {
    const driver = lab.driver()
    const conditions: RouteCondition[] = [{ on: 'client-certificate', values: ['absent'], not: false }]
    const plain = sampleService('plain-80', { routes: [sampleRoute(1, { type: 'respond', code: 410 }, conditions)] })
    await put(driver, sampleEntry('plain', [plain], [samplePool(1, { members: [at(member)] })]))
    expect((await fetch(`http://${host}:${portOf(driver, 'plain-80')}/`)).status).toBe(410)
  })
})
