import { SealingKeys } from '@spout/runtime/sealing-keys'
import { issueCertificate } from '@spout/testkit/tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StoreAdmission } from '../store-admission.ts'
import { draftOf, listenerOf, type Office, openOffice, refusal } from '../testing/office.ts'

const one = issueCertificate({ names: ['a.example'] })
const two = issueCertificate({ names: ['b.example'] })
const OLD = SealingKeys.generate()
const NEW = SealingKeys.generate()
const WORD = 'a payload'

let office: Office
beforeEach(async () => {
  office = await openOffice({ sealing: SealingKeys.parse(OLD), now: Date.now })
})
afterEach(() => office.close())

const owner = () => ({ projectId: office.project.id, creatorId: 'somebody', name: 'one' })
const store = () =>
  office.admission.createSecret({
    ...{ ...owner(), secretType: 'opaque', algorithm: null, mode: null, bitLength: null, expiresAt: null },
    payload: { type: 'text/plain', bytes: Buffer.from(WORD) },
  })
const draft = () => ({ projectId: office.project.id, name: 'web', chain: one.certificate, key: one.key })
const balancer = (certificateId: string) =>
  draftOf(office.project.id, [{ from: 'pool', poolId: office.pool.id, address: null }], {
    listeners: [
      listenerOf('6f1c3b1e-6a4e-4c56-9f0b-00000000000a', 443, {
        ...{ name: 'secure', protocol: 'https' },
        tls: {
          ...{ certificateIds: [certificateId], unknownNames: 'default', minVersion: '1.2', alpn: [] },
          ...{ ciphers: null, hsts: null, clientCertificates: null },
        },
      }),
    ],
  })

test('a payload is sealed for its own secret', async () => {
  const { id, sealedPayload } = await store()
  expect(JSON.stringify(await office.store.list('secret'))).not.toContain(WORD)
  expect(SealingKeys.parse(OLD).open(sealedPayload ?? '', id)).toBe(Buffer.from(WORD).toString('base64'))
  expect(office.admission.openSecret(id)).toEqual({ type: 'text/plain', bytes: Buffer.from(WORD) })
})

test('what an older sealing key sealed is sealed anew, and what no key opens is counted', async () => {
  const { id } = await store()
  const { store: stored, view } = office
  const without = new StoreAdmission({ store: stored, view, sealing: SealingKeys.parse(NEW) })
  expect(await without.sealAnew()).toBe(1)
  expect(() => without.openSecret(id)).toThrow('no configured sealing key opens it')
  without.close()
  const rotating = new StoreAdmission({ store: stored, view, sealing: SealingKeys.parse(`${NEW} ${OLD}`) })
  expect(await rotating.sealAnew()).toBe(0)
  rotating.close()
  const sealed = view.get('secret', id)?.value.sealedPayload ?? ''
  expect(SealingKeys.parse(NEW).open(sealed, id)).toBe(Buffer.from(WORD).toString('base64'))
})

test('its certificate has its id, is made once, and goes with it', async () => {
  const { id } = await store()
  const [first, second] = await Promise.all([
    office.admission.createCertificateOf(id, draft()),
    office.admission.createCertificateOf(id, draft()),
  ])
  expect([first.id, second]).toEqual([id, first])
  expect(await refusal(office.admission.changeCertificate(id, { chain: two.certificate, key: two.key }))).toMatchObject(
    {
      code: 'InvalidField',
      field: 'chain',
    },
  )
  await office.admission.deleteSecret(id)
  expect(office.view.get('certificate', id)).toBeNull()
})

test('it is not deleted while a load balancer uses its certificate', async () => {
  const { id } = await store()
  await office.admission.createCertificateOf(id, draft())
  const { id: user } = await office.admission.createLoadBalancer(balancer(id))
  expect(await refusal(office.admission.deleteSecret(id))).toMatchObject({
    code: 'InUse',
    params: { user: 'listener secure of load balancer web' },
  })
  await office.admission.deleteLoadBalancer(user, { cascade: true })
  await office.admission.deleteSecret(id)
  expect(office.view.get('secret', id)).toBeNull()
})

test('it is deleted, or made a certificate at the same time, and never leaves one behind', async () => {
  const { id } = await store()
  await Promise.allSettled([office.admission.createCertificateOf(id, draft()), office.admission.deleteSecret(id)])
  const left = [office.view.get('secret', id), office.view.get('certificate', id)].map((found) => found !== null)
  expect(left).toEqual([true, true])
  await Promise.allSettled([office.admission.deleteSecret(id), office.admission.createCertificateOf(id, draft())])
  expect([office.view.get('secret', id), office.view.get('certificate', id)]).toEqual([null, null])
})

test('a certificate of another project’s secret is not made', async () => {
  const { id } = await store()
  const foreign = { ...draft(), projectId: office.stranger.id }
  expect(await refusal(office.admission.createCertificateOf(id, foreign))).toMatchObject({ code: 'NotFound' })
})

test('its containers lose it, and its project is not deleted with it', async () => {
  const { id } = await store()
  const { id: container } = await office.admission.createSecretContainer({
    ...{ ...owner(), type: 'generic', secrets: [{ name: 'a', secretId: id }] },
  })
  expect(office.admission.quotaOf(office.project.id).used.secrets).toBe(2)
  expect(await refusal(office.admission.deleteProject(office.project.id))).toMatchObject({ code: 'HasChildren' })
  await office.admission.deleteSecret(id)
  expect(office.view.get('secretContainer', container)?.value.secrets).toEqual([])
  await office.admission.deleteSecretContainer(container)
  expect(office.admission.quotaOf(office.project.id).used.secrets).toBe(0)
})
