import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeProgram } from '@spout/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { refusalOf, refuseKnownBad } from './known-bad-builds.ts'

const said = (version: string): string =>
  `HAProxy version ${version} 2023/12/16 - https://haproxy.org/\nStatus: stable\n`

it.each([
  ['2.4.3', ['CVE-2021-40346', 'CVE-2023-25725', 'CVE-2023-40225']],
  ['2.6.8', ['CVE-2023-25725', 'CVE-2023-40225']],
  ['2.7.2-1', ['CVE-2023-25725', 'CVE-2023-40225']],
  ['2.7.9', ['CVE-2023-40225']],
  ['2.8.1-1ppa1~jammy', ['CVE-2023-40225']],
  // Debian's own build before its first security revision, and upstream's of the same number.
  ['2.6.12-1', ['CVE-2023-40225']],
  ['2.6.12', ['CVE-2023-40225']],
] as const)('refuses %s and names what it lets through', (version, holes) => {
  const refusal = refusalOf(said(version)) ?? ''
  expect(refusal).toContain(`HAProxy ${version} `)
  expect(refusal.match(/CVE-[0-9-]+/g)).toEqual(holes)
  expect(refusal).toMatch(/install .*2\.6\.12-1\+deb12u1/)
})

it('refuses versions older than any that was tested', () => {
  expect(refusalOf(said('2.4.30'))).toBe('HAProxy 2.4.30 is older than 2.6.12: install that or later')
})

it.each(['2.6.12-1+deb12u1', '2.6.12-1+deb12u4', '2.6.15', '2.8.2', '2.8.5-1ubuntu3', '3.0.11-1+deb13u1', '3.2.26'])(
  'takes %s',
  (version) => {
    expect(refusalOf(said(version))).toBeNull()
  },
)

it('accepts a version text that it does not understand', () => {
  expect(refusalOf('something else')).toBeNull()
})

it('accepts the build of this machine and a missing program; for a bad build it names it and what to install', async () => {
  await refuseKnownBad('/usr/sbin/haproxy')
  await refuseKnownBad('/nowhere/haproxy')
  const directory = mkdtempSync(join(tmpdir(), 'spout-bad-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const program = join(directory, 'haproxy')
  writeProgram(program, "#!/bin/sh\necho 'HAProxy version 2.6.8-1 2023/01/24 - https://haproxy.org/'\n")
  await expect(refuseKnownBad(program)).rejects.toThrow(`haproxy.executable ${program}: HAProxy 2.6.8-1 lets clients`)
})
