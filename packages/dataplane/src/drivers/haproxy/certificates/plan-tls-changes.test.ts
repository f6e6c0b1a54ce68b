import { expect, test } from 'vitest'
import type { MemberTls } from '../rendering/member-tls.ts'
import { emptyTlsContent, type FrontendCertificates, type TlsContent, tlsContentOf } from '../rendering/tls-content.ts'
import { planTlsChanges, storesOfMemberTls, unusedByServers } from './plan-tls-changes.ts'
import { followTls } from './tls-command.ts'

const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(32)) as [string, string, string]
const at = (slot: number, fallback: string | null, ...named: readonly string[]) => ({
  slot,
  certificates: { fallback, named } satisfies FrontendCertificates,
})
const words = (
  have: TlsContent,
  ...[before, want]: [Parameters<typeof tlsContentOf>[0], Parameters<typeof tlsContentOf>[0]]
) => {
  const { raise, lower } = planTlsChanges(have, [...before], [...want])
  for (const command of [...raise, ...lower]) followTls(have, command)
  const wordOf = (command: (typeof raise)[number]) =>
    [command.do, ...('slot' in command ? [`f${command.slot}`] : []), command.contentId?.[0] ?? 'placeholder'].join(' ')
  return [raise.map(wordOf), lower.map(wordOf)]
}

test('a new listener gets its certificates, each told once, and nothing more', () => {
  const have = emptyTlsContent()
  const want = [at(1, A, B), at(2, null, B)]
  expect(words(have, [], want)).toEqual([
    [
      ...['new-certificate b', 'set-certificate b', 'commit-certificate b', 'list-certificate f1 b'],
      ...['list-certificate f2 b', 'set-fallback f1 a', 'commit-fallback f1 a'],
    ],
    [],
  ])
  expect(have).toEqual(tlsContentOf(want, []))
  expect(words(have, want, want)).toEqual([[], []])
})

test('a replaced certificate: the new one first, then the old one leaves', () => {
  const before = [at(1, null, A)]
  expect(words(tlsContentOf(before, []), before, [at(1, null, B)])).toEqual([
    ['new-certificate b', 'set-certificate b', 'commit-certificate b', 'list-certificate f1 b'],
    ['unlist-certificate f1 a', 'delete-certificate a'],
  ])
})

test('two that change places: each is served all the time', () => {
  const before = [at(1, A, B)]
  expect(words(tlsContentOf(before, []), before, [at(1, B, A)])).toEqual([
    [
      'new-certificate a',
      'set-certificate a',
      'commit-certificate a',
      'list-certificate f1 a',
      'set-fallback f1 b',
      'commit-fallback f1 b',
    ],
    ['unlist-certificate f1 b', 'delete-certificate b'],
  ])
})

test('a listener that goes leaves no key behind, but what another one uses', () => {
  const [one, other] = [[at(1, A, B, C)], [at(2, null, C)]] as const
  const have = tlsContentOf([...one, ...other], [])
  words(have, one, [])
  expect(have).toEqual(tlsContentOf(other, []))
})

test('lists of revoked certificates come before the authorities whose clients they refuse, and go with the listener', () => {
  const asking = (authorities: string, revocations: string) => [
    { slot: 1, certificates: { fallback: null, named: [A], authorities, revocations } },
  ]
  const before = asking(A, A)
  const have = tlsContentOf(before, [])
  const want = asking(B, B)
  expect(words(have, before, want)).toEqual([
    ['set-revocations f1 b', 'commit-revocations f1 b', 'set-clients f1 b', 'commit-clients f1 b'],
    [],
  ])
  expect(words(have, want, asking(B, C))).toEqual([['set-revocations f1 c', 'commit-revocations f1 c'], []])
  words(have, asking(B, C), [])
  expect(have).toEqual(emptyTlsContent())
})

test('lists for members are stored once, as files of their own, and deleted when no server needs them', () => {
  const tls: MemberTls = {
    authorities: A,
    revocations: B,
    serverName: null,
    certificate: null,
    minVersion: '1.2',
    alpn: [],
  }
  const have = emptyTlsContent()
  const stores = storesOfMemberTls(have, [{ tls }, { tls }])
  expect(stores.map(({ do: step, contentId }) => [step, contentId])).toEqual([
    ...['new', 'set', 'commit'].map((step) => [`${step}-authorities`, A]),
    ...['new', 'set', 'commit'].map((step) => [`${step}-revocation-list`, B]),
  ])
  for (const command of stores) followTls(have, command)
  expect(have).toEqual(tlsContentOf([], [{ tls }]))
  expect(storesOfMemberTls(have, [{ tls }])).toEqual([])
  expect(unusedByServers(have, [{ tls }])).toEqual([])
  const { revocations: _, ...without } = tls
  const unused = unusedByServers(have, [{ tls: without }])
  expect(unused).toEqual([{ do: 'delete-revocation-list', contentId: B }])
  for (const command of unused) followTls(have, command)
  expect(have).toEqual(tlsContentOf([], [{ tls: without }]))
})
