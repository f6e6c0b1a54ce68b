import { X509Certificate } from 'node:crypto'
import type { ListenerTls, Pool } from '@spout/model'
import { SealingKeys } from '@spout/runtime/sealing-keys'
import { poolOf } from '@spout/testkit/model'
import { issueCertificate, revocationList } from '@spout/testkit/tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StoreAdmission } from '../store-admission.ts'
import { draftOf, listenerOf, type Office, openOffice, refusal } from '../testing/office.ts'

const one = issueCertificate({ names: ['a.example'] })
const two = issueCertificate({ names: ['b.example'] })
const OLD = SealingKeys.generate()
const NEW = SealingKeys.generate()

let office: Office
beforeEach(async () => {
  office = await openOffice({ sealing: SealingKeys.parse(OLD), now: Date.now })
})
afterEach(() => office.close())

const draft = (of = one) => ({ projectId: office.project.id, name: 'web', chain: of.certificate, key: of.key })
const stored = () => office.store.list('certificate')
const keyLine = (pem: string): string => pem.split('\n')[1]!

test('a certificate is stored with its key sealed', async () => {
  const { id, names, sealedKey } = await office.admission.createCertificate(draft())
  expect(names).toEqual(['a.example'])
  const text = JSON.stringify(await stored())
  expect(text).toContain(id)
  expect(text).not.toContain('PRIVATE')
  expect(text).not.toContain(keyLine(one.key))
  expect(SealingKeys.parse(OLD).open(sealedKey ?? '', id)).toContain(keyLine(one.key))
})

test('is replaced under the same id, with another content', async () => {
  const before = await office.admission.createCertificate(draft())
  const after = await office.admission.changeCertificate(before.id, { chain: two.certificate, key: two.key })
  expect(after).toMatchObject({ id: before.id, name: 'web', names: ['b.example'] })
  expect(after.contentId).not.toBe(before.contentId)
  expect(SealingKeys.parse(OLD).open(after.sealedKey ?? '', before.id)).toContain(keyLine(two.key))
})

test('another name does not touch chain and key', async () => {
  const before = await office.admission.createCertificate(draft())
  const after = await office.admission.changeCertificate(before.id, { name: 'shop' })
  expect(after).toMatchObject({ name: 'shop', contentId: before.contentId, sealedKey: before.sealedKey })
})

describe('of a listener', () => {
  const listener = (certificateIds: string[], fields: object = {}) =>
    listenerOf('6f1c3b1e-6a4e-4c56-9f0b-00000000000a', 443, {
      name: 'secure',
      protocol: 'https',
      tls: {
        certificateIds,
        unknownNames: 'default',
        minVersion: '1.2',
        ciphers: null,
        alpn: [],
        hsts: null,
        clientCertificates: null,
      },
      ...fields,
    })
  const balancer = (one: ReturnType<typeof listener>) =>
    draftOf(office.project.id, [{ from: 'pool', poolId: office.pool.id, address: null }], { listeners: [one] })

  test('it is deleted, or used by what is written at the same time, and never both', async () => {
    const { id } = await office.admission.createCertificate(draft())
    const { id: other } = await office.admission.createCertificate(draft(two))
    const create = () => office.admission.createLoadBalancer(balancer(listener([id])))
    const [made, gone] = await Promise.allSettled([create(), office.admission.deleteCertificate(id)])
    expect(made.status).toBe('fulfilled')
    expect(gone).toMatchObject({ reason: { code: 'InUse', params: { user: 'a load balancer that is being written' } } })
    const second = listenerOf('6f1c3b1e-6a4e-4c56-9f0b-00000000000b', 444, { ...listener([other]), port: 444 })
    const [deleted, late] = await Promise.allSettled([
      office.admission.deleteCertificate(other),
      office.admission.createLoadBalancer(balancer({ ...second, id: '6f1c3b1e-6a4e-4c56-9f0b-00000000000b' })),
    ])
    expect(deleted.status).toBe('fulfilled')
    expect(late).toMatchObject({
      reason: { code: 'ReferenceNotFound', params: { field: 'listeners[0].tls.certificateIds[0]', id: other } },
    })
  })

  test('it cannot be deleted, and can once the listener is gone', async () => {
    const { id } = await office.admission.createCertificate(draft())
    const { id: user } = await office.admission.createLoadBalancer(balancer(listener([id])))
    const error = await refusal(office.admission.deleteCertificate(id))
    expect(error).toMatchObject({ code: 'InUse', params: { user: 'listener secure of load balancer web' } })
    await office.admission.changeLoadBalancer(user, () => ({ listeners: [] }))
    await office.admission.deleteCertificate(id)
    expect(await stored()).toMatchObject({ items: [] })
  })

  test('a replacement is no change of the load balancer', async () => {
    const { id } = await office.admission.createCertificate(draft())
    const before = await office.admission.createLoadBalancer(balancer(listener([id])))
    await office.admission.changeCertificate(id, { chain: two.certificate, key: two.key })
    expect(office.view.get('loadBalancer', before.id)?.value).toEqual(before)
  })

  test('one of another project looks as if it did not exist', async () => {
    const { id } = await office.admission.createCertificate({ ...draft(), projectId: office.stranger.id })
    expect(await refusal(office.admission.createLoadBalancer(balancer(listener([id]))))).toMatchObject({
      code: 'ReferenceNotFound',
      field: 'listeners[0].tls.certificateIds[0]',
    })
  })

  test.each<[string, object, object]>([
    ['https without', { tls: null }, { code: 'MissingField', field: 'listeners[0].tls' }],
    ['http with', { protocol: 'http' }, { code: 'InvalidField', field: 'listeners[0].tls' }],
  ])('%s is refused', async (_what, fields, error) => {
    const { id } = await office.admission.createCertificate(draft())
    expect(await refusal(office.admission.createLoadBalancer(balancer(listener([id], fields))))).toMatchObject(error)
  })

  test('its key is given in clear where a configured sealing key opens it', async () => {
    const { id, contentId } = await office.admission.createCertificate(draft())
    const opened = office.admission.openCertificate(id)
    expect(opened.contentId).toBe(contentId)
    expect(opened.pem).toContain(keyLine(one.key))
    const { store, view } = office
    const without = new StoreAdmission({ store, view, sealing: SealingKeys.parse(NEW) })
    expect(() => without.openCertificate(id)).toThrow('no configured sealing key opens it')
    without.close()
  })
})

