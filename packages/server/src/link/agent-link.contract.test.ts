import { execFileSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { type Agent, request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import type { NodeStates, ReportSink } from '@spout/admission/contract'
import { createAgentLink, enrol, type LinkIdentity, LinkRefused, type StateLine } from '@spout/client'
import { type AuditRecord, EDITS_VERSION, entryHash, type NodeReport, type NodeStateEntry } from '@spout/model'
import { type Clock, silentLogger, systemClock } from '@spout/runtime'
import { LineSplitter } from '@spout/runtime/ndjson'
import { issueCertificate, recordFault, waitFor } from '@spout/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../testing/test-bed.ts'
import { AgentLink } from './agent-link.ts'
import { CertificateAuthority } from './certificate-authority.ts'

/** The link over real TLS, with the agents' own client at the other end. */

let bed: TestBed
let directory: string
let authority: CertificateAuthority
let link: AgentLink
let url: string
let groupId: string
const reports: [string, NodeReport][] = []
const open: (() => void)[] = []

const domain = (number: number): NodeStateEntry => ({
  kind: 'domain',
  version: 1,
  key: `domain/${number}`,
  number,
  networkId: 'n',
  segment: { physicalNetwork: 'p', vlan: number },
  returnPath: 'snat',
  subnets: [],
  gateway: null,
})

const large = (members: number): NodeStateEntry =>
  ({
    ...{ kind: 'load-balancer', version: 1, key: 'lb/a', id: 'a', generation: 1, domain: 1, vips: [], services: [] },
    pools: [{ id: 'p', members: Array.from({ length: members }, (_, at) => ({ id: `m${at}` })) }],
  }) as unknown as NodeStateEntry

class Table implements NodeStates {
  readonly held = new Map<string, Map<string, NodeStateEntry>>()
  readonly #listeners = new Map<string, Set<(keys: readonly string[]) => void>>()
  isReady = true
  ready() {
    return this.isReady
  }
  get(node: string, key: string) {
    const entry = this.held.get(node)?.get(key)
    return entry ? { entry, hash: entryHash(entry) } : null
  }
  *entries(node: string) {
    for (const [key, entry] of this.held.get(node) ?? []) yield { key, entry, hash: entryHash(entry) }
  }
  onChange(node: string, listener: (keys: readonly string[]) => void) {
    const listeners = this.#listeners.get(node) ?? new Set()
    this.#listeners.set(node, listeners.add(listener))
    return () => listeners.delete(listener)
  }
  put(node: string, entry: NodeStateEntry) {
    this.held.set(node, (this.held.get(node) ?? new Map()).set(entry.key, entry))
    for (const listener of this.#listeners.get(node) ?? []) listener([entry.key])
  }
}

/** The clock of the link, which a test may set ahead. */
let aheadMs = 0
/** How often the link looks for expired certificates. */
const LOOK_MS = 20
/** Collects the link's looks for expired certificates, so that the test runs them; null: they run at once. */
let heldLooks: (() => void)[] | null = null
const clock: Clock = {
  ...systemClock,
  now: () => new Date(Date.now() + aheadMs),
  setTimer: (callback, delayMs) =>
    systemClock.setTimer(() => {
      if (heldLooks !== null && delayMs === LOOK_MS) heldLooks.push(callback)
      else callback()
    }, delayMs),
}
const DAY_MS = 86_400_000

const table = new Table()
const sink: ReportSink = {
  report: (nodeId, report) => {
    reports.push([nodeId, report])
    return { resend: report.sequence === 1 }
  },
}

beforeAll(async () => {
  bed = await openTestBed()
  directory = mkdtempSync(join(tmpdir(), 'spout-link-'))
  authority = await CertificateAuthority.open(directory)
  link = new AgentLink({
    ...{ authority, store: bed.store, view: bed.view, admission: bed.admission, states: table, reports: sink },
    ...{ clock, log: silentLogger(), listen: { host: '127.0.0.1', port: 0 }, hosts: ['127.0.0.1'] },
    ...{ audit: bed.audit, lookForExpiredMs: LOOK_MS, term: { store: 'ab12', token: 7 } },
  })
  await link.start()
  url = `https://127.0.0.1:${link.port}`
  groupId = (await bed.admission.createNodeGroup({ name: 'g', description: '', announcer: 'l2' })).id
})
afterAll(async () => {
  for (const close of open) close()
  await link.stop()
  await bed.close()
  rmSync(directory, { recursive: true, force: true })
})

const newRequest = (): { key: string; csr: string } => {
  const both = execFileSync(
    'openssl',
    ['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '-', '-subj', '/CN=x'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  ).toString()
  const at = both.indexOf('-----BEGIN CERTIFICATE REQUEST-----')
  return { key: both.slice(0, at), csr: both.slice(at) }
}

const tokenFor = async (nodeName: string): Promise<string> => {
  const { secret } = await bed.admission.createEnrolmentToken({ nodeName, nodeGroupId: groupId, ttlSeconds: 600 })
  return `${secret}.${authority.pin}`
}

const enrolled = async (nodeName: string): Promise<{ nodeId: string; identity: LinkIdentity }> => {
  const { key, csr } = newRequest()
  const { nodeId, certificate, ca } = await enrol(url, await tokenFor(nodeName), csr)
  return { nodeId, identity: { url, key, certificate, ca } }
}

const linkOf = (identity: LinkIdentity) => {
  const client = createAgentLink(identity)
  open.push(() => client.close())
  return client
}

const never = new AbortController().signal

const report = (sequence: number): NodeReport => ({
  session: 's',
  sequence,
  entries: [],
  removed: [],
  members: [],
  stats: [],
  inSync: true,
  features: ['l4'],
})

/** Reads lines until one fits, heartbeats left out. */
async function until(lines: AsyncIterator<readonly StateLine[]>, last: (line: StateLine) => boolean) {
  const read: StateLine[] = []
  for (;;) {
    const { value, done } = await lines.next()
    if (done === true) return read
    read.push(...value.filter((line: StateLine) => line.type !== 'heartbeat'))
    if (value.some(last)) return read
  }
}

/** The types of the lines that come in answer to a GET of `path` with a node's identity, without the agents' client. */
async function* typesAt({ ca, certificate: cert, key }: LinkIdentity, path: string): AsyncGenerator<string, undefined> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpsRequest(new URL(path, url), { ca, cert, key, agent: false }, resolve).on('error', reject).end()
  })
  const splitter = new LineSplitter()
  for await (const chunk of response)
    for (const line of splitter.push(chunk as Buffer)) yield (JSON.parse(line) as { type: string }).type
}

const refusal = async (call: Promise<unknown>): Promise<number | string> => {
  try {
    await call
  } catch (error) {
    return error instanceof LinkRefused ? error.status : String(error)
  }
  return 'accepted'
}

describe('enrolment', () => {
  test('one token enrols one node, which is known by its certificate', async () => {
    const token = await tokenFor('lb-1')
    const { nodeId } = await enrol(url, token, newRequest().csr)
    expect(bed.view.get('node', nodeId)?.value).toMatchObject({ name: 'lb-1', certificateSha256: expect.any(String) })
    expect(await refusal(enrol(url, token, newRequest().csr))).toBe(401)
  })

  test('a repeated request after a lost answer is answered', async () => {
    const token = await tokenFor('lb-lost')
    const { csr } = newRequest()
    const first = await enrol(url, token, csr)
    const second = await enrol(url, token, csr)
    expect(second.nodeId).toBe(first.nodeId)
    expect(second.certificate).not.toBe(first.certificate)
    expect(await refusal(enrol(url, token, newRequest().csr))).toBe(401)
  })

  test('a request is no longer answered once its node was deleted, or enrolled anew', async () => {
    for (const end of ['deleted', 'enrolled anew']) {
      const token = await tokenFor('lb-gone')
      const { csr } = newRequest()
      const { nodeId } = await enrol(url, token, csr)
      if (end === 'deleted') await bed.admission.deleteNode(nodeId)
      else await enrol(url, await tokenFor('lb-gone'), newRequest().csr)
      const before = bed.view.get('node', nodeId)
      expect(await refusal(enrol(url, token, csr))).toBe(401)
      expect(bed.view.get('node', nodeId)).toEqual(before)
    }
  })

  test('with a token of another authority no secret is sent', async () => {
    const { secret } = await bed.admission.createEnrolmentToken({
      nodeName: 'lb-2',
      nodeGroupId: groupId,
      ttlSeconds: 600,
    })
    expect(await refusal(enrol(url, `${secret}.${'0'.repeat(32)}`, newRequest().csr))).toContain(
      'does not present the CA',
    )
    expect(bed.view.list('enrolmentToken').find((token) => token.nodeName === 'lb-2')?.usedAt).toBeNull()
  })

  test('a wrong request leaves the token valid', async () => {
    const token = await tokenFor('lb-3')
    expect(await refusal(enrol(url, token, 'nonsense'))).toBe(400)
    expect((await enrol(url, token, newRequest().csr)).nodeId).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('two at once with one token: one is refused', async () => {
    const token = await tokenFor('lb-4')
    const both = await Promise.all([1, 2].map(() => refusal(enrol(url, token, newRequest().csr))))
    expect(both.sort()).toEqual([401, 'accepted'])
  })
})

describe('state and reports', () => {
  test('everything, then changes, of this node alone', async () => {
    const { nodeId, identity } = await enrolled('stream-1')
    table.put(nodeId, domain(1))
    table.put('another', domain(2))
    const lines = linkOf(identity).state(never)[Symbol.asyncIterator]()
    expect(await until(lines, (line) => line.type === 'synced')).toEqual([
      { type: 'put', hash: entryHash(domain(1)), entry: domain(1) },
      { type: 'synced' },
    ])
    table.put(nodeId, domain(3))
    const changes = await until(lines, (line) => line.type === 'put')
    expect(changes).toEqual([{ type: 'put', hash: entryHash(domain(3)), entry: domain(3) }])
    await lines.return?.()
  })

  test('a stream says in which term it is, before its first line: who refuses that gets no line', async () => {
    const { nodeId, identity } = await enrolled('term-1')
    table.put(nodeId, domain(1))
    const terms: unknown[] = []
    const lines = linkOf(identity)
      .state(never, async (term) => void terms.push(term))
      [Symbol.asyncIterator]()
    await until(lines, (line) => line.type === 'synced')
    expect(terms).toEqual([{ store: 'ab12', token: 7 }])
    await lines.return?.()
    const refused = linkOf(identity).state(never, () => Promise.reject(new Error('outdated')))
    await expect(refused[Symbol.asyncIterator]().next()).rejects.toThrow('outdated')
  })

  test('certificates, with their keys, of the load balancers that this node has, and of no other', async () => {
    const { nodeId, identity } = await enrolled('certificates-1')
    const other = await enrolled('certificates-2')
    const { certificate: chain, key } = issueCertificate({ names: ['a.example'] })
    const project = await bed.admission.createProject({ name: 'certificates', description: '' })
    const { id, contentId } = await bed.admission.createCertificate({ projectId: project.id, name: 'a', chain, key })
    const second = issueCertificate({ names: ['b.example'] })
    const { id: secondId } = await bed.admission.createCertificate({
      ...{ projectId: project.id, name: 'b', chain: second.certificate, key: second.key },
    })
    const tls = { certificates: [id, secondId].map((each) => ({ id: each, contentId: 'an older one' })) }
    table.put(nodeId, { ...large(0), services: [{ tls }] } as unknown as NodeStateEntry)
    table.put(other.nodeId, domain(1))
    const [given, ...more] = await linkOf(identity).certificates('a', [id], never)
    expect(more).toEqual([])
    expect(given?.contentId).toBe(contentId)
    const pem = given!.pem
    expect(createPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' })).toBe(
      createPrivateKey(key).export({ type: 'pkcs8', format: 'pem' }),
    )
    expect(new X509Certificate(pem).fingerprint256).toBe(new X509Certificate(chain).fingerprint256)
    const [unnamed] = await linkOf(identity).certificates(
      'a',
      Array.from({ length: 101 }, () => id),
      never,
    )
    expect(unnamed).toEqual(given)
    expect(await linkOf(identity).certificates('a', [id, secondId], never)).toHaveLength(2)
    expect(await linkOf(identity).certificates('a', [project.id], never)).toEqual([])
    expect(await refusal(linkOf(other.identity).certificates('a', [id], never))).toBe(404)
    expect(await refusal(linkOf(identity).certificates('b', [id], never))).toBe(404)
    expect(
      await refusal(linkOf({ ...identity, certificate: other.identity.certificate }).certificates('a', [id], never)),
    ).not.toBe('accepted')
  })

  test.each([
    [`?edits=${EDITS_VERSION}`, 'edit'],
    ['?edits=1', 'put'],
    ['', 'put'],
  ])('of a large entry only edits, for an agent that understands our version of them: %s', async (query, expected) => {
    const { nodeId, identity } = await enrolled(`edits${query.slice(-1)}`)
    table.put(nodeId, large(900))
    const lines = typesAt(identity, `/agent/v1/state${query}`)
    for (let type = ''; type !== 'synced'; type = (await lines.next()).value ?? '');
    table.put(nodeId, large(901))
    let type: string | undefined = 'heartbeat'
    while (type === 'heartbeat') type = (await lines.next()).value ?? undefined
    expect(type).toBe(expected)
    await lines.return(undefined)
  })

  test('nothing is streamed before the state is planned: it would clear the node', async () => {
    const { identity } = await enrolled('stream-2')
    table.isReady = false
    try {
      expect(await refusal(linkOf(identity).state(never)[Symbol.asyncIterator]().next())).toBe(503)
    } finally {
      table.isReady = true
    }
  })

  test('reports carry the node of the certificate', async () => {
    const { nodeId, identity } = await enrolled('report-1')
    const client = linkOf(identity)
    expect(await client.report(report(1), never)).toEqual({ resend: true })
    expect(await client.report(report(2), never)).toEqual({ resend: false })
    expect(reports.slice(-2).map(([id, { sequence }]) => [id, sequence])).toEqual([
      [nodeId, 1],
      [nodeId, 2],
    ])
    expect(await refusal(client.report({ ...report(3), sequence: -1 }, never))).toBe(400)
  })

  test('a control plane of another authority gets no report and no state is accepted from it', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'spout-rogue-'))
    const other = await CertificateAuthority.open(elsewhere)
    // The attacker has the whole store, as from a stolen backup, but not the authority's key.
    const rogue = new AgentLink({
      ...{ authority: other, store: bed.store, view: bed.view, admission: bed.admission, states: table, reports: sink },
      ...{ clock: systemClock, log: silentLogger(), listen: { host: '127.0.0.1', port: 0 }, hosts: ['127.0.0.1'] },
      audit: bed.audit,
    })
    await rogue.start()
    try {
      const { identity, nodeId } = await enrolled('loyal-1')
      table.put(nodeId, domain(9))
      const client = linkOf({ ...identity, url: `https://127.0.0.1:${rogue.port}` })
      const before = reports.length
      const stream = client.state(never)[Symbol.asyncIterator]()
      await expect(stream.next()).rejects.toThrow(/certificate/i)
      await expect(client.report(report(1), never)).rejects.toThrow(/certificate/i)
      await expect(client.renew(newRequest().csr, never)).rejects.toThrow(/certificate/i)
      expect(reports).toHaveLength(before)
      expect(rogue.connected).toBe(0)
    } finally {
      await rogue.stop()
      rmSync(elsewhere, { recursive: true, force: true })
    }
  })

  test('a deleted node is disconnected at once and cannot return', async () => {
    const { nodeId, identity } = await enrolled('revoked-1')
    const client = linkOf(identity)
    const lines = client.state(never)[Symbol.asyncIterator]()
    await until(lines, (line) => line.type === 'synced')
    const ended = refusal(until(lines, () => false))
    await bed.admission.deleteNode(nodeId)
    expect(await ended).not.toBe(401)
    expect(await refusal(client.report(report(1), never))).toBe(401)
  })

  test('a node that enrols anew invalidates its older certificate', async () => {
    const first = await enrolled('again-1')
    const second = await enrolled('again-1')
    expect(second.nodeId).toBe(first.nodeId)
    expect(await refusal(linkOf(first.identity).report(report(1), never))).toBe(401)
    expect(await refusal(linkOf(second.identity).report(report(1), never))).toBe('accepted')
  })

  test('a renewed certificate takes over; the older one is valid until then', async () => {
    const { identity } = await enrolled('renew-1')
    const before = linkOf(identity)
    const { key, csr } = newRequest()
    const renewed = await before.renew(csr, never)
    expect(await refusal(before.report(report(1), never))).toBe('accepted')
    const after = linkOf({ url, key, certificate: renewed.certificate, ca: renewed.ca })
    expect(await refusal(after.report(report(2), never))).toBe('accepted')
    expect(await refusal(before.report(report(3), never))).toBe(401)
  })
})

test('enrolments and renewals are in the audit log, reports and secrets are not', async () => {
  const { nodeId, identity } = await enrolled('audited-1')
  const client = linkOf(identity)
  await client.report(report(1), never)
  await client.renew(newRequest().csr, never)
  const token = await tokenFor('audited-2')
  expect(await refusal(enrol(url, `${'x'.repeat(43)}.${authority.pin}`, newRequest().csr))).toBe(401)
  const page = { show: (record: AuditRecord) => record, since: null, before: null }
  const { items } = await bed.audit.read({ ...page, limit: 3 })
  expect(items).toMatchObject([
    { operation: 'POST /agent/v1/enrol', status: 401, method: 'enrolment_token', object: 'enrol' },
    { operation: 'POST /agent/v1/renew', status: 200, method: 'certificate', object: `nodes/${nodeId}` },
    { operation: 'POST /agent/v1/enrol', status: 200, method: 'enrolment_token', object: `nodes/${nodeId}` },
  ])
  for (const item of items) expect(item).toMatchObject({ surface: 'agent-link', from: '127.0.0.1' })
  const all = JSON.stringify((await bed.audit.read({ ...page, limit: 1000 })).items)
  for (const secret of [token.split('.')[0] ?? '', 'BEGIN CERTIFICATE', '/agent/v1/report'])
    expect(all).not.toContain(secret)
})

describe('a certificate that expires', () => {
  afterEach(() => {
    aheadMs = 0
    heldLooks = null
  })

  test('is refused on an open connection, and ends its state stream; a renewed one continues', async () => {
    const { identity } = await enrolled('expires-1')
    const { identity: silent } = await enrolled('expires-2')
    const client = linkOf(identity)
    expect(await refusal(client.report(report(1), never))).toBe('accepted')
    const lines = linkOf(silent).state(never)[Symbol.asyncIterator]()
    await until(lines, (line) => line.type === 'synced')
    const ended = refusal(until(lines, () => false))
    // A look ends the open connection, perhaps before the report is answered.
    const looks: (() => void)[] = []
    heldLooks = looks
    aheadMs = 91 * DAY_MS
    expect(await refusal(client.report(report(2), never))).toBe(401)
    await waitFor(() => looks.length > 0, { what: 'the link to look for expired certificates' })
    heldLooks = null
    for (const look of looks) look()
    // The connection is idle, and is ended all the same.
    expect(await ended).not.toBe(401)
    aheadMs = 0
    expect(await refusal(linkOf(identity).report(report(3), never))).toBe('accepted')
  })

  test('is renewed without a failing report', async () => {
    const { identity } = await enrolled('expires-3')
    const client = linkOf(identity)
    const answers: (number | string)[] = []
    const { key, csr } = newRequest()
    let renewing = true
    const renewed = client.renew(csr, never).finally(() => {
      renewing = false
    })
    for (let sequence = 1; renewing; sequence++) answers.push(await refusal(client.report(report(sequence), never)))
    const { certificate, ca } = await renewed
    const after = linkOf({ url, key, certificate, ca })
    for (let sequence = 1000; sequence < 1010; sequence++)
      answers.push(await refusal(after.report(report(sequence), never)))
    expect(new Set(answers)).toEqual(new Set(['accepted']))
    recordFault({
      fault: 'agent: certificate renewed while it reports',
      outcome: 'the old one is good until the new one is shown; no report fails',
      figure: `0 of ${answers.length} reports refused`,
    })
  })
})

describe('strangers', () => {
  const get = (options: { key?: string; cert?: string; agent?: Agent }): Promise<number> =>
    new Promise((resolve, reject) => {
      httpsRequest(`${url}/agent/v1/state`, { ...options, ca: authority.certificate, agent: false }, (response) => {
        response.destroy()
        resolve(response.statusCode ?? 0)
      })
        .on('error', reject)
        .end()
    })

  test('no certificate', async () => {
    expect(await get({})).toBe(401)
  })

  test('a certificate of an authority of the same name', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'spout-other-'))
    try {
      const other = await CertificateAuthority.open(elsewhere)
      const { nodeId } = await enrolled('stranger-1')
      const { key, csr } = newRequest()
      const { certificate } = await other.issueNode(csr, nodeId)
      expect(await get({ key, cert: certificate })).toBe(401)
    } finally {
      rmSync(elsewhere, { recursive: true, force: true })
    }
  })

  test('a certificate of ours for a node that never existed', async () => {
    const { key, csr } = newRequest()
    const { certificate } = await authority.issueNode(csr, '6f1c3b1e-6a4e-4c56-9f0b-0000000000ff')
    expect(await get({ key, cert: certificate })).toBe(401)
  })

  test("the server's own certificate", async () => {
    const { key, certificate } = await authority.issueServer(['127.0.0.1'])
    expect(await get({ key, cert: certificate })).toBe(401)
  })

  test('a report of 32 MiB is refused before it is sent', async () => {
    const socket = connect({ host: '127.0.0.1', port: link.port, ca: authority.certificate })
    let said = ''
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.on('close', resolve))
    const length = 32 * 1024 * 1024
    socket.write(`POST /agent/v1/report HTTP/1.1\r\nHost: spout\r\nContent-Length: ${length}\r\n\r\n`)
    await closed
    expect(said).toMatch(/^HTTP\/1\.1 401 /)
    expect(said).toMatch(/connection: close/i)
  })

  test('TLS 1.2', async () => {
    const refused = await new Promise<string>((resolve) => {
      const socket = connect({ host: '127.0.0.1', port: link.port, ca: authority.certificate, maxVersion: 'TLSv1.2' })
      socket.on('error', (error) => resolve(error.message))
      socket.on('secureConnect', () => resolve('connected'))
    })
    expect(refused).toMatch(/protocol version/i)
  })
})
