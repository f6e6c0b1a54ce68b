import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  type Account,
  bundled,
  createTenant,
  issueCertificate,
  Lab,
  PRODUCT_ENVIRONMENT,
  revocationList,
  run,
  type SystemAccess,
  startControlPlane,
  type Tenant,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// The command as people run it, against a control plane as it is started.
let lab: Lab
let access: SystemAccess
let tenant: Tenant
let directory: string

beforeAll(async () => {
  lab = await Lab.create()
  directory = mkdtempSync(path.join(tmpdir(), 'spout-cli-'))
  access = await startControlPlane(lab)
  const spec = { project: 'acme', user: 'alice', password: 'alice-in-the-lab', segment: 'tenant-a' } as const
  tenant = await createTenant(access, { ...spec, returnPath: 'snat' })
  const pool = 'address-pool create public --ranges 198.51.100.16-198.51.100.250 --cidr 198.51.100.0/24'
  await done(access.admin, pool)
})

afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
  await lab.destroy()
})

const MAIN = bundled(path.join(import.meta.dirname, 'main.ts'))

const spout = (who: Pick<Account, 'token'>, words: string, input = '') =>
  run([process.execPath, MAIN, ...words.split(' ')], {
    env: { ...PRODUCT_ENVIRONMENT, SPOUT_ENDPOINT: access.endpoint, SPOUT_TOKEN: who.token, NO_COLOR: '1' },
    input,
  })

async function done(who: Pick<Account, 'token'>, words: string, input?: string): Promise<string> {
  const { code, stdout, stderr } = await spout(who, words, input)
  expect({ code, stderr }, words).toEqual({ code: 0, stderr: '' })
  return stdout
}

/** The printed object as data. */
const shown = async (who: Pick<Account, 'token'>, words: string) => JSON.parse(await done(who, `${words} -o json`))

describe('dry runs', () => {
  test('say what a change would do, and do nothing', async () => {
    const created = await done(tenant, 'lb create tried --dry-run')
    expect(created).toMatch(/^Open connections\n {2}All go on\.\n\nAddresses\n {2}198\.51\.100\.\d+ {2}taken\n/)
    expect(created).toMatch(/\nNothing was changed: this was a dry run\.\n$/)
    expect(await done(tenant, 'lb list -o name')).not.toContain('tried')

    await done(tenant, 'lb create tried')
    await done(tenant, 'listener create tried web --protocol tcp --port 443')
    await done(tenant, 'pool create tried backends --protocol tcp --drain 60')
    await done(tenant, 'listener set tried web --default-pool backends')
    const member = 'member create tried backends one --address 10.0.0.11 --port 9000'
    expect(await done(tenant, `${member} --dry-run`)).toContain('All go on.')
    await done(tenant, member)
    const lb = await shown(tenant, 'lb show tried')
    for (const words of ['member delete tried backends one', 'listener set tried web --port 444', 'lb delete tried']) {
      const preview = await shown(tenant, `${words} --dry-run`)
      expect(preview).toMatchObject({ dryRun: true, plan: { nodes: [] } })
    }
    expect(await shown(tenant, 'lb show tried')).toMatchObject({
      generation: lb.generation,
      listeners: [{ port: 443 }],
    })
    const both = await spout(tenant, 'pool create tried more --protocol tcp --listener web --dry-run')
    expect(both).toMatchObject({ code: 1, stderr: expect.stringContaining('--listener') })
    await done(tenant, 'lb delete tried')
  })

  test('of a drain are of a node that exists, and wait for nothing', async () => {
    const both = await spout(access.admin, 'node drain node1 --dry-run --wait')
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--wait') })
    const printed = await spout(access.admin, 'node drain node1 -o json')
    expect(printed).toMatchObject({ code: 2, stderr: expect.stringContaining('--dry-run') })
    const nobody = await spout(access.admin, 'node drain nobody --dry-run')
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') })
  })
})