describe('of authorities', () => {
  const root = issueCertificate({ isAuthority: true })
  const authorities = () => ({ projectId: office.project.id, name: 'inner', chain: root.certificate })
  const pool = (tls: object): Pool =>
    poolOf('6f1c3b1e-6a4e-4c56-9f0b-00000000000c', [], {
      ...{ name: 'shop', protocol: 'http' },
      tls: {
        ...{ caCertificateId: null, clientCertificateId: null, serverName: null },
        minVersion: '1.2',
        alpn: [],
        ...tls,
      },
    })
  const balancer = (one: Pool) =>
    draftOf(office.project.id, [{ from: 'pool', poolId: office.pool.id, address: null }], { pools: [one] })

  test('nothing is sealed, and no sealing key is needed', async () => {
    const { store, view } = office
    const without = new StoreAdmission({ store, view, now: Date.now })
    const made = await without.createCertificate(authorities())
    expect(made).toMatchObject({ sealedKey: null, names: [] })
    expect(without.openCertificate(made.id)).toEqual({ contentId: made.contentId, pem: made.chain })
    expect(await without.sealAnew()).toBe(0)
    without.close()
  })

  test('their chain is replaced alone; they never get a key, and others always need one', async () => {
    const made = await office.admission.createCertificate(authorities())
    const next = issueCertificate({ isAuthority: true })
    const after = await office.admission.changeCertificate(made.id, { chain: next.certificate })
    expect(after).toMatchObject({ id: made.id, sealedKey: null })
    expect(after.contentId).not.toBe(made.contentId)
    const change = { chain: one.certificate, key: one.key }
    expect(await refusal(office.admission.changeCertificate(made.id, change))).toMatchObject({
      code: 'InvalidField',
      field: 'key',
    })
  })

  test('a pool that names them keeps them from deletion', async () => {
    const { id } = await office.admission.createCertificate(authorities())
    const { id: shown } = await office.admission.createCertificate(draft())
    const made = await office.admission.createLoadBalancer(
      balancer(pool({ caCertificateId: id, clientCertificateId: shown })),
    )
    for (const used of [id, shown])
      expect(await refusal(office.admission.deleteCertificate(used))).toMatchObject({
        code: 'InUse',
        params: { user: 'pool shop of load balancer web' },
      })
    await office.admission.changeLoadBalancer(made.id, () => ({ pools: [] }))
    await office.admission.deleteCertificate(id)
    await office.admission.deleteCertificate(shown)
  })

  test('they are no certificate of a listener or a client, and no other is one of theirs', async () => {
    const { id } = await office.admission.createCertificate(authorities())
    const { id: keyed } = await office.admission.createCertificate(draft())
    const { id: foreign } = await office.admission.createCertificate({
      ...authorities(),
      projectId: office.stranger.id,
    })
    for (const [tls, code, field] of [
      [{ caCertificateId: keyed }, 'InvalidField', 'pools[0].tls.caCertificateId'],
      [{ clientCertificateId: id }, 'InvalidField', 'pools[0].tls.clientCertificateId'],
      [{ caCertificateId: foreign }, 'ReferenceNotFound', 'pools[0].tls.caCertificateId'],
    ] as const)
      expect(await refusal(office.admission.createLoadBalancer(balancer(pool(tls))))).toMatchObject({ code, field })
    expect(
      await refusal(office.admission.createLoadBalancer(balancer({ ...pool({}), protocol: 'udp' }))),
    ).toMatchObject({ code: 'Unsupported', field: 'pools[0].tls' })
  })
})

