import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { enrolByServiceAccount, LinkRefused, postJson } from '@spout/client'
import { type ReviewedAccount, reviewToken, Transport } from '@spout/kube'
import { Secret, silentLogger, systemClock } from '@spout/runtime'
import {
  KubernetesApi,
  type KubernetesApiError,
  KubernetesCluster,
  Lab,
  LONGEST_BUILD_MS,
  must,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bootstrapAccounts } from '../../../server/src/authn/bootstrap-accounts.ts'
import { ServiceAccounts } from '../../../server/src/authn/service-accounts.ts'
import { AgentLink } from '../../../server/src/link/agent-link.ts'
import { CertificateAuthority } from '../../../server/src/link/certificate-authority.ts'
import { openTestBed, type TestBed } from '../../../server/src/testing/test-bed.ts'
import { NAMESPACE } from '../namespace.ts'
import { AUDIENCE, AUTHORITY } from './names.ts'
import { AUTHORITY_RULES, CONTROL_PLANE_RULES } from './roles.ts'

/** The installation as the real API server takes it, and who its pods are to the control plane. No pod runs here. */

const FILE = path.join(import.meta.dirname, '../../../../deploy/kubernetes/spout.yaml')
const NODES = ['worker1', 'worker2.rack7.example.net'] as const

let lab: Lab
let cluster: KubernetesCluster
let directory: string
let spout: TestBed
let authority: CertificateAuthority
let link: AgentLink
let linkUrl: string
let asControlPlane: Transport

beforeAll(async () => {
  lab = await Lab.create()
  cluster = await KubernetesCluster.start(lab)
  for (const name of NODES) await cluster.api.create('/api/v1/nodes', { metadata: { name } })
  await must([...cluster.kubectl, 'apply', '--filename', FILE])
  asControlPlane = transportOf(await tokenOf('control-plane'))
  const accounts = new ServiceAccounts({
    review: (token) => reviewToken(asControlPlane, { token, audience: AUDIENCE }),
    accounts: [
      { account: 'spout/connector', role: 'balancer', projectName: 'cluster' },
      { account: 'spout/config', role: 'admin', projectName: 'admin' },
    ],
    agents: 'spout/agent',
    ...{ clock: systemClock, log: silentLogger() },
  })
  spout = await openTestBed(systemClock, accounts)
  await bootstrapAccounts({ ...spout, clock: systemClock }, accounts.accounts)
  directory = mkdtempSync(path.join(tmpdir(), 'spout-installation-'))
  authority = await CertificateAuthority.open(directory)
  const states = { ready: () => true, get: () => null, entries: () => [][Symbol.iterator](), onChange: () => () => {} }
  link = new AgentLink({
    ...{ authority, store: spout.store, view: spout.view, admission: spout.admission, states: states as never },
    ...{ reports: { report: () => ({ resend: false }) }, clock: systemClock, log: silentLogger() },
    ...{ listen: { host: '127.0.0.1', port: 0 }, hosts: ['127.0.0.1'] },
    cluster: { serviceAccounts: accounts, nodeGroup: 'default' },
  })
  await link.start()
  linkUrl = `https://127.0.0.1:${link.port}`
  await spout.admission.createNodeGroup({ name: 'default', description: '', announcer: 'vrrp' })
}, LONGEST_BUILD_MS)
afterAll(async () => {
  await link?.stop()
  await spout?.close()
  asControlPlane?.close()
  rmSync(directory, { recursive: true, force: true })
  await cluster?.destroy()
  await lab?.destroy()
})

const transportOf = (token: string): Transport =>
  new Transport({
    access: {
      server: new URL(cluster.api.access.url),
      ca: cluster.api.authority,
      tlsServerName: null,
      skipTlsVerify: false,
      token: { type: 'value', token: new Secret(token) },
      clientCertificate: null,
      namespace: NAMESPACE,
    },
  })

interface TokenOptions {
  readonly namespace?: string
  /** Null for the API server's own audience. */
  readonly audience?: string | null
  readonly pod?: { readonly name: string; readonly uid: string }
}

