import { createPrivateKey, X509Certificate } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contentIdOf } from '@spout/model/content-id'
import { readFileOrNull, runIn } from '@spout/sys'
import type { PlacedBackend, PlacedEntry, PlacedFrontend } from '../rendering/content.ts'
import { filesOf } from '../rendering/member-tls.ts'
import type { FrontendCertificates } from '../rendering/tls-content.ts'
import type { FrontendShape } from '../sections/shape.ts'
import type { Slot } from '../sections/slot-table.ts'

/**
 * The files of certificates. The process knows certificates and lists by these paths, also those that are added at run
 * time.
 */
export interface TlsFiles {
  /** Chain and key. The agent writes and removes it. */
  readonly certificate: (contentId: string) => string
  /** A certificate of nobody, which fallbacks are until they get one. */
  readonly placeholder: string
  /** The certificates of one frontend slot. */
  readonly list: (slot: number) => string
  /** The fallback certificate of one frontend slot. The file is there only while a process starts. */
  readonly fallback: (slot: number) => string
  /**
   * The authorities of the clients' certificates of one frontend slot. The file is there only while a process starts.
   */
  readonly clients: (slot: number) => string
  /**
   * The lists of revoked clients' certificates of one frontend slot. The file is there only while a process starts.
   * With the placeholder there is no list, and no client gets in.
   */
  readonly revocations: (slot: number) => string
}

/** @param directory of the domain. @param certificates the node's directory of certificates */
export const tlsFiles = (directory: string, certificates: string): TlsFiles => ({
  certificate: (contentId) => join(certificates, `${contentId}.pem`),
  placeholder: join(directory, 'placeholder.pem'),
  list: (slot) => join(directory, `f${slot}.list`),
  fallback: (slot) => join(directory, `f${slot}.pem`),
  clients: (slot) => join(directory, `f${slot}.ca`),
  revocations: (slot) => join(directory, `f${slot}.crl`),
})

/** Writes lists and fallbacks for a process that starts. @returns removes the files that only the start needs */
export async function writeTlsFiles(
  files: TlsFiles,
  frontends: readonly Slot<FrontendShape>[],
  entries: readonly PlacedEntry[],
): Promise<() => Promise<void>> {
  const placed = new Map(entries.flatMap((entry) => entry.frontends.map((frontend) => [frontend.slot, frontend])))
  const own: string[] = []
  const write = async (file: string, contentId: string | undefined | null, textOf = (pem: string) => pem) => {
    const pem = (await readPem(files, contentId ?? null)) ?? (await placeholder(files))
    await writeFile(file, textOf(pem), { mode: 0o600 })
    own.push(file)
  }
  for (const { id, shape } of frontends) {
    if (shape.tls === undefined) continue
    const certificates = placed.get(id)?.certificates
    const lines = (certificates?.named ?? []).map(files.certificate)
    if (shape.tls.unknownNames === 'default') {
      await write(files.fallback(id), certificates?.fallback)
      lines.unshift(files.fallback(id))
    } else {
      // HAProxy warns about a list without a certificate.
      await placeholder(files)
      lines.unshift(files.placeholder)
    }
    if (shape.tls.clients !== undefined) await write(files.clients(id), certificates?.authorities, withoutKeys)
    if (shape.tls.revocations !== undefined) await write(files.revocations(id), certificates?.revocations, withoutKeys)
    await writeFile(files.list(id), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 })
  }
  return async () => void (await Promise.all(own.map((file) => rm(file, { force: true }))))
}

/**
 * Removes from the entries the certificates whose files are lost: a process does not start without a file that its
 * configuration names, and then all its listeners are down. The next change that finds the files adds them again. Until
 * then the listener lacks that certificate, or admits no client; a backend that needs the file has no servers.
 */
export async function withKnownFiles(
  files: TlsFiles,
  entries: readonly PlacedEntry[],
): Promise<readonly PlacedEntry[]> {
  const needed = new Set(
    entries.flatMap(({ frontends, backends }) => [...frontends, ...backends].flatMap(contentIdsOf)),
  )
  const read = await Promise.all([...needed].map(async (id) => ((await readPem(files, id)) === null ? [id] : [])))
  const lost = new Set(read.flat())
  if (lost.size === 0) return entries
  return entries.map(({ frontends, backends }) => ({
    frontends: frontends.map((frontend) => {
      const { certificates } = frontend
      return certificates === undefined ? frontend : { ...frontend, certificates: without(certificates, lost) }
    }),
    backends: backends.map((backend) =>
      contentIdsOf(backend).some((id) => lost.has(id)) ? { slot: backend.slot, servers: [] } : backend,
    ),
  }))
}

const contentIdsOf = (placed: PlacedFrontend | PlacedBackend): readonly string[] => {
  if ('servers' in placed) return placed.tls === undefined ? [] : filesOf(placed.tls)
  const { fallback = null, named = [], authorities, revocations } = placed.certificates ?? {}
  return [fallback, ...named, authorities, revocations].filter((id) => id !== null && id !== undefined)
}

const without = (
  { fallback, named, authorities, revocations }: FrontendCertificates,
  lost: ReadonlySet<string>,
): FrontendCertificates => ({
  fallback: fallback === null || lost.has(fallback) ? null : fallback,
  named: named.filter((id) => !lost.has(id)),
  ...(authorities === undefined || lost.has(authorities) ? {} : { authorities }),
  ...(revocations === undefined || lost.has(revocations) ? {} : { revocations }),
})

/**
 * Chain and key of a certificate.
 * @param contentId null for the placeholder
 * @returns null if the file does not exist, or its content does not have this id
 */
export async function readPem(files: TlsFiles, contentId: string | null): Promise<string | null> {
  if (contentId === null) return placeholder(files)
  const pem = (await readFileOrNull(files.certificate(contentId)))?.toString('latin1') ?? null
  return pem !== null && contentIdOf(pem) === contentId ? pem : null
}

/** Only the certificates and revocation lists of a file. */
export const withoutKeys = (pem: string): string =>
  pem.match(/-----BEGIN (CERTIFICATE|X509 CRL)-----[^-]+-----END \1-----\n/g)?.join('') ?? ''

function isUsable(pem: string): boolean {
  try {
    return new X509Certificate(pem).checkPrivateKey(createPrivateKey(pem))
  } catch {
    return false
  }
}

const SUBJECT = '/CN=placeholder.invalid'
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/** No client is led to a frontend that has it. It is made once for each tenant network. */
async function placeholder({ placeholder: file }: TlsFiles): Promise<string> {
  const known = (await readFileOrNull(file))?.toString('latin1')
  if (known !== undefined && isUsable(known)) return known
  await runIn(null, [
    'openssl',
    'req',
    '-x509',
    ...KEY,
    '-days',
    '36500',
    '-subj',
    SUBJECT,
    '-keyout',
    file,
    '-out',
    file,
  ])
  const made = await readFileOrNull(file)
  if (made === null) throw new Error('openssl wrote no placeholder certificate')
  return made.toString('latin1')
}
