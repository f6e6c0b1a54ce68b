import type { TlsContent } from '../rendering/tls-content.ts'
import { isListed } from '../rendering/tls-content.ts'
import { type TlsFiles, withoutKeys } from './tls-files.ts'

/** One change of the certificates of a running process. */
export type TlsCommand =
  | { readonly do: 'new-certificate' | 'commit-certificate' | 'delete-certificate'; readonly contentId: string }
  | { readonly do: 'set-certificate'; readonly contentId: string }
  | {
      readonly do: `${'new' | 'set' | 'commit' | 'delete'}-${'authorities' | 'revocation-list'}`
      readonly contentId: string
    }
  | { readonly do: 'list-certificate' | 'unlist-certificate'; readonly slot: number; readonly contentId: string }
  /** A null content is the placeholder. */
  | {
      readonly do: `${'set' | 'commit'}-${'fallback' | 'clients' | 'revocations'}`
      readonly slot: number
      readonly contentId: string | null
    }

const TLS_COMMANDS: ReadonlySet<string> = new Set<TlsCommand['do']>([
  'new-certificate',
  'set-certificate',
  'commit-certificate',
  'delete-certificate',
  'new-authorities',
  'set-authorities',
  'commit-authorities',
  'delete-authorities',
  'new-revocation-list',
  'set-revocation-list',
  'commit-revocation-list',
  'delete-revocation-list',
  'list-certificate',
  'unlist-certificate',
  'set-fallback',
  'commit-fallback',
  'set-clients',
  'commit-clients',
  'set-revocations',
  'commit-revocations',
])

export const isTlsCommand = <C extends { readonly do: string }>(command: C | TlsCommand): command is TlsCommand =>
  TLS_COMMANDS.has(command.do)

/** Names a step of storing a file, which is taken once for all that need the file; null for other commands. */
export const storeStep = (command: { readonly do: string; readonly contentId?: string | null }): string | null =>
  /^(?:new|set|commit)-(?:certificate|authorities|revocation-list)$/.test(command.do)
    ? `${command.do} ${command.contentId}`
    : null

/** Blocks of base64 without an empty line, which would end the payload. */
const PEM =
  /^(?:-----BEGIN (CERTIFICATE|PRIVATE KEY|X509 CRL)-----\n(?:[A-Za-z0-9+/]{1,64}={0,2}\n)+-----END \1-----\n)+$/
const PATH = /^[A-Za-z0-9./_-]+$/

/** Which file's content the command sends; undefined for none, null for the placeholder. */
export const payloadOf = (command: TlsCommand): string | null | undefined =>
  command.do.startsWith('set-') ? command.contentId : undefined

/**
 * Formats a command for the runtime API.
 * @param pem the certificate's file, for a command that has a payload
 * @throws RangeError for text that would be more than this one command
 */
export function tlsCommandText(command: TlsCommand, files: TlsFiles, pem: string): string {
  switch (command.do) {
    case 'new-certificate':
      return `new ssl cert ${path(files.certificate(command.contentId))}\n`
    case 'set-certificate':
      return setText('cert', files.certificate(command.contentId), pem)
    case 'commit-certificate':
      return `commit ssl cert ${path(files.certificate(command.contentId))}\n`
    case 'delete-certificate':
      return `del ssl cert ${path(files.certificate(command.contentId))}\n`
    case 'new-authorities':
      return `new ssl ca-file ${path(files.certificate(command.contentId))}\n`
    case 'set-authorities':
      return setText('ca-file', files.certificate(command.contentId), pem)
    case 'commit-authorities':
      return `commit ssl ca-file ${path(files.certificate(command.contentId))}\n`
    case 'delete-authorities':
      return `del ssl ca-file ${path(files.certificate(command.contentId))}\n`
    case 'new-revocation-list':
      return `new ssl crl-file ${path(files.certificate(command.contentId))}\n`
    case 'set-revocation-list':
      return setText('crl-file', files.certificate(command.contentId), pem)
    case 'commit-revocation-list':
      return `commit ssl crl-file ${path(files.certificate(command.contentId))}\n`
    case 'delete-revocation-list':
      return `del ssl crl-file ${path(files.certificate(command.contentId))}\n`
    case 'list-certificate':
      return `add ssl crt-list ${path(files.list(command.slot))} ${path(files.certificate(command.contentId))}\n`
    case 'unlist-certificate':
      return `del ssl crt-list ${path(files.list(command.slot))} ${path(files.certificate(command.contentId))}\n`
    case 'set-fallback':
      return setText('cert', files.fallback(command.slot), pem)
    case 'set-clients':
      return setText('ca-file', files.clients(command.slot), withoutKeys(pem))
    case 'commit-clients':
      return `commit ssl ca-file ${path(files.clients(command.slot))}\n`
    case 'set-revocations':
      return setText('crl-file', files.revocations(command.slot), withoutKeys(pem))
    case 'commit-revocations':
      return `commit ssl crl-file ${path(files.revocations(command.slot))}\n`
    case 'commit-fallback':
      return `commit ssl cert ${path(files.fallback(command.slot))}\n`
  }
}