describe('of lists of what authorities revoked', () => {
  const [root, next] = [1, 2].map(() => issueCertificate({ isAuthority: true })) as [typeof one, typeof one]
  const made = (chain: string, projectId = office.project.id) =>
    office.admission.createCertificate({ projectId, name: 'checks', chain })
  const lists = (...of: readonly (typeof one)[]) => of.map((authority) => revocationList(authority)).join('')
  const create = (certificateId: string, clientCertificates: NonNullable<ListenerTls['clientCertificates']>) =>
    office.admission.createLoadBalancer(
      draftOf(office.project.id, [{ from: 'pool', poolId: office.pool.id, address: null }], {
        listeners: [
          listenerOf('6f1c3b1e-6a4e-4c56-9f0b-00000000000d', 443, {
            ...{ name: 'secure', protocol: 'https' },
            tls: {
              ...{ certificateIds: [certificateId], unknownNames: 'default', minVersion: '1.2', ciphers: null },
              ...{ alpn: [], hsts: null, clientCertificates },
            },
          }),
        ],
      }),
    )
  const FIELD = 'listeners[0].tls.clientCertificates.crlCertificateId'

  test('a listener that names them keeps them from deletion; they need no key and get none', async () => {
    const { id } = await office.admission.createCertificate(draft())
    const [ca, crl] = [await made(root.certificate), await made(lists(root))]
    await create(id, { caCertificateId: ca.id, required: true, crlCertificateId: crl.id })
    expect(await refusal(office.admission.deleteCertificate(crl.id))).toMatchObject({
      code: 'InUse',
      params: { user: 'listener secure of load balancer web' },
    })
    expect(crl).toMatchObject({ sealedKey: null, names: [] })
    const change = { chain: one.certificate, key: one.key }
    expect(await refusal(office.admission.changeCertificate(crl.id, change))).toMatchObject({ field: 'key' })
  })

  test('each authority of a listener needs one that it signed', async () => {
    const { id } = await office.admission.createCertificate(draft())
    const both = await made(root.certificate + next.certificate)
    for (const chain of [lists(root), lists(root, issueCertificate({ isAuthority: true }))]) {
      const crl = await made(chain)
      const error = await refusal(create(id, { caCertificateId: both.id, required: true, crlCertificateId: crl.id }))
      expect(error).toMatchObject({ code: 'InvalidField', field: FIELD })
      expect(error.message).toContain(new X509Certificate(next.certificate).subject!.replaceAll('\n', ', '))
    }
    await create(id, { caCertificateId: both.id, required: true, crlCertificateId: (await made(lists(next, root))).id })
  })

  test('they and the authorities are replaced one after the other, each time with a list of each', async () => {
    const { id } = await office.admission.createCertificate(draft())
    const [ca, crl] = [await made(root.certificate), await made(lists(root))]
    await create(id, { caCertificateId: ca.id, required: true, crlCertificateId: crl.id })
    const change = (of: string, chain: string) => office.admission.changeCertificate(of, { chain })
    for (const [of, chain] of [
      [ca.id, root.certificate + next.certificate],
      [crl.id, lists(next)],
    ] as const)
      expect(await refusal(change(of, chain))).toMatchObject({ code: 'InvalidField', field: FIELD })
    await change(crl.id, lists(root, next))
    await change(ca.id, root.certificate + next.certificate)
    await change(ca.id, next.certificate)
    expect((await change(crl.id, lists(next))).contentId).not.toBe(crl.contentId)
  })

  describe('a pool', () => {
    const tlsOf = (caCertificateId: string | null, crlCertificateId: string): NonNullable<Pool['tls']> => ({
      ...{ caCertificateId, crlCertificateId, clientCertificateId: null, serverName: null },
      ...{ minVersion: '1.2', alpn: [] },
    })
    const createPool = (tls: NonNullable<Pool['tls']>) =>
      office.admission.createLoadBalancer(
        draftOf(office.project.id, [{ from: 'pool', poolId: office.pool.id, address: null }], {
          pools: [poolOf('6f1c3b1e-6a4e-4c56-9f0b-00000000000e', [], { name: 'shop', protocol: 'http', tls })],
        }),
      )
    const AT = 'pools[0].tls.crlCertificateId'

    test('that names them keeps them from deletion, and needs a list of each of its authorities, now and later', async () => {
      const both = await made(root.certificate + next.certificate)
      const [half, whole] = [await made(lists(root)), await made(lists(root, next))]
      const error = await refusal(createPool(tlsOf(both.id, half.id)))
      expect(error).toMatchObject({ code: 'InvalidField', field: AT })
      expect(error.message).toContain('all members of this authority would be refused')
      await createPool(tlsOf(both.id, whole.id))
      expect(await refusal(office.admission.deleteCertificate(whole.id))).toMatchObject({
        code: 'InUse',
        params: { user: 'pool shop of load balancer web' },
      })
      expect(await refusal(office.admission.changeCertificate(whole.id, { chain: lists(next) }))).toMatchObject({
        code: 'InvalidField',
        field: AT,
      })
      await office.admission.changeCertificate(whole.id, { chain: lists(next, root) })
    })

    test('without authorities has no use for them, and takes no others for them', async () => {
      const [ca, crl] = [await made(root.certificate), await made(lists(root))]
      const foreign = await made(lists(root), office.stranger.id)
      for (const [tls, code] of [
        [tlsOf(null, crl.id), 'InvalidField'],
        [tlsOf(ca.id, ca.id), 'InvalidField'],
        [tlsOf(ca.id, foreign.id), 'ReferenceNotFound'],
      ] as const)
        expect(await refusal(createPool(tls))).toMatchObject({ code, field: AT })
    })
  })

  test('they are neither authorities nor a listener’s certificate, and never become those', async () => {
    const { id } = await office.admission.createCertificate(draft())
    const [ca, crl] = [await made(root.certificate), await made(lists(root))]
    const foreign = await made(lists(root), office.stranger.id)
    const asked = { caCertificateId: ca.id, required: true }
    for (const [certificateId, clients, code, field] of [
      [crl.id, asked, 'InvalidField', 'listeners[0].tls.certificateIds[0]'],
      [id, { ...asked, caCertificateId: crl.id }, 'InvalidField', FIELD.replace('crl', 'ca')],
      [id, { ...asked, crlCertificateId: ca.id }, 'InvalidField', FIELD],
      [id, { ...asked, crlCertificateId: id }, 'InvalidField', FIELD],
      [id, { ...asked, crlCertificateId: foreign.id }, 'ReferenceNotFound', FIELD],
    ] as const)
      expect(await refusal(create(certificateId, clients))).toMatchObject({ code, field })
    for (const [before, chain] of [
      [ca.id, lists(root)],
      [crl.id, root.certificate],
    ] as const)
      expect(await refusal(office.admission.changeCertificate(before, { chain }))).toMatchObject({
        code: 'InvalidField',
        field: 'chain',
      })
  })
})

