import { hash } from 'node:crypto'
import { SpoutError } from '@spout/model'
import { nameOfPerson } from '../authn/person-name.ts'

/** What a provider says of a person, verified: claims by name (OpenID Connect Core 1.0, section 5.1). */
export type Claims = Readonly<Record<string, unknown>>

/** Which claims say what. */
export interface ClaimNames {
  readonly user: string
  readonly groups: string
}

/** Whom a provider vouches for. */
export interface Person {
  /** Of the user here. */
  readonly id: string
  /** Of the user here. Another subject of the provider may have it, too. */
  readonly name: string
  readonly groups: readonly string[]
}

/** Longer names would not fit with what is put before and after them. */
const MOST_NAME_LENGTH = 200

/**
 * The person whom verified claims name. Only issuer and subject say who it is: no other claim stays the same for good,
 * nor is another one unique (OpenID Connect Core 1.0, section 5.7).
 * @throws SpoutError Unauthenticated when nothing can be a name
 */
export function personIn(claims: Claims, issuer: string, names: ClaimNames): Person {
  const { sub: subject, [names.user]: name, [names.groups]: groups } = claims
  if (typeof subject !== 'string' || subject === '') throw unusable('sub')
  if (typeof name !== 'string' || !isName(name)) throw unusable(names.user)
  return { id: idOf(issuer, subject), name: nameOfPerson(name.trim()), groups: textsIn(groups) }
}

/** Some providers write a list of one as its text. */
const textsIn = (claim: unknown): readonly string[] =>
  [claim].flat().filter((each): each is string => typeof each === 'string')

const isName = (text: string): boolean => text.trim() !== '' && text.length <= MOST_NAME_LENGTH && !/\p{Cc}/u.test(text)

/** A UUID of version 8 (RFC 9562, section 5.8), so it is nobody's whose id was chosen at random (version 4). */
function idOf(issuer: string, subject: string): string {
  const digits = hash('sha256', JSON.stringify([issuer, subject]))
  return digits.slice(0, 32).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-8$3-8$4-$5')
}

const unusable = (claim: string): SpoutError =>
  new SpoutError('Unauthenticated', { reason: `the claim ${claim} of this login names nobody` })