describe('audit', () => {
  test('lists who did what through which surface: in the own project, for an administrator in all', async () => {
    const octavia = await fetch(`${access.endpoint}/load-balancer/v2.0/lbaas/loadbalancers`, {
      method: 'POST',
      headers: { 'x-auth-token': tenant.token, 'content-type': 'application/json' },
      body: JSON.stringify({ loadbalancer: { name: 'audited', vip_subnet_id: randomUUID() } }),
    })
    expect(octavia.ok).toBe(false)
    const lb = await shown(tenant, 'lb create audited')
    await done(tenant, 'lb delete audited')
    const records = JSON.parse(await done(tenant, `audit --object ${lb.id} --since 1h -o json`))
    expect(records).toMatchObject([
      { operation: 'DELETE /api/v1/load-balancers/:id', userName: 'alice', status: 204, objectProjectId: lb.projectId },
      { operation: 'POST /api/v1/load-balancers', userName: 'alice', status: 201, object: `load-balancers/${lb.id}` },
    ])
    expect(await done(access.admin, 'audit --user alice --limit 3')).toMatch(
      /^TIME +WHO +FROM +WHAT +OBJECT +RESULT\n.* alice +127\.0\.0\.1 +DELETE /,
    )
    const all = JSON.parse(await done(tenant, 'audit -o json'))
    expect(all).toContainEqual(
      expect.objectContaining({
        ...{ surface: 'octavia', operation: 'POST /load-balancer/v2.0/lbaas/loadbalancers' },
        ...{ status: octavia.status, userName: 'alice' },
      }),
    )
    // Of the administrator it shows only the operations on the project's own objects, and not from where they came.
    for (const { userName, from, objectProjectId } of all)
      if (userName !== 'alice')
        expect({ userName, from, objectProjectId }).toEqual({
          userName: 'admin',
          from: null,
          objectProjectId: lb.projectId,
        })
    expect((await spout(tenant, 'audit --since yesterday')).code).toBe(2)
  })
})