describe('refused, and nothing stored', () => {
  test.each<[string, object, object]>([
    ['half a replacement', { chain: two.certificate }, { code: 'MissingField', field: 'key' }],
    ['the other half', { key: two.key }, { code: 'MissingField', field: 'chain' }],
    ['a key of another certificate', { chain: two.certificate, key: one.key }, { code: 'InvalidField', field: 'key' }],
    ['a field that does not exist', { sealedKey: 'x' }, { code: 'UnknownField' }],
  ])('%s', async (_what, change, error) => {
    const before = await office.admission.createCertificate(draft())
    expect(await refusal(office.admission.changeCertificate(before.id, change))).toMatchObject(error)
    expect(office.view.get('certificate', before.id)?.value).toEqual(before)
  })

  test('more than the quota, of certificates and of bytes', async () => {
    await office.admission.setQuota(office.project.id, { certificates: 1 })
    const { id } = await office.admission.createCertificate(draft())
    expect(await refusal(office.admission.createCertificate(draft()))).toMatchObject({ code: 'OverQuota' })
    await office.admission.setQuota(office.project.id, { certificates: 5, bytes: 1000 })
    expect(await refusal(office.admission.createCertificate(draft()))).toMatchObject({ code: 'OverQuota' })
    expect(office.admission.quotaOf(office.project.id).used.certificates).toBe(1)
    await office.admission.deleteCertificate(id)
    expect(office.admission.quotaOf(office.project.id).used.certificates).toBe(0)
  })

  test('a project that does not exist, and one that still owns a certificate', async () => {
    const projectId = '6f1c3b1e-6a4e-4c56-9f0b-000000000009'
    expect(await refusal(office.admission.createCertificate({ ...draft(), projectId }))).toMatchObject({
      code: 'ReferenceNotFound',
    })
    await office.admission.createCertificate({ ...draft(), projectId: office.stranger.id })
    const error = await refusal(office.admission.deleteProject(office.stranger.id))
    expect(error.message).toContain('1 certificates')
  })

  test('any certificate where no sealing key is configured', async () => {
    const { store, view, project } = office
    const admission = new StoreAdmission({ store, view })
    expect(await refusal(admission.createCertificate(draft()))).toMatchObject({ code: 'Unavailable' })
    expect(view.list('certificate', { projectId: project.id })).toEqual([])
    admission.close()
  })
})

