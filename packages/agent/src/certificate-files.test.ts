import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ListenerCertificate } from '@spout/client/agent-link'
import type { WantedEntry } from '@spout/dataplane'
import { contentIdOf } from '@spout/model/content-id'
import type { Service } from '@spout/model/node-state'
import { silentLogger } from '@spout/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CertificateFiles } from './certificate-files.ts'
import { domainEntry, loadBalancerEntry } from './testing/entries.ts'

const signal = new AbortController().signal
const contentId = (number: number): string => contentIdOf(`pem ${number}`)
const certificateOf = (number: number): ListenerCertificate => ({ contentId: contentId(number), pem: `pem ${number}` })

let directory: string
let asked: string[]
let answer: (id: string) => Promise<readonly ListenerCertificate[]>
let arrived: string[]
let files: CertificateFiles

beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'spout-certificates-')), 'kept')
  asked = []
  arrived = []
  answer = async () => [1, 2].map(certificateOf)
  files = filesHere()
  await files.before.adopt([])
})
afterEach(() => rm(join(directory, '..'), { recursive: true }))

/** @param waitMs longer than a busy machine takes, unless a test is about an answer that comes late */
const filesHere = (waitMs = 10_000) =>
  new CertificateFiles({
    directory,
    fetch: (id, certificateIds) => {
      asked.push(`${id}: ${certificateIds.join(', ')}`)
      return answer(id)
    },
    onArrived: (key) => arrived.push(key),
    log: silentLogger(),
    waitMs,
  })

/** A load balancer whose only listener uses these certificates. */
function wanted(number: number, contents: readonly number[]): WantedEntry {
  const entry = loadBalancerEntry(`lb${number}`)
  const tls: Service['tls'] = {
    certificates: contents.map((one) => ({ id: `id ${one}`, contentId: contentId(one) })),
    unknownNames: 'default',
    minVersion: '1.2',
    alpn: [],
  }
  const [service] = entry.services
  const services = contents.length === 0 ? [] : [{ ...service!, protocol: 'https' as const, tls }]
  return {
    key: entry.key,
    hash: contents.join(),
    domain: domainEntry(1),
    entry: { ...entry, services },
    down: new Set(),
  }
}

const before = (...put: readonly WantedEntry[]) => files.before.apply({ put, remove: [] }, signal)
const after = (...put: readonly WantedEntry[]) => files.after.apply({ put, remove: [] }, signal)

test('what listeners need is fetched once, into files that only root can read', async () => {
  expect(await before(wanted(1, [1, 2]))).toEqual([])
  expect(await readFile(join(directory, `${contentId(1)}.pem`), 'utf8')).toBe('pem 1')
  expect((await readdir(directory)).sort()).toEqual([1, 2].map((one) => `${contentId(one)}.pem`).sort())
  expect((await stat(join(directory, `${contentId(2)}.pem`))).mode & 0o777).toBe(0o600)
  expect((await stat(directory)).mode & 0o777).toBe(0o700)
  expect(await before(wanted(1, [2, 1]), wanted(2, []))).toEqual([])
  expect(asked).toHaveLength(1)
})

test('a replaced certificate stays until the drivers use the new one', async () => {
  await before(wanted(1, [1]))
  await after(wanted(1, [1]))
  answer = async () => [certificateOf(3)]
  await before(wanted(1, [3]))
  expect(await readdir(directory)).toContain(`${contentId(1)}.pem`)
  await after(wanted(1, [3]))
  expect(await readdir(directory)).toEqual([`${contentId(3)}.pem`])
  await files.after.apply({ put: [], remove: [wanted(1, []).key] }, signal)
  expect(await readdir(directory)).toEqual([])
})

test('only what is not there is asked for', async () => {
  await before(wanted(1, [1, 2]))
  answer = async () => [certificateOf(3)]
  expect(await before(wanted(1, [1, 3, 2]))).toEqual([])
  expect(asked).toEqual(['lb1: id 1, id 2', 'lb1: id 3'])
})

test('one that several use stays until the last does not', async () => {
  await before(wanted(1, [1]), wanted(2, [1]))
  await after(wanted(1, [1]), wanted(2, [1]))
  await files.after.apply({ put: [], remove: [wanted(1, []).key] }, signal)
  expect(await readdir(directory)).toContain(`${contentId(1)}.pem`)
})

test('an entry whose certificates are not given fails, and says so; others do not', async () => {
  answer = async () => [certificateOf(1)]
  expect(await before(wanted(1, [1, 3]), wanted(2, [1]))).toEqual([
    {
      key: wanted(1, []).key,
      state: 'failed',
      reason: 'CertificateMissing',
      message: 'the control plane does not have 1 of its 2 certificates, or cannot open them',
    },
  ])
})

test('a control plane that does not answer holds nobody up; what it sends later is used', async () => {
  files = filesHere(50)
  const late = Promise.withResolvers<readonly ListenerCertificate[]>()
  answer = () => late.promise
  expect(await before(wanted(1, [1]))).toMatchObject([{ reason: 'CertificateMissing' }])
  expect(arrived).toEqual([])
  late.resolve([certificateOf(1)])
  await expect.poll(() => arrived).toEqual([wanted(1, []).key])
  expect(await before(wanted(1, [1]))).toEqual([])
  expect(asked).toHaveLength(1)
})

test('a control plane that is away is asked again at the next try', async () => {
  answer = async () => Promise.reject(new Error('away'))
  expect(await before(wanted(1, [1]))).toMatchObject([{ state: 'failed' }])
  answer = async () => [certificateOf(1)]
  expect(await before(wanted(1, [1]))).toEqual([])
})

test('the next process finds the files, and notices when one is gone', async () => {
  await before(wanted(1, [1]))
  files = filesHere()
  await files.before.adopt([wanted(1, [1])])
  await files.after.adopt([wanted(1, [1])])
  expect(await files.before.observe()).toEqual([])
  expect(await before(wanted(1, [1]))).toEqual([])
  expect(asked).toHaveLength(1)
  await rm(join(directory, `${contentId(1)}.pem`))
  expect(await files.before.observe()).toEqual([wanted(1, []).key])
})

test('a damaged file is fetched again', async () => {
  await before(wanted(1, [1]))
  await writeFile(join(directory, `${contentId(1)}.pem`), 'something else')
  expect(await before(wanted(1, [1]))).toEqual([])
  expect(await readFile(join(directory, `${contentId(1)}.pem`), 'utf8')).toBe('pem 1')
})

test('no file is written under a name that is no content id', async () => {
  answer = async () => [{ contentId: '../../etc/passwd', pem: 'x' }, certificateOf(1)]
  await before(wanted(1, [1]))
  expect(await readdir(join(directory, '..'))).toEqual(['kept'])
})
