import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServiceTls } from '@spout/model'
import { issueCertificate } from '@spout/testkit'
import { expect, it } from 'vitest'
import { httpMember } from '../../testing/haproxy/proxy-lab.ts'
import { sampleEntry, samplePool, sampleService } from '../../testing/haproxy/sample-entry.ts'
import { memberAt as at, portOf, proxyLabOfFile, put } from '../../testing/haproxy/services-in-lab.ts'
import { curl } from '../../testing/haproxy/tls-client.ts'

const { lab, host, started } = await proxyLabOfFile()
const authority = issueCertificate({ isAuthority: true })
const NAMES = ['a.example', 'b.example', '*.w.example', 'other.example', '*.deep.w.example']
const HOSTS = ['b.example', '*.w.example', 'in.w.example']

/** Name of the connection, host of the requests, and the answer. */
const REQUESTS = [
  ['a.example', 'a.example', 200],
  ['a.example', 'other.example', 200],
  ['a.example', 'b.example', 421],
  ['a.example', 'B.example.', 421],
  ['b.example', 'b.example', 200],
  ['b.example', 'B.Example', 200],
  ['b.example', 'a.example', 421],
  ['b.example', 'x.w.example', 421],
  ['x.w.example', 'y.w.example', 200],
  ['x.w.example', 'y.deep.w.example', 200],
  ['x.w.example', 'w.example', 421],
  ['x.w.example', 'in.w.example', 421],
  ['in.w.example', 'in.w.example', 200],
  ['in.w.example', 'x.w.example', 421],
] as const

it('answers 421 for a host of another name than the connection asked for, by the narrowest name of each', async () => {
  const member = await started(httpMember('a'))
  const driver = lab.driver()
  const authorityFile = join(lab.certificateDirectory, 'authority.crt')
  writeFileSync(authorityFile, authority.certificate)
  const { certificate, key } = issueCertificate({ issuer: authority, names: NAMES })
  const entryWith = (tls: Partial<ServiceTls>) =>
    sampleEntry(
      'web',
      [
        sampleService('web-443', {
          protocol: 'https',
          port: 443,
          tls: {
            certificates: [lab.storeCertificate(certificate + key)],
            ...{ unknownNames: 'default', minVersion: '1.2', alpn: ['h2', 'http/1.1'] },
            ...tls,
          },
        }),
      ],
      [samplePool(1, { members: [at(member)] })],
    )
  const answers = async (version: '--http2' | '--http1.1') => {
    const to = { host, port: portOf(driver, 'web-443') }
    const codes: number[] = []
    for (const [name, asked] of REQUESTS)
      codes.push((await curl(to, name, authorityFile, version, '--header', `Host: ${asked}`)).status)
    return codes
  }
  await put(driver, entryWith({ separateHosts: HOSTS }))
  const expected = REQUESTS.map(([, , code]) => code)
  expect(await answers('--http1.1')).toEqual(expected)
  expect(await answers('--http2')).toEqual(expected)
  // Other hosts, also wildcards, without a new process.
  const { reloads } = driver.counters
  await put(driver, entryWith({ separateHosts: ['a.example', '*.w.example'] }))
  const APART = ['a.example', '*.w.example']
  const apart = (host: string) => APART.findIndex((name) => host.toLowerCase().endsWith(name.replace('*', '')))
  expect(await answers('--http2')).toEqual(REQUESTS.map(([name, host]) => (apart(name) === apart(host) ? 200 : 421)))
  expect(driver.counters.reloads).toBe(reloads)
  // Without the option every host is served.
  await put(driver, entryWith({}))
  expect(await answers('--http2')).toEqual(expected.map(() => 200))
})
