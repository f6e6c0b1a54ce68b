import { describe, expect, test } from 'vitest'
import { hasSameUsers, readUsers } from './read-users.ts'

const BCRYPT = '$2y$10$56J/MIMRCISG9/Dp2POMO.f6Sb9xXl/.LVUI7tfnDpnexAJ5MgOki'
const APR1 = '$apr1$abcd$a4TJDqmci1Rx5yACpaKUk.'
const SHA = '{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk='
const SHA256 = '$5$abcd$mNyVEhiTWofI4vq8jXG48.pXZX1G1jxnS20uKhBl2WA'
const SHA512 = `$6$rounds=5000$abcd$${'a'.repeat(86)}`

const refusalOf = (text: string): string => {
  try {
    readUsers(text, 0)
    return 'none'
  } catch (error) {
    return (error as Error).message
  }
}

describe('a list of users', () => {
  test('is read as htpasswd and nginx do, and kept with names in hex', () => {
    const { content, keyPem } = readUsers(
      `# staff\r\njoe:${BCRYPT}\r\n\r\njürgen:${APR1}:a comment\nann:${SHA}\nx:${SHA256}\ny:${SHA512}\njoe:${APR1}\n`,
      0,
    )
    const [salt, ...lines] = keyPem.split('\n')
    expect(salt).toMatch(/^[0-9a-f]{32}$/)
    expect(lines).toEqual([
      `6a6f65:${BCRYPT}`,
      `6ac3bc7267656e:${APR1}`,
      `616e6e:${SHA}`,
      `78:${SHA256}`,
      `79:${SHA512}`,
      '',
    ])
    expect(content).toMatchObject({ chain: '', subject: '5 users', names: [], keyType: 'none' })
  })

  test('has another name each time, so that nobody can try passwords with it', () => {
    const [one, other] = [readUsers(`joe:${SHA}`, 0), readUsers(`joe:${SHA}`, 0)]
    expect(one.content.contentId).not.toBe(other.content.contentId)
    expect(one.content.fingerprint).not.toBe(other.content.fingerprint)
    expect(hasSameUsers(one.keyPem, other.keyPem)).toBe(true)
    expect(hasSameUsers(one.keyPem, readUsers(`joe:${APR1}`, 0).keyPem)).toBe(false)
  })

  test.each([
    ['', 'has no user'],
    ['# nobody\n', 'has no user'],
    ['joe', 'line 1: is not NAME:HASH'],
    [`joe:${SHA}\n\nann:secret`, 'line 3: its hash is none of'],
    ['joe:{PLAIN}secret', 'line 1: its hash is none of'],
    ['joe:$1$abcd$BC2PRjp8F0MGKpEYIJWzd1', 'line 1: its hash is none of'],
    ['joe:rl0uE5LbRCK2k', 'line 1: its hash is none of'],
    ['joe:', 'line 1: its hash is none of'],
    [`:${SHA}`, 'line 1: a name has 1 to 255 bytes'],
    [`${'j'.repeat(256)}:${SHA}`, 'line 1: a name has 1 to 255 bytes'],
    [`joe\0:${SHA}`, 'line 1: a name has no control characters'],
    [`joe\u{fffd}:${SHA}`, 'line 1: a name has no control characters'],
    [`joe\r\u0085:${SHA}`, 'line 1: a name has no control characters'],
    [`joe:${SHA}\0`, 'line 1: its hash is none of'],
    [`joe:${BCRYPT.replace('$10$', '$31$')}`, 'line 1: a cost of 4 to 12 is taken'],
    [`joe:${SHA512.replace('5000', '999999999')}`, 'line 1: 500000 rounds are the most'],
    [Array.from({ length: 1000 }, (_, at) => `user-${at}:${BCRYPT}`).join('\n'), 'has 1000 users in'],
  ])('%j is refused: %s', (text, reason) => {
    const refusal = refusalOf(text)
    expect(refusal).toContain(reason)
    for (const secret of ['secret', 'rl0uE5LbRCK2k', BCRYPT.slice(7), 'BC2PRjp8F0MGKpEYIJWzd1'])
      expect(refusal).not.toContain(secret)
  })
})
