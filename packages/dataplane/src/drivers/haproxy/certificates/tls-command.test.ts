import { issueCertificate, revocationList } from '@spout/testkit/tls'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type TlsCommand, tlsCommandText, tlsRefusal } from './tls-command.ts'
import { tlsFiles } from './tls-files.ts'

const files = tlsFiles('/run/d7', '/run/c')
const contentId = 'ab'.repeat(16)
const { certificate, key } = issueCertificate({ names: ['a.example'] })
const pem = certificate + key

describe('what is sent', () => {
  it.each<[TlsCommand, string]>([
    [{ do: 'new-certificate', contentId }, `new ssl cert /run/c/${contentId}.pem\n`],
    [{ do: 'set-certificate', contentId }, `set ssl cert /run/c/${contentId}.pem <<\n${pem}\n`],
    [{ do: 'commit-certificate', contentId }, `commit ssl cert /run/c/${contentId}.pem\n`],
    [{ do: 'list-certificate', slot: 3, contentId }, `add ssl crt-list /run/d7/f3.list /run/c/${contentId}.pem\n`],
    [{ do: 'unlist-certificate', slot: 3, contentId }, `del ssl crt-list /run/d7/f3.list /run/c/${contentId}.pem\n`],
    [{ do: 'delete-certificate', contentId }, `del ssl cert /run/c/${contentId}.pem\n`],
    [{ do: 'set-fallback', slot: 3, contentId }, `set ssl cert /run/d7/f3.pem <<\n${pem}\n`],
    [{ do: 'commit-fallback', slot: 3, contentId }, 'commit ssl cert /run/d7/f3.pem\n'],
    [{ do: 'commit-revocations', slot: 3, contentId }, 'commit ssl crl-file /run/d7/f3.crl\n'],
    [{ do: 'new-revocation-list', contentId }, `new ssl crl-file /run/c/${contentId}.pem\n`],
    [{ do: 'commit-revocation-list', contentId }, `commit ssl crl-file /run/c/${contentId}.pem\n`],
    [{ do: 'delete-revocation-list', contentId }, `del ssl crl-file /run/c/${contentId}.pem\n`],
  ])('%o', (command, text) => expect(tlsCommandText(command, files, pem)).toBe(text))

  it('of revoked certificates the lists, of the placeholder no key', () => {
    const list = revocationList(issueCertificate({ isAuthority: true }))
    const said = (text: string) => tlsCommandText({ do: 'set-revocations', slot: 3, contentId: null }, files, text)
    expect(said(list + list)).toBe(`set ssl crl-file /run/d7/f3.crl <<\n${list}${list}\n`)
    expect(said(pem)).toBe(`set ssl crl-file /run/d7/f3.crl <<\n${certificate}\n`)
  })

  it('is one command, whatever stands in the file or the id', () => {
    const hostile = fc.tuple(
      fc.string(),
      fc.constantFrom(';', '\n\n', '\nset maxconn global 7\n', '<<', '\r', '\0', ' ', '\\'),
    )
    fc.assert(
      fc.property(hostile, fc.nat(pem.length), ([text, evil], where) => {
        const broken = `${pem.slice(0, where)}${evil}${text}${pem.slice(where)}`
        const said = () => tlsCommandText({ do: 'set-certificate', contentId }, files, broken)
        expect(said).toThrow(RangeError)
        expect(() => tlsCommandText({ do: 'new-certificate', contentId: `${evil}${text}` }, files, '')).toThrow(
          RangeError,
        )
      }),
    )
  })
})

describe('what is answered', () => {
  // As HAProxy 2.6.12 says it.
  it.each<[TlsCommand['do'], string, boolean]>([
    ['new-certificate', "New empty certificate store 'x'!", true],
    ['new-certificate', "Certificate 'x' already exists!", true],
    ['set-certificate', 'Transaction created for certificate x!', true],
    ['set-certificate', "unable to load certificate from file 'x'.\nCan't update x!", false],
    ['commit-certificate', 'Committing x.\nSuccess!', true],
    ['commit-certificate', "No ongoing transaction! !\nCan't commit x!", false],
    ['list-certificate', "Inserting certificate 'x' in crt-list 'y'.\nSuccess!", true],
    ['unlist-certificate', "Entry 'x' deleted in crtlist 'y'!", true],
    ['delete-certificate', "Certificate 'x' deleted!", true],
    ['delete-certificate', "Can't remove the certificate: certificate 'x' in use, can't be deleted!", true],
    ['commit-fallback', '', false],
    ['set-revocations', 'transaction created for CRL x!', true],
    ['set-revocations', "unable to load CRL from file 'x'.\nCan't update x!", false],
    ['commit-revocations', 'Committing x.\nSuccess!', true],
    ['new-revocation-list', "New CRL file created 'x'!", true],
    ['new-revocation-list', "CRL file 'x' already exists!", true],
    ['commit-revocation-list', "No ongoing transaction! !\nCan't commit x!", false],
    ['delete-revocation-list', "CRL file 'x' deleted!", true],
  ])('%s: %s', (what, reply, accepted) => {
    const command = { do: what, contentId, slot: 1 } as TlsCommand
    expect(tlsRefusal(command, reply) === null).toBe(accepted)
  })
})
