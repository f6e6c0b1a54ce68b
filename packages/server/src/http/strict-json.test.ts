import { SpoutError } from '@spout/model'
import { describe, expect, test } from 'vitest'
import { parseStrictJson } from './strict-json.ts'

const refusal = (body: string | Uint8Array): string => {
  try {
    parseStrictJson(typeof body === 'string' ? Buffer.from(body) : body)
  } catch (error) {
    if (error instanceof SpoutError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'accepted'
}

describe('parseStrictJson', () => {
  test.each([
    ['{"a":', 'it does not parse'],
    ['{"a":1} x', 'it does not parse'],
    ['{"password":hunter2}', 'it does not parse'],
    [Uint8Array.of(0x22, 0xff, 0x22), 'it is not UTF-8'],
    ['{"__proto__":{"admin":true}}', 'the name __proto__ is not allowed'],
    ['{"a":[{"b":{"constructor":{"prototype":{}}}}]}', 'the name constructor is not allowed'],
    ['{"a":{"pro\\u0074otype":1}}', 'the name prototype is not allowed'],
    ['['.repeat(70) + ']'.repeat(70), 'it is nested deeper than 64'],
  ])('%s is refused', (body, reason) => {
    expect(refusal(body)).toBe(`MalformedJson: The body is not valid JSON: ${reason}`)
  })

  test.each([
    ['{"name":"a\\u0000b"}', 'name'],
    ['{"pool":{"members":[{"tags":["x","\\u0000"]}]}}', 'pool.members[0].tags[1]'],
    ['{"annotations":{"a\\u0000":1}}', 'annotations'],
    ['"\\u0000"', '(body)'],
  ])('%s has a NUL in text', (body, field) => {
    expect(refusal(body)).toBe(`InvalidField: Field ${field}: must not contain the character U+0000`)
    expect(parseStrictJson(Buffer.from(body), 'taken')).toBeDefined()
  })

  test('text about NUL is accepted', () => {
    expect(parseStrictJson(Buffer.from('"\\\\u0000"'))).toBe('\\u0000')
  })

  test('deep nesting costs no stack', () => {
    expect(refusal('['.repeat(100_000) + ']'.repeat(100_000))).toMatch(/^MalformedJson/)
  })

  test('ordinary documents are parsed', () => {
    expect(parseStrictJson(Buffer.from('{"name":"é","list":[1,null,{"x":true}]}'))).toEqual({
      name: 'é',
      list: [1, null, { x: true }],
    })
  })
})
