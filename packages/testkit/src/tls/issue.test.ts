import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { issueCertificate } from './issue.ts'

test('OpenSSL verifies what is issued, by its issuer and its name', () => {
  const root = issueCertificate({ isAuthority: true, newKey: 'rsa:2048' })
  const between = issueCertificate({ issuer: root, isAuthority: true })
  const leaf = issueCertificate({ issuer: between, names: ['a.example', '*.b.example'] })
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-issue-'))
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(directory, name), text)
    return path.join(directory, name)
  }
  try {
    const chain = ['-CAfile', file('root', root.certificate), '-untrusted', file('between', between.certificate)]
    const verify = (name: string) =>
      execFileSync('openssl', ['verify', ...chain, '-verify_hostname', name, file('leaf', leaf.certificate)], {
        encoding: 'utf8',
        stdio: 'pipe',
      })
    expect(verify('x.b.example')).toContain('OK')
    expect(() => verify('b.example')).toThrow(/hostname mismatch/i)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