describe('set', () => {
  const name = `web-${randomUUID().slice(0, 8)}`

  beforeAll(async () => {
    await done(tenant, `lb create ${name}`)
    await done(tenant, `listener create ${name} l --protocol tcp --port 80`)
    await done(tenant, `pool create ${name} p --protocol tcp --listener l --check http --check-path /ready --fall 4`)
    await done(tenant, `member create ${name} p one --address 10.0.0.11 --port 80 --backup`)
    await done(tenant, `member create ${name} p two --address 10.0.0.12 --port 80 --weight 3`)
  })

  test('changes the flagged fields of a load balancer, a listener, a pool and a member, and shows the result', async () => {
    const lb = await done(tenant, `lb set ${name} --description words --enabled no --tags a,b`)
    expect(lb).toMatch(/^NAME +web-/)
    expect(await shown(tenant, `lb show ${name}`)).toMatchObject({
      ...{ name, description: 'words', enabled: false, tags: ['a', 'b'] },
      listeners: [{ name: 'l' }],
    })
    expect(await shown(tenant, `listener set ${name} l --port 81 --allowed-cidrs 203.0.113.0/24`)).toMatchObject({
      ...{ name: 'l', protocol: 'tcp', port: 81, allowedCidrs: ['203.0.113.0/24'] },
      defaultPoolId: expect.any(String),
    })
    expect(
      await shown(tenant, `listener set ${name} l --default-pool none --allowed-cidrs all --connection-limit 5`),
    ).toMatchObject({ port: 81, defaultPoolId: null, allowedCidrs: null, connectionLimit: 5 })
    expect(await shown(tenant, `listener set ${name} l --default-pool p --connection-limit none`)).toMatchObject({
      ...{ defaultPoolId: expect.any(String), connectionLimit: null },
    })
    const monitor = { type: 'http', fall: 4, rise: 5, http: { path: '/ready' } }
    const pool = await shown(tenant, `pool set ${name} p --rise 5 --drain 7 --reset-on-down yes --name q`)
    expect(pool).toMatchObject({ name: 'q', protocol: 'tcp', drainSeconds: 7, resetOnDown: true, monitor })
    expect((await shown(tenant, `pool set ${name} q --check none --name p`)).monitor).toBeNull()
    expect(pool.members).toHaveLength(2)
    expect(await done(tenant, `member set ${name} p one --weight 0 --backup no`)).toMatch(/^WEIGHT +0\n.*/m)
    const members = await shown(tenant, `member list ${name} p`)
    expect(members).toMatchObject([
      { name: 'one', address: '10.0.0.11', weight: 0, backup: false },
      { name: 'two', address: '10.0.0.12', weight: 3 },
    ])
  })

  test.each([
    ['source-ip', { type: 'source-ip' }],
    ['source-ip:60', { type: 'source-ip', timeoutSeconds: 60 }],
    ['source-ip/24:60', { type: 'source-ip', timeoutSeconds: 60, networks: { ipv4Prefix: 24 } }],
    ['source-ip/24,56', { type: 'source-ip', networks: { ipv4Prefix: 24, ipv6Prefix: 56 } }],
    ['source-ip/,48:60', { type: 'source-ip', timeoutSeconds: 60, networks: { ipv6Prefix: 48 } }],
  ])('keeps clients by --persistence %s', async (how, persistence) => {
    const pool = await shown(tenant, `pool create ${name} sticky --protocol tcp --persistence ${how}`)
    await done(tenant, `pool delete ${name} sticky`)
    expect(pool.persistence).toMatchObject(persistence)
  })

  test.each([
    ['source-ip/40', 'networks.ipv4Prefix'],
    ['source-ip/24,5x:60', 'networks.ipv6Prefix'],
    ['source-ip:soon', 'timeoutSeconds'],
    ['cookie:max-age=soon', 'cookie.maxAgeSeconds'],
    ['by-luck', 'type'],
  ])('names the part of --persistence %s that is wrong', async (how, field) => {
    const { code, stderr } = await spout(tenant, `pool create ${name} sticky --protocol http --persistence ${how}`)
    expect(code).not.toBe(0)
    expect(stderr).toContain(`Field persistence.${field}: must be `)
  })

  test.each([
    [`listener set ${name} l --port 0`, 'Field port: '],
    [`listener set ${name} l --allowed-cidrs nonsense`, 'Field allowedCidrs[0]: '],
    [`pool set ${name} p --enabled perhaps`, 'Field enabled: '],
    [`pool set ${name} p --check tcp --rise many`, 'Field monitor.rise: '],
    [`member set ${name} p two --weight 300`, 'Field weight: '],
  ])('%s is refused by the field', async (words, begin) => {
    const { code, stdout, stderr } = await spout(tenant, words)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^spout: .* \(InvalidField\)\n$/)
    expect(stderr).toContain(begin)
  })

  test('without a flag it was called wrongly', async () => {
    for (const words of [`lb set ${name}`, 'quota set acme'])
      expect(await spout(tenant, words)).toMatchObject({
        ...{ code: 2, stderr: 'spout: nothing to change: name a flag (--help lists them)\n' },
      })
  })
})

