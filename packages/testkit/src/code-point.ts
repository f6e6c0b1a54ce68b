import fc from 'fast-check'

/**
 * Any code point as text, for `fc.string({ unit: codePoint })`: the same texts as fast-check's own unit `binary`. That one
 * makes a table of all 1.1 million code points, which costs a second and 150 MB in every process of the tests.
 */
export const codePoint: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map(
    (code) => String.fromCodePoint(code),
    // fast-check asks it for the parts of texts known for trouble, such as `__proto__`, and puts these into what it makes.
    (text) => {
      const code = typeof text === 'string' ? text.codePointAt(0) : undefined
      if (code === undefined || String.fromCodePoint(code) !== text) throw new Error('not one code point')
      return code
    },
  )