describe('a rotation of the sealing key', () => {
  test('seals everything anew with the first key, and changes nothing else', async () => {
    const before = await office.admission.createCertificate(draft())
    const { store, view } = office
    const rotating = new StoreAdmission({ store, view, sealing: SealingKeys.parse(`${NEW} ${OLD}`) })
    expect(await rotating.sealAnew()).toBe(0)
    const after = view.get('certificate', before.id)!.value
    expect({ ...after, sealedKey: '' }).toEqual({ ...before, sealedKey: '' })
    expect(SealingKeys.parse(NEW).open(after.sealedKey ?? '', before.id)).toContain(keyLine(one.key))
    const revision = await store.revision()
    expect(await rotating.sealAnew()).toBe(0)
    expect(await store.revision()).toBe(revision)
    rotating.close()
  })

  test('counts what no key opens, and leaves it as it is', async () => {
    const before = await office.admission.createCertificate(draft())
    const { store, view } = office
    const without = new StoreAdmission({ store, view, sealing: SealingKeys.parse(NEW) })
    expect(await without.sealAnew()).toBe(1)
    expect(view.get('certificate', before.id)?.value).toEqual(before)
    without.close()
  })
})

describe('a list of users', () => {
  const SHA = '{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk='
  const refused = async (work: Promise<unknown>) => (await refusal(work)).message
  const list = (users: string) => ({ projectId: office.project.id, name: 'staff', users })

  test('is stored sealed, and opened for nodes', async () => {
    const { id, chain, sealedKey, contentId, subject } = await office.admission.createCertificate(list(`joe:${SHA}`))
    expect({ chain, subject }).toEqual({ chain: '', subject: '1 user' })
    expect(sealedKey).not.toBeNull()
    const text = JSON.stringify(await stored())
    for (const secret of [SHA, Buffer.from('joe').toString('hex')]) expect(text).not.toContain(secret)
    const opened = office.admission.openCertificate(id)
    expect(opened.contentId).toBe(contentId)
    expect(opened.pem).toContain(`6a6f65:${SHA}\n`)
  })

  test('keeps its content when it is written again as it was, and gets another with other users', async () => {
    const before = await office.admission.createCertificate(list(`joe:${SHA}`))
    const same = await office.admission.changeCertificate(before.id, { users: `# staff\njoe:${SHA}\n`, tags: ['a'] })
    expect(same).toMatchObject({ contentId: before.contentId, sealedKey: before.sealedKey, tags: ['a'] })
    const other = await office.admission.changeCertificate(before.id, { users: `joe:${SHA}\nann:${SHA}\n` })
    expect(other.contentId).not.toBe(before.contentId)
    expect(other.subject).toBe('2 users')
  })

  test('is no certificate, and becomes none', async () => {
    const { id } = await office.admission.createCertificate(list(`joe:${SHA}`))
    const { id: shown } = await office.admission.createCertificate(draft())
    const change = (of: string, to: object) => refused(office.admission.changeCertificate(of, to))
    expect(await change(id, { chain: one.certificate, key: one.key })).toContain('users')
    expect(await change(shown, { users: `joe:${SHA}` })).toContain('this is no list of users')
    expect(await change(id, { chain: one.certificate, users: `joe:${SHA}` })).toContain('cannot be combined with chain')
    expect(await refused(office.admission.createCertificate({ ...list('joe:secret'), tags: [] }))).toContain('line 1')
    expect(await refused(office.admission.createCertificate({ projectId: office.project.id, name: 'a' }))).toContain(
      'chain',
    )
  })
})
