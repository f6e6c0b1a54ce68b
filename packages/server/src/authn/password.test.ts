import { readdirSync, readFileSync } from 'node:fs'
import { waitFor } from '@spout/testkit'
import { describe, expect, test } from 'vitest'
import { Passwords } from './password.ts'

/** The nice value of each thread of this process: proc_pid_stat(5), the 17th field after the name. */
const niceValues = (): readonly number[] =>
  readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  })

const ASKER = { user: 'ann', source: '192.0.2.1' }
/** The tests do not depend on the cost of a hash, unless they say so. */
const cheapPasswords = () => new Passwords({ log2N: 4 })

describe('Passwords', () => {
  test('a record verifies its own password only, and two records of one password differ', async () => {
    const passwords = cheapPasswords()
    const [first, second] = await Promise.all([passwords.hash('päss word', ASKER), passwords.hash('päss word', ASKER)])
    expect(first).toMatch(/^scrypt\$4\$8\$1\$[\w-]{22}\$[\w-]{43}$/)
    expect(second).not.toBe(first)
    expect(await passwords.verify('päss word', first, ASKER)).toBe(true)
    expect(await passwords.verify('pass word', first, ASKER)).toBe(false)
    expect(await passwords.verify('', first, ASKER)).toBe(false)
  })

  test('by default a hash costs what OWASP asks for, and verifies the same', async () => {
    const passwords = new Passwords()
    const record = await passwords.hash('päss word', ASKER)
    expect(record).toMatch(/^scrypt\$15\$8\$1\$[\w-]{22}\$[\w-]{43}$/)
    expect(await passwords.verify('päss word', record, ASKER)).toBe(true)
    expect(await passwords.verify('pass word', record, ASKER)).toBe(false)
  })

  test('the same text in another Unicode form is the same password', async () => {
    const passwords = cheapPasswords()
    expect(await passwords.verify('pa\u0308ss', await passwords.hash('p\u00e4ss', ASKER), ASKER)).toBe(true)
  })

  test('no password matches without a record, not even that of the stand-in', async () => {
    const passwords = cheapPasswords()
    expect(await passwords.verify('', null, ASKER)).toBe(false)
    expect(await passwords.verify('A', null, ASKER)).toBe(false)
  })

  test('too many of one user at once are refused, the others answered', async () => {
    const passwords = new Passwords({ maxRunning: 2 })
    const cheap = 'scrypt$4$8$1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    const results = await Promise.allSettled(Array.from({ length: 80 }, () => passwords.verify('x', cheap, ASKER)))
    const turnedAway = results.filter((result) => result.status === 'rejected')
    expect(turnedAway).toHaveLength(80 - 2 - 32)
    expect(turnedAway.every((result) => result.reason.code === 'Unavailable')).toBe(true)
    expect(await passwords.verify('x', cheap, ASKER)).toBe(false)
  })

  test('a hash is computed at a lower priority than everything else of the process', async () => {
    const passwords = new Passwords()
    const [seen, record] = await Promise.all([
      waitFor(() => niceValues().includes(10), { what: 'a thread of lower priority' }),
      passwords.hash('x', ASKER),
    ])
    expect([seen, record]).toEqual([true, expect.stringContaining('scrypt')])
  })

  test('a record that cannot be derived fails that login, and the next is answered', async () => {
    const passwords = new Passwords({ maxRunning: 1, log2N: 4 })
    const record = await passwords.hash('x', ASKER)
    await expect(passwords.verify('x', 'scrypt$30$8$1$AAAA$AAAA', ASKER)).rejects.toThrow(/memory/i)
    expect(await passwords.verify('x', record, ASKER)).toBe(true)
  })
})