describe('users', () => {
  const login = (userName: string, password: string) =>
    fetch(`${access.endpoint}/api/v1/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ userName, password, projectName: 'acme' }),
    })

  test('a password is made and shown once', async () => {
    const bob = await done(access.admin, 'user create bob --project acme --description words')
    const password = /^PASSWORD +(\S{20,})$/m.exec(bob)?.[1] ?? ''
    const answer = await login('bob', password)
    expect(await answer.json()).toMatchObject({ roles: ['member', 'reader'] })
    expect(await done(access.admin, 'user show bob')).not.toContain(password)
    expect(await done(access.admin, 'user list')).toMatch(/^bob +true +1$/m)
    expect(await done(access.admin, 'user delete bob')).toBe('Deleted user bob.\n')
    expect((await login('bob', password)).status).toBe(401)
  })

  test('or it comes from a file or from standard input, and is not shown', async () => {
    const file = path.join(directory, 'password')
    writeFileSync(file, 'from-a-file\n')
    const carol = await done(access.admin, `user create carol --project acme --role reader --password-file ${file}`)
    expect(carol).toMatch(/^PASSWORD +-$/m)
    expect(await (await login('carol', 'from-a-file')).json()).toMatchObject({ roles: ['reader'] })
    await done(access.admin, 'user create dave --project acme --password-file -', 'from-a-pipe')
    expect((await login('dave', 'from-a-pipe')).status).toBe(201)
  })

  test('what cannot be is refused', async () => {
    const said = async (words: string) => (await spout(access.admin, words)).stderr
    expect(await said('user create alice')).toBe('spout: Field name: a user named alice already exists (NameTaken)\n')
    expect(await said('user create x --role member')).toBe('spout: Field --project is required (MissingField)\n')
    expect(await said('user create x --project acme --role king')).toMatch(/^spout: Field roles\[0\]\.role: .*\)\n$/)
    expect(await said(`user create x --password-file ${directory}/nosuch`)).toMatch(
      /^spout: Field --password-file: ENOENT.*\n$/,
    )
  })
})

describe('quotas', () => {
  test('a limit is set, the others stay, and the tenant sees what it has', async () => {
    expect(await done(access.admin, 'quota set acme --load-balancers 7 --health-monitors 9')).toMatch(
      /^RESOURCE +LIMIT +USED\nload-balancers +7 +\d+\n/,
    )
    expect(await done(tenant, 'quota show acme')).toMatch(/^health-monitors +9 +0$/m)
    expect(await shown(tenant, 'quota show acme')).toMatchObject({ limits: { loadBalancers: 7, members: 5000 } })
    await done(access.admin, 'class create scarce')
    expect(await done(access.admin, 'quota set acme --class scarce=2')).toMatch(/^class scarce +2 +0$/m)
    const { stderr: noCount } = await spout(access.admin, 'quota set acme --class scarce')
    expect(noCount).toContain('is not NAME=COUNT')
    expect(await done(access.admin, 'quota set acme --class scarce=none')).not.toContain('scarce')
    await done(access.admin, 'class delete scarce')
  })

  test('no limit is without end, and only an administrator sets one', async () => {
    const { stderr } = await spout(access.admin, 'quota set acme --members many')
    expect(stderr).toMatch(/^spout: Field limits\.members: .* \(InvalidField\)\n$/)
    const refused = await spout(tenant, 'quota set acme --members 9')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toBe(
      'spout: Not allowed: the role admin is needed, the token has member, reader (Forbidden)\nspout: SPOUT_TOKEN is a token of alice in project acme\n',
    )
  })
})

test('TLS with clients and members is set by names of certificates', async () => {
  const authority = issueCertificate({ isAuthority: true })
  const own = issueCertificate({ issuer: authority, names: ['a.example'] })
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(directory, name), text)
    return path.join(directory, name)
  }
  const chain = file('ca.crt', authority.certificate)
  const ca = await shown(tenant, `certificate create inner-ca --chain ${chain}`)
  expect(ca).toMatchObject({ use: 'authorities', names: [] })
  const cert = await shown(
    tenant,
    `certificate create own --chain ${file('own.crt', own.certificate)} --key ${file('own.key', own.key)}`,
  )
  expect(cert).toMatchObject({ use: 'keyed' })
  await done(tenant, 'lb create secure')
  const listener = await shown(
    tenant,
    'listener create secure l --protocol https --port 443 --certificates own --client-ca inner-ca --client-certificates optional',
  )
  expect(listener.tls).toMatchObject({
    certificateIds: [cert.id],
    clientCertificates: { caCertificateId: ca.id, required: false },
  })
  const lists = await shown(tenant, `certificate create revoked --chain ${file('ca.crl', revocationList(authority))}`)
  expect(lists).toMatchObject({ use: 'revocations', names: [], status: { state: 'valid' } })
  const clientsOf = ({ tls }: Record<string, unknown>) => (tls as Record<string, unknown>).clientCertificates
  expect(clientsOf(await shown(tenant, 'listener set secure l --client-crl revoked'))).toEqual({
    ...{ caCertificateId: ca.id, crlCertificateId: lists.id, required: false },
  })
  expect(clientsOf(await shown(tenant, 'listener set secure l --client-crl none'))).toMatchObject({
    crlCertificateId: null,
  })
  expect(clientsOf(await shown(tenant, 'listener set secure l --invalid-client-certificates accept'))).toMatchObject({
    acceptInvalid: true,
  })
  const both = await spout(tenant, 'listener set secure l --client-certificates required')
  expect(both.stderr).toContain('Field tls.clientCertificates.acceptInvalid: needs required to be false')
  const asking = await done(tenant, 'explain lb secure')
  expect(asking).toContain('listen l: https 443, client certificates any')
  const neither = await spout(tenant, 'listener set secure l --client-ca inner-ca --client-certificates maybe')
  expect(neither.stderr).toBe('spout: Field --client-certificates: must be required or optional (InvalidField)\n')
  const ciphers = 'ECDHE-RSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256'
  expect((await shown(tenant, `listener set secure l --ciphers ${ciphers}`)).tls).toMatchObject({
    ciphers: ciphers.split(':'),
  })
  const weak = await spout(tenant, 'listener set secure l --ciphers ECDHE-RSA-AES128-GCM-SHA256:RC4-SHA')
  expect(weak.stderr).toBe(
    'spout: Field tls.ciphers[1]: "RC4-SHA" uses RC4, which is broken (RFC 7465) (InvalidField)\n',
  )
  expect((await shown(tenant, 'listener set secure l --ciphers default')).tls).toMatchObject({ ciphers: null })
  const off = await shown(tenant, 'listener set secure l --client-ca none')
  expect(off.tls).toMatchObject({ certificateIds: [cert.id], clientCertificates: null })
  const logging = await shown(
    tenant,
    'listener set secure l --access-log json --access-log-to tls://10.0.0.5:6514 --access-log-ca inner-ca --access-log-certificate own',
  )
  expect(logging).toMatchObject({
    accessLog: { syslog: { tls: { caCertificateId: ca.id, clientCertificateId: cert.id } } },
  })
  const pool = await shown(tenant, 'pool create secure p --protocol http --listener l --tls yes')
  expect(pool.tls).toMatchObject({ caCertificateId: null, minVersion: '1.2', alpn: ['h2', 'http/1.1'] })
  const checked = await shown(
    tenant,
    'pool set secure p --tls-ca inner-ca --tls-name a.example --tls-certificate own --tls-alpn http/1.1',
  )
  expect(checked.tls).toMatchObject({
    ...{ caCertificateId: ca.id, serverName: 'a.example', clientCertificateId: cert.id },
    ...{ minVersion: '1.2', alpn: ['http/1.1'] },
  })
  expect(await done(tenant, 'explain lb secure')).toContain(
    'pool p: round-robin, TLS to members, whose certificates must be of its authorities and name a.example',
  )
  const [vip] = (await shown(tenant, 'lb show secure')).vips as readonly { readonly address: string }[]
  const request = await done(tenant, `explain request https://a.example/ --address ${vip?.address}`)
  expect(request).toContain('  listen l: https 443\n  pool   p: round-robin\n    no member answers\n')
  const looking = await shown(tenant, 'pool set secure p --tls-crl revoked')
  expect(looking.tls).toMatchObject({ caCertificateId: ca.id, crlCertificateId: lists.id })
  expect(await done(tenant, 'explain lb secure')).toContain(
    'must be of its authorities, not on its lists of revoked ones and name a.example',
  )
  expect((await shown(tenant, 'pool set secure p --tls-crl none')).tls).not.toHaveProperty('crlCertificateId')
  expect((await shown(tenant, 'pool set secure p --tls-min 1.3')).tls).toMatchObject({
    ...{ caCertificateId: ca.id, minVersion: '1.3' },
  })
  expect((await shown(tenant, `pool set secure p --tls-ciphers ${ciphers}`)).tls).toMatchObject({
    ciphers: ciphers.split(':'),
  })
  expect((await shown(tenant, 'pool set secure p --tls-ciphers default')).tls).not.toHaveProperty('ciphers')
  expect((await spout(tenant, 'pool set secure p --http2 yes')).stderr).toMatch(
    /http2.*is HTTP\/2 without TLS.*tls\.alpn/,
  )
  expect(await shown(tenant, 'pool set secure p --tls no')).not.toHaveProperty('tls')
  expect(await shown(tenant, 'pool set secure p --http2 yes')).toMatchObject({ http2: true })
  expect(await shown(tenant, 'pool set secure p --http2 no')).not.toHaveProperty('http2')
  const { stderr } = await spout(tenant, 'pool set secure p --tls-ca own')
  expect(stderr).toContain('tls.caCertificateId')
  expect(stderr).toContain('authorities are stored as a chain alone')
})

test('an administrator gives the project of a name, wherever a name is given', async () => {
  const spec = { project: 'bolt', user: 'bob', password: 'bob-in-the-lab', segment: 'tenant-b' } as const
  const other = await createTenant(access, { ...spec, returnPath: 'snat' })
  for (const who of [tenant, other]) await done(who, 'lb create shared')
  const { admin } = access
  const both = await spout(admin, 'explain lb shared')
  expect(both).toMatchObject({ code: 1, stderr: expect.stringContaining('use the id, or name the project') })

  await done(admin, 'listener create shared l --protocol tcp --port 80 --project bolt')
  await done(admin, 'pool create shared p --protocol tcp --listener l --project bolt')
  await done(admin, 'member create shared p one --address 10.0.0.11 --port 80 --project bolt')
  await done(admin, 'member set shared p one --weight 7 --project bolt')
  await done(admin, 'lb set shared --description theirs --project bolt')
  const theirs = await shown(admin, 'lb show shared --project bolt')
  expect(theirs).toMatchObject({ projectId: other.projectId, description: 'theirs', listeners: [{ name: 'l' }] })
  expect(theirs.pools[0].members[0].weight).toBe(7)
  expect(await shown(admin, 'lb show shared --project acme')).toMatchObject({ description: '', listeners: [] })
  const explained = await done(admin, 'explain lb shared --project bolt --json')
  expect(JSON.parse(explained).loadBalancer.id).toBe(theirs.id)
  const [{ address }] = theirs.vips
  expect(await shown(admin, `vip show ${address} --project bolt`)).toMatchObject({ loadBalancerId: theirs.id })
  expect(await spout(admin, `vip show ${address} --project acme`)).toMatchObject({ code: 1 })
  expect(await shown(admin, 'lb list --project acme')).not.toContainEqual(expect.objectContaining({ id: theirs.id }))
  const chain = path.join(directory, 'theirs.crt')
  writeFileSync(chain, issueCertificate({ isAuthority: true }).certificate)
  const certificate = await shown(admin, `certificate create theirs --chain ${chain} --project bolt`)
  expect(certificate.projectId).toBe(other.projectId)
  await done(admin, 'pool create shared q --protocol http --tls-ca theirs --project bolt')
  await done(admin, 'lb delete shared --project bolt')
  expect((await shown(admin, 'lb show shared')).projectId).toBe(tenant.projectId)
  await done(admin, 'lb delete shared --project acme')
})

test('every error ends with its code', async () => {
  const said = async (who: Pick<Account, 'token'>, words: string) => (await spout(who, words)).stderr
  expect(await said(tenant, 'lb show nosuch')).toBe('spout: load balancer nosuch not found (NotFound)\n')
  expect(await said({ token: 'nonsense' }, 'lb list')).toMatch(/^spout: .* \(Unauthenticated\)\n$/)
})
