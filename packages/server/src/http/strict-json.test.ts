import { Readable } from 'node:stream'
import { SpoutError } from '@spout/model'
import { codePoint } from '@spout/testkit/code-point'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { API_JSON_LIMITS } from './host.ts'
import type { JsonLimits } from './json-scanner.ts'
import { readStrictJson } from './strict-json.ts'

const MIB = 1024 * 1024

const read = (body: string | Uint8Array, limits: Partial<JsonLimits> = {}, pieceBytes = MIB): Promise<unknown> => {
  const bytes = Buffer.from(body)
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  )
  return readStrictJson(Readable.from(pieces), 4 * MIB, { ...API_JSON_LIMITS, ...limits })
}

const refusal = async (...args: Parameters<typeof read>): Promise<string> => {
  try {
    await read(...args)
  } catch (error) {
    if (error instanceof SpoutError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'accepted'
}

describe('readStrictJson', () => {
  test.each([
    ['{"a":', 'it does not parse'],
    ['{"a":1} x', 'it does not parse'],
    ['{"password":hunter2}', 'it does not parse'],
    [Uint8Array.of(0x22, 0xff, 0x22), 'it is not UTF-8'],
    ['{"__proto__":{"admin":true}}', 'the name __proto__ is not allowed'],
    ['{"a":[{"b":{"constructor":{"prototype":{}}}}]}', 'the name constructor is not allowed'],
    ['{"a":{"pro\\u0074otype":1}}', 'the name prototype is not allowed'],
    ['['.repeat(70) + ']'.repeat(70), 'it is nested deeper than 64'],
  ])('%s is refused', async (body, reason) => {
    const expected = `MalformedJson: The body is not valid JSON: ${reason}`
    expect(await refusal(body)).toBe(expected)
    expect(await refusal(body, {}, 1)).toBe(expected)
  })

  test.each([
    ['{"name":"a\\u0000b"}', 'name'],
    ['{"pool":{"members":[{"tags":["x","\\u0000"]}]}}', 'pool.members[0].tags[1]'],
    ['{"annotations":{"a\\u0000":1}}', 'annotations'],
    ['"\\u0000"', '(body)'],
  ])('%s has a NUL in text', async (body, field) => {
    const expected = `InvalidField: Field ${field}: must not contain the character U+0000`
    expect(await refusal(body)).toBe(expected)
    expect(await refusal(body, {}, 1)).toBe(expected)
    expect(await read(body, { nulInText: 'taken' })).toBeDefined()
  })

  test('text about NUL is accepted', async () => {
    expect(await read('"\\\\u0000"')).toBe('\\u0000')
  })

  test('deep nesting costs no stack', async () => {
    expect(await refusal('['.repeat(100_000) + ']'.repeat(100_000))).toMatch(/^MalformedJson/)
  })

  test('ordinary documents are parsed', async () => {
    expect(await read('{"name":"é","list":[1,null,{"x":true}]}')).toEqual({ name: 'é', list: [1, null, { x: true }] })
    expect(await read('')).toBeUndefined()
  })

  test('any JSON is parsed, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.json({ maxDepth: 5, stringUnit: codePoint }),
        fc.integer({ min: 1, max: 20 }),
        async (text, pieceBytes) => {
          fc.pre(!/__proto__|constructor|prototype|\\u0000/.test(text))
          expect(await read(text, {}, pieceBytes)).toEqual(JSON.parse(text))
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('limits of what a body contains', () => {
  test.each<[string, string, Partial<JsonLimits>, string]>([
    ['a text', '{"pools":[{},{"name":"xxxxx","description":"yyyyyy"}]}', { mostTextBytes: 11 }, 'accepted'],
    [
      'a longer text',
      '{"pools":[{},{"name":"xxxxxxxxxxxx"}]}',
      { mostTextBytes: 11 },
      'InvalidField: Field pools[1].name: must be at most 11 bytes as JSON',
    ],
    [
      'a number',
      '{"port":1000000000000}',
      { mostTextBytes: 11 },
      'InvalidField: Field port: must be at most 11 bytes as JSON',
    ],
    ['space', `[1,            2]`, { mostTextBytes: 11 }, 'InvalidField: Field [1]: must be at most 11 bytes as JSON'],
    [
      'a name',
      '{"tags":{"abcdefghijkl":1}}',
      { mostTextBytes: 11 },
      'InvalidField: Field tags: must be at most 11 bytes as JSON',
    ],
    ['names', '{"a":{"b":1,"\\u0061":2},"b":{"a":1}}', { mostNames: 3 }, 'accepted'],
    [
      'more names',
      '{"a":{"b":1,"c":2},"b":{"d":1}}',
      { mostNames: 3 },
      'InvalidField: Field b: is too much: a body has at most 3 different names',
    ],
    ['values', '{"list":[1,[2,3]]}', { mostValues: 6 }, 'accepted'],
    [
      'more values',
      '{"list":[1,[2,3,4]]}',
      { mostValues: 6 },
      'InvalidField: Field list[1][1]: is too much: a body has at most 6 values',
    ],
  ])('%s', async (_, body, limits, expected) => {
    expect(await refusal(body, limits)).toBe(expected)
    expect(await refusal(body, limits, 1)).toBe(expected)
  })

  test.each([
    ['a text', `{"description":"${'x'.repeat(MIB)}"}`, 'description'],
    ['names', `{${Array.from({ length: 80_000 }, (_, index) => `"x${index}":1`)}}`, '(body)'],
    ['lists', `{"tags":[${'[],'.repeat(300_000)}[]]}`, 'tags[131070]'],
    ['digits', `{"port":${'1'.repeat(MIB)}}`, 'port'],
  ])('a megabyte of %s is refused, and read to its end', async (_, text, field) => {
    // Not JSON: it would be refused with another reason if it were parsed.
    const body = Readable.from([Buffer.from(text), Buffer.from(' what is behind it is no JSON')])
    await expect(readStrictJson(body, 4 * MIB, API_JSON_LIMITS)).rejects.toMatchObject({ code: 'InvalidField', field })
    expect(body.readableEnded).toBe(true)
  })

  test('what is longer than the limit of the route is read no further', async () => {
    let read = 0
    const body = Readable.from(
      (function* () {
        for (; read < 1000; read++) yield Buffer.alloc(1000, 0x20)
      })(),
    )
    await expect(readStrictJson(body, 10_000, API_JSON_LIMITS)).rejects.toMatchObject({
      code: 'FST_ERR_CTP_BODY_TOO_LARGE',
    })
    expect(read).toBeLessThan(50)
  })
})
