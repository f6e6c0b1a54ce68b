import type { Cipher, ServiceTls } from '@spout/model'
import { issueCertificate } from '@spout/testkit'
import { describe, expect, it } from 'vitest'
import { httpMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleService, sampleWanted } from '../../testing/haproxy/sample-entry.ts'
import { memberAt as at, portOf, proxyLabOfFile, put, webEntry } from '../../testing/haproxy/services-in-lab.ts'
import { sClient } from '../../testing/haproxy/tls-client.ts'
import { tlsMember } from '../../testing/haproxy/tls-member.ts'

const { lab, host, started } = await proxyLabOfFile()
const rsa = issueCertificate({ names: ['a.example'], newKey: 'rsa:2048' })
const member = await started(httpMember('a'))

const entryOf = (tls: Partial<ServiceTls>) =>
  sampleEntry(
    'web',
    [
      sampleService('web-443', {
        protocol: 'https',
        port: 443,
        tls: {
          certificates: [lab.storeCertificate(rsa.certificate + rsa.key)],
          ...{ unknownNames: 'default', minVersion: '1.2', alpn: [] },
          ...tls,
        },
      }),
    ],
    [samplePool(1, { members: [at(member)] })],
  )

/** The cipher that `openssl s_client` agrees upon; null for none. */
async function cipherOf(port: number, ...flags: readonly string[]): Promise<string | null> {
  const said = await sClient({ host, port }, 'a.example', ...flags)
  const cipher = /^New, [^,]+, Cipher is (\S+)$/m.exec(said)?.[1] ?? null
  // Another failure than the server's refusal tells nothing of ciphers.
  if (cipher === null || cipher === '(NONE)') expect(said).toMatch(/alert handshake failure/)
  return cipher === '(NONE)' ? null : cipher
}
const in12 = (port: number, cipher: string) => cipherOf(port, '-tls1_2', '-cipher', cipher)
const in13 = (port: number, suites: string) => cipherOf(port, '-tls1_3', '-ciphersuites', suites)

const [AES128, AES256, DHE, CBC] = [
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'DHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-SHA256',
] as const
const [SUITE128, SUITE256] = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384'] as const

describe('a listener', () => {
  it('speaks the usual ciphers, where none are chosen', async () => {
    const driver = lab.driver()
    await put(driver, entryOf({}))
    const port = portOf(driver, 'web-443')
    for (const cipher of [AES128, AES256, 'ECDHE-RSA-CHACHA20-POLY1305']) expect(await in12(port, cipher)).toBe(cipher)
    for (const cipher of [DHE, CBC, 'AES128-GCM-SHA256']) expect(await in12(port, cipher), cipher).toBeNull()
    for (const suite of [SUITE128, SUITE256]) expect(await in13(port, suite)).toBe(suite)
  })

  it.each<[readonly Cipher[], readonly Cipher[], readonly Cipher[]]>([
    [[AES256], [AES256, SUITE128, SUITE256], [AES128, DHE]],
    [[SUITE128], [AES128, AES256, SUITE128], [SUITE256, DHE]],
    [
      [DHE, CBC, SUITE256],
      [DHE, CBC, SUITE256],
      [AES128, AES256, SUITE128],
    ],
  ])('that chose %j speaks %j and not %j', async (ciphers, spoken, refused) => {
    const driver = lab.driver()
    await put(driver, entryOf({ ciphers }))
    const port = portOf(driver, 'web-443')
    const answered = async (cipher: string) => (cipher.startsWith('TLS_') ? in13 : in12)(port, cipher)
    for (const cipher of spoken) expect(await answered(cipher), cipher).toBe(cipher)
    for (const cipher of refused) expect(await answered(cipher), cipher).toBeNull()
  })

  it('prefers them in its own order, and keeps its port when it chooses others', async () => {
    const driver = lab.driver()
    const all = [AES128, AES256].join(':')
    await put(driver, entryOf({ ciphers: [AES256, AES128] }))
    const port = portOf(driver, 'web-443')
    expect(await in12(port, all)).toBe(AES256)
    await put(driver, entryOf({ ciphers: [AES128, AES256] }))
    expect(portOf(driver, 'web-443')).toBe(port)
    expect(await in12(port, [AES256, AES128].join(':'))).toBe(AES128)
    await put(driver, entryOf({}))
    expect(portOf(driver, 'web-443')).toBe(port)
    expect(await in13(port, SUITE128)).toBe(SUITE128)
  })

  it('replaces the process for the first list, and for another listener with the same list no more', async () => {
    const driver = lab.driver()
    await put(driver, entryOf({ ciphers: [AES256] }))
    const { reloads } = driver.counters
    await put(driver, { ...entryOf({ ciphers: [AES256] }), key: 'load-balancer/next', id: 'next' })
    expect(driver.counters.reloads).toBe(reloads)
  })

  it('fails alone with a name that is none', async () => {
    const driver = lab.driver()
    const ciphers = ['AES\n    bind :1'] as unknown as readonly Cipher[]
    const [applied] = await driver.apply({ put: [sampleWanted(entryOf({ ciphers }))], remove: [] })
    expect(applied).toMatchObject({ state: 'failed', message: expect.stringContaining('is not a cipher') })
  })
})

describe('a pool', () => {
  const authority = issueCertificate({ isAuthority: true })

  it('speaks the ciphers that it chose with its members, without a reload', async () => {
    const driver = lab.driver()
    const issued = issueCertificate({ issuer: authority, names: ['m.example'], newKey: 'rsa:2048' })
    const modern = await started(tlsMember('m', issued))
    const old = await started(tlsMember('o', issued, null, 'TLSv1.2'))
    const pool = (ciphers: readonly Cipher[] | undefined) => ({
      tls: {
        ...{ authorities: null, serverName: 'm.example', certificate: null, minVersion: '1.2' as const, alpn: [] },
        ...(ciphers === undefined ? {} : { ciphers }),
      },
    })
    const cipherWith = async (of: typeof modern, ciphers?: readonly Cipher[]) => {
      await put(driver, webEntry([at(of)], pool(ciphers)))
      const response = await fetch(`http://${host}:${portOf(driver, 'web-80')}/`, { headers: { connection: 'close' } })
      return ((await response.json()) as { cipher: string }).cipher
    }
    const listed = [AES128, SUITE128] as const
    expect(await cipherWith(modern)).toBe(SUITE256)
    expect(await cipherWith(modern, listed)).toBe(SUITE128)
    expect(await cipherWith(old, listed)).toBe(AES128)
    expect(await cipherWith(old, [CBC])).toBe(CBC)
    expect(driver.counters.reloads).toBe(0)
  })
})