function setText(kind: 'cert' | 'ca-file' | 'crl-file', store: string, pem: string): string {
  if (!PEM.test(pem)) throw new RangeError('the certificate file is not PEM as we write it')
  return `set ssl ${kind} ${path(store)} <<\n${pem}\n`
}

function path(text: string): string {
  if (!PATH.test(text)) throw new RangeError(`${JSON.stringify(text)} is not valid in a command`)
  return text
}

const ACCEPTED: Readonly<Record<TlsCommand['do'], RegExp>> = {
  // The name may exist from a change that was given up, or from another entry of the same transaction.
  'new-certificate': /^New empty certificate store|already exists!$/,
  'set-certificate': /Transaction (?:created|updated) for certificate /,
  'commit-certificate': /Success!$/,
  // While another listener still uses it, it stays.
  'delete-certificate': /deleted!$|in use, can't be deleted!$|doesn't exist|does not exist|not found/i,
  'new-authorities': /^New CA file created|already exists!$/,
  'set-authorities': /transaction (?:created|updated) for CA /i,
  'commit-authorities': /Success!$/,
  'delete-authorities': /deleted!$|in use, can't be deleted!$|doesn't exist|does not exist|not found/i,
  'new-revocation-list': /^New CRL file created|already exists!$/,
  'set-revocation-list': /transaction (?:created|updated) for CRL /i,
  'commit-revocation-list': /Success!$/,
  'delete-revocation-list': /deleted!$|in use, can't be deleted!$|doesn't exist|does not exist|not found/i,
  'list-certificate': /Success!$/,
  'unlist-certificate': /deleted in crtlist |doesn't exist|does not exist|can't find/i,
  'set-fallback': /Transaction (?:created|updated) for certificate /,
  'commit-fallback': /Success!$/,
  'set-clients': /transaction (?:created|updated) for CA /i,
  'commit-clients': /Success!$/,
  'set-revocations': /transaction (?:created|updated) for CRL /i,
  'commit-revocations': /Success!$/,
}

/** The proxy's error text if it refused; null if it succeeded. */
export const tlsRefusal = (command: TlsCommand, reply: string): string | null =>
  ACCEPTED[command.do].test(reply) ? null : reply === '' ? 'no answer' : reply

/** Updates `content` after an accepted command. */
export function followTls(content: TlsContent, command: TlsCommand): void {
  switch (command.do) {
    case 'commit-certificate':
      content.stored.add(command.contentId)
      return
    case 'delete-certificate':
      if (!isListed(content, command.contentId)) content.stored.delete(command.contentId)
      return
    case 'commit-authorities':
      content.authorities.add(command.contentId)
      return
    case 'delete-authorities':
      content.authorities.delete(command.contentId)
      return
    case 'commit-revocation-list':
      content.revocationLists.add(command.contentId)
      return
    case 'delete-revocation-list':
      content.revocationLists.delete(command.contentId)
      return
    case 'list-certificate':
      content.listed.set(command.slot, (content.listed.get(command.slot) ?? new Set()).add(command.contentId))
      return
    case 'unlist-certificate': {
      const list = content.listed.get(command.slot)
      list?.delete(command.contentId)
      if (list?.size === 0) content.listed.delete(command.slot)
      return
    }
    case 'commit-fallback':
      if (command.contentId === null) content.fallbacks.delete(command.slot)
      else content.fallbacks.set(command.slot, command.contentId)
      return
    case 'commit-clients':
      if (command.contentId === null) content.clients.delete(command.slot)
      else content.clients.set(command.slot, command.contentId)
      return
    case 'commit-revocations':
      if (command.contentId === null) content.revocations.delete(command.slot)
      else content.revocations.set(command.slot, command.contentId)
      return
    case 'set-clients':
    case 'set-revocations':
    case 'new-certificate':
    case 'set-certificate':
    case 'new-authorities':
    case 'set-authorities':
    case 'new-revocation-list':
    case 'set-revocation-list':
    case 'set-fallback':
      return
  }
}