/** A token as a kubelet gets it. */
async function tokenOf(
  account: string,
  { namespace = NAMESPACE, audience = null, pod }: TokenOptions = {},
): Promise<string> {
  const spec = {
    expirationSeconds: 3600,
    ...(audience !== null && { audiences: [audience] }),
    ...(pod && { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', ...pod } }),
  }
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  const where = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`
  const answer = await waitFor(() => cluster.api.create<object>(where, body), { what: `a token of ${account}` })
  return (answer as { status: { token: string } }).status.token
}

/** A pod of an account, as if bound to a node. */
async function podOn(node: string, name: string, account = 'agent', namespace = NAMESPACE) {
  const spec = { serviceAccountName: account, nodeName: node, containers: [{ name: 'a', image: 'a' }] }
  const made = await cluster.api.create<{ metadata: { name: string; uid?: string }; spec: object }>(
    `/api/v1/namespaces/${namespace}/pods`,
    { metadata: { name }, spec },
  )
  return { name, uid: made.metadata.uid ?? '' }
}

const newRequest = (): string =>
  execFileSync(
    'openssl',
    [
      'req',
      '-new',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      '/dev/null',
      '-subj',
      '/CN=x',
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  ).toString()

/** The node's name, or the HTTP status that refused it. */
async function enrolled(serviceAccountToken: string): Promise<string | number> {
  try {
    const { nodeId } = await enrolByServiceAccount(
      linkUrl,
      { serviceAccountToken, ca: authority.certificate },
      newRequest(),
    )
    return spout.view.get('node', nodeId)?.value.name ?? 'nobody'
  } catch (error) {
    if (!(error instanceof LinkRefused)) throw error
    // That would hide what is asked here.
    expect(error.message).not.toContain('too many')
    return error.status
  }
}

/** One that succeeds takes back what failed before it from the same address. */
async function enrolOnce(): Promise<void> {
  const token = await tokenOf('agent', { audience: AUDIENCE, pod: await podOn('worker1', `agent-good-${++goodOnes}`) })
  expect(await enrolled(token)).toBe('worker1')
}
let goodOnes = 0

/** `roles project` of the token that is given, or the HTTP status. */
async function loggedIn(serviceAccountToken: string): Promise<string | number> {
  const answer = await spout.app.inject({
    ...{ method: 'POST', url: '/api/v1/tokens', payload: { serviceAccountToken } },
    // Not where agents enrol from: what is refused of both counts together.
    remoteAddress: '127.0.0.2',
  })
  if (answer.statusCode !== 201) return answer.statusCode
  const { roles, projectId } = answer.json() as { roles: readonly string[]; projectId: string }
  return `${roles.join()} ${spout.view.get('project', projectId)?.value.name}`
}

interface Rule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}
const textsOf = (rules: readonly Rule[]): readonly string[] =>
  rules
    .filter(({ resources = [] }) => !resources.every((one) => one.startsWith('selfsubject')))
    .flatMap(({ apiGroups = [], resources = [], resourceNames = [], verbs }) =>
      resources.map((one) => `${apiGroups.join()}/${one} ${resourceNames.join()} ${[...verbs].sort().join()}`),
    )
    .sort()

/** What the API server says that an account of ours may in a namespace, without what everybody may. */
async function rightsOf(account: string, namespace: string): Promise<readonly string[]> {
  const own = new KubernetesApi({ ...cluster.api.access, token: await tokenOf(account) })
  const asked = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } }
  const answer = await own.create<object>('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', asked)
  own.close()
  return textsOf((answer as { status: { resourceRules: readonly Rule[] } }).status.resourceRules)
}

describe('deploy/kubernetes/spout.yaml', () => {
  it('is accepted by the API server, and changes nothing when applied again', async () => {
    const said = await must([...cluster.kubectl, 'apply', '--filename', FILE])
    expect(
      said
        .trim()
        .split('\n')
        .filter((line) => !line.endsWith(' unchanged')),
    ).toEqual([])
    // Unknown and doubled fields are errors here.
    await must([
      ...cluster.kubectl,
      'apply',
      '--server-side',
      '--dry-run=server',
      '--force-conflicts',
      '--validate=strict',
      '--filename',
      FILE,
    ])
  })

  it('leaves the authority alone that the control plane wrote', async () => {
    const where = `/api/v1/namespaces/${NAMESPACE}/configmaps/${AUTHORITY}`
    const patch = { data: { 'ca.crt': authority.certificate } }
    const contentType = 'application/merge-patch+json'
    await asControlPlane.request({ method: 'PATCH', path: where, body: patch, contentType })
    await must([...cluster.kubectl, 'apply', '--filename', FILE])
    expect(await cluster.api.get<object>(where)).toMatchObject(patch)
  })

  it('gives the control plane two rights, and the agents none', async () => {
    expect(await rightsOf('control-plane', NAMESPACE)).toEqual(textsOf([...CONTROL_PLANE_RULES, ...AUTHORITY_RULES]))
    expect(await rightsOf('control-plane', 'default')).toEqual(textsOf(CONTROL_PLANE_RULES))
    for (const namespace of [NAMESPACE, 'kube-system']) expect(await rightsOf('agent', namespace)).toEqual([])
  })
})

describe('an agent', () => {
  it('enrols the node that its pod runs on, whatever that is called, and none twice', async () => {
    for (const [index, node] of NODES.entries()) {
      const pod = await podOn(node, `agent-${index}`)
      const token = await tokenOf('agent', { audience: AUDIENCE, pod })
      expect(await enrolled(token)).toBe(node)
      expect(await enrolled(token)).toBe(node)
    }
    expect(
      spout.view
        .list('node')
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...NODES].sort())
  })

  it('cannot name a node itself', async () => {
    const token = await tokenOf('agent', { audience: AUDIENCE, pod: await podOn('worker1', 'agent-naming') })
    const body = { serviceAccountToken: token, csr: newRequest(), nodeName: NODES[1] }
    const asked = postJson(new URL('/agent/v1/enrol', linkUrl), body, { ca: authority.certificate, agent: false })
    await expect(asked).rejects.toMatchObject({ status: 400 })
  })

  it('does nothing else with its token: no login, and nothing at the API server', async () => {
    const token = await tokenOf('agent', { audience: AUDIENCE, pod: await podOn('worker1', 'agent-stolen') })
    expect(await loggedIn(token)).toBe(401)
    const thief = new KubernetesApi({ ...cluster.api.access, token })
    for (const where of ['/api/v1/secrets', '/api/v1/nodes', `/api/v1/namespaces/${NAMESPACE}/configmaps`, '/version'])
      expect(await thief.get(where).catch((error: KubernetesApiError) => error.status)).toBe(401)
    thief.close()
  })

  it('is refused when the pod is gone that the token is bound to', async () => {
    const pod = await podOn('worker1', 'agent-gone')
    const token = await tokenOf('agent', { audience: AUDIENCE, pod })
    await cluster.api.delete(`/api/v1/namespaces/${NAMESPACE}/pods/${pod.name}`, { gracePeriodSeconds: 0 })
    await waitFor(async () => (await enrolled(token)) === 401, { what: 'the token to be worth nothing' })
  })
})

describe('who enrols no node', () => {
  beforeEach(enrolOnce)

  it('every other account of ours, also in a pod on a node', async () => {
    for (const account of ['connector', 'config', 'control-plane', 'default']) {
      const pod = await podOn('worker1', `not-an-agent-${account}`, account)
      expect(await enrolled(await tokenOf(account, { audience: AUDIENCE, pod }))).toBe(401)
    }
  })

  it('an account of the same name in another namespace', async () => {
    await cluster.api.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'agent' } })
    const pod = await podOn('worker1', 'agent', 'agent', 'default')
    expect(await enrolled(await tokenOf('agent', { namespace: 'default', audience: AUDIENCE, pod }))).toBe(401)
  })

  it('a token that is bound to no pod, or meant for the API server, or somebody else', async () => {
    const pod = await podOn('worker1', 'agent-other-audience')
    expect(await enrolled(await tokenOf('agent', { audience: AUDIENCE }))).toBe(401)
    expect(await enrolled(await tokenOf('agent', { pod }))).toBe(401)
    expect(await enrolled(await tokenOf('agent', { audience: 'vault', pod }))).toBe(401)
  })

  it('texts that are no token, and changed tokens', async () => {
    const token = await tokenOf('agent', { audience: AUDIENCE, pod: await podOn('worker1', 'agent-forged') })
    const [head = '', body = '', signature = ''] = token.split('.')
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as object
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'system:serviceaccount:spout:config' })).toString(
      'base64url',
    )
    for (const bad of [
      'hello',
      'a.b.c',
      cluster.api.access.token,
      `${head}.${forged}.${signature}`,
      `${head}.${body}.`,
    ]) {
      expect(await enrolled(bad)).toBe(401)
      expect(await loggedIn(bad)).toBe(401)
    }
  })

  it('anybody while the API server does not say: that is no refusal', async () => {
    const token = await tokenOf('agent', { audience: AUDIENCE, pod: await podOn('worker1', 'agent-waiting') })
    const unreachable = new ServiceAccounts({
      review: () => Promise.reject(new Error('no answer')),
      accounts: [],
      agents: 'spout/agent',
      ...{ clock: systemClock, log: silentLogger() },
    })
    await expect(unreachable.nodeOf(token, '127.0.0.1')).rejects.toMatchObject({ code: 'Unavailable' })
  })
})

describe('connectors', () => {
  it('log in by their accounts: one may balance the one project, the other configure', async () => {
    expect(await loggedIn(await tokenOf('connector', { audience: AUDIENCE }))).toBe('balancer cluster')
    expect(await loggedIn(await tokenOf('config', { audience: AUDIENCE }))).toBe('admin,member,reader admin')
  })

  it('get a token that ends no later than their own', async () => {
    const own = await tokenOf('connector', { audience: AUDIENCE })
    const answer = await spout.app.inject({
      method: 'POST',
      url: '/api/v1/tokens',
      payload: { serviceAccountToken: own },
    })
    const { exp } = JSON.parse(Buffer.from(own.split('.')[1] ?? '', 'base64url').toString('utf8')) as { exp: number }
    expect(Date.parse((answer.json() as { expiresAt: string }).expiresAt)).toBe(exp * 1000)
  })

  it('are nobody to us with a token for the API server, nor is anybody else', async () => {
    expect(await loggedIn(await tokenOf('connector'))).toBe(401)
    expect(await loggedIn(await tokenOf('control-plane', { audience: AUDIENCE }))).toBe(401)
    expect(await loggedIn(await tokenOf('default', { namespace: 'kube-system', audience: AUDIENCE }))).toBe(401)
  })
})

it('guessed tokens cause only a limited number of requests to the API server', async () => {
  await enrolOnce()
  // Whom nobody has tried before: failures are counted by who a token says it is of, and by address.
  const claims = Buffer.from(JSON.stringify({ sub: 'system:serviceaccount:nowhere:nobody' })).toString('base64url')
  const nobody = { serviceAccountToken: `a.${claims}.c`, ca: authority.certificate }
  const reasons: string[] = []
  for (let tries = 0; tries < 12; tries++)
    reasons.push(
      await enrolByServiceAccount(linkUrl, nobody, newRequest()).then(
        () => 'let in',
        (error: Error) => error.message,
      ),
    )
  expect(reasons.filter((reason) => reason.includes('is not known'))).toHaveLength(10)
  expect(reasons.filter((reason) => reason.includes('too many failed logins'))).toHaveLength(2)
})

it('a review returns the pod and node that the API server knows', async () => {
  const pod = await podOn('worker1', 'reviewed')
  const token = await tokenOf('agent', { audience: AUDIENCE, pod })
  const expected: ReviewedAccount = { namespace: NAMESPACE, name: 'agent', pod, node: 'worker1' }
  expect(await reviewToken(asControlPlane, { token, audience: AUDIENCE })).toEqual(expected)
})
