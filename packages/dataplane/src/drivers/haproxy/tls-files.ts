import { createPrivateKey, X509Certificate } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contentIdOf } from '@spout/model/content-id'
import { readFileOrNull, runIn } from '@spout/sys'
import type { PlacedEntry } from './content.ts'
import { filesOf } from './member-tls.ts'
import type { FrontendShape } from './shape.ts'
import type { Slot } from './slot-table.ts'

/** The files of certificates. The process knows certificates and lists by these paths, also those told at run time. */
export interface TlsFiles {
  /** Chain and key. The agent writes and removes it. */
  readonly certificate: (contentId: string) => string
  /** A certificate of nobody, which fallbacks are until they get one. */
  readonly placeholder: string
  /** The certificates of one frontend slot. */
  readonly list: (slot: number) => string
  /** The fallback certificate of one frontend slot. The file is there only while a process starts. */
  readonly fallback: (slot: number) => string
  /** The authorities of the clients' certificates of one frontend slot. The file is there only while a process starts. */
  readonly clients: (slot: number) => string
}

/** @param directory of the domain. @param certificates the node's directory of certificates */
export const tlsFiles = (directory: string, certificates: string): TlsFiles => ({
  certificate: (contentId) => join(certificates, `${contentId}.pem`),
  placeholder: join(directory, 'placeholder.pem'),
  list: (slot) => join(directory, `f${slot}.list`),
  fallback: (slot) => join(directory, `f${slot}.pem`),
  clients: (slot) => join(directory, `f${slot}.ca`),
})

/**
 * Writes lists and fallbacks for a process that starts. A certificate whose file is lost is left out: its listener lacks
 * it, and the others start.
 * @returns removes what the process needs no more once it has started
 */
export async function writeTlsFiles(
  files: TlsFiles,
  frontends: readonly Slot<FrontendShape>[],
  entries: readonly PlacedEntry[],
): Promise<() => Promise<void>> {
  const placed = new Map(entries.flatMap((entry) => entry.frontends.map((frontend) => [frontend.slot, frontend])))
  const own: string[] = []
  for (const { id, shape } of frontends) {
    if (shape.tls === undefined) continue
    const certificates = placed.get(id)?.certificates
    const lines: string[] = []
    if (shape.tls.unknownNames === 'default') {
      const fallback = certificates?.fallback ?? null
      const pem = (await readPem(files, fallback)) ?? (await placeholder(files))
      await writeFile(files.fallback(id), pem, { mode: 0o600 })
      own.push(files.fallback(id))
      lines.push(files.fallback(id))
    } else {
      // HAProxy warns about a list without any.
      await placeholder(files)
      lines.push(files.placeholder)
    }
    for (const contentId of certificates?.named ?? [])
      if ((await readPem(files, contentId)) !== null) lines.push(files.certificate(contentId))
    if (shape.tls.clients !== undefined) {
      const pem = (await readPem(files, certificates?.authorities ?? null)) ?? (await placeholder(files))
      await writeFile(files.clients(id), certificatesIn(pem), { mode: 0o600 })
      own.push(files.clients(id))
    }
    await writeFile(files.list(id), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 })
  }
  return async () => void (await Promise.all(own.map((file) => rm(file, { force: true }))))
}

/**
 * A server whose file of authorities or certificate is lost would keep the process from starting. Its backend starts
 * without servers: the next change adds them.
 */
export async function withUsableServers(
  files: TlsFiles,
  entries: readonly PlacedEntry[],
): Promise<readonly PlacedEntry[]> {
  const needed = new Set(entries.flatMap(({ backends }) => backends.flatMap(({ tls }) => (tls ? filesOf(tls) : []))))
  const read = await Promise.all([...needed].map(async (id) => ((await readPem(files, id)) === null ? [id] : [])))
  const lost = new Set(read.flat())
  if (lost.size === 0) return entries
  return entries.map((entry) => ({
    ...entry,
    backends: entry.backends.map((backend) =>
      backend.tls !== undefined && filesOf(backend.tls).some((id) => lost.has(id))
        ? { slot: backend.slot, servers: [] }
        : backend,
    ),
  }))
}

/**
 * Chain and key of a certificate. A damaged file would keep the process from starting, and its other listeners with it.
 * @param contentId null for the placeholder
 * @returns null if the file is not there, or not what it was
 */
export async function readPem(files: TlsFiles, contentId: string | null): Promise<string | null> {
  if (contentId === null) return placeholder(files)
  const pem = (await readFileOrNull(files.certificate(contentId)))?.toString('latin1') ?? null
  return pem !== null && contentIdOf(pem) === contentId ? pem : null
}

/** The certificates alone. */
export const certificatesIn = (pem: string): string =>
  pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g)?.join('') ?? ''

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
