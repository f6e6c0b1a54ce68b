import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countingStamp } from '../testing/fixtures.ts'
import { pythonText } from './python-text.ts'
import {
  boolean,
  cidr,
  integer,
  ipAddress,
  list,
  numberOneOf,
  oneOf,
  text,
  textMap,
  uuid,
  ValueRefused,
  type WireType,
} from './wire-type.ts'

const at = { path: 'x', stamp: countingStamp() }

const accepted: readonly [string, WireType<unknown>, unknown, unknown][] = [
  ['a number as text', integer(0), '80', 80],
  ['a fraction is cut', integer(0), 80.9, 80],
  ['a boolean as a number', integer(0), true, 1],
  ['-1 as the command line sends it', integer(-1), '-1', -1],
  ['yes', boolean, 'yes', true],
  ['off', boolean, 'off', false],
  ['a number as a boolean', boolean, 2, true],
  ['an undashed UUID', uuid, '6A0A707C45EF4758B533E55ADDDBA8CE', '6a0a707c-45ef-4758-b533-e55adddba8ce'],
  ['an IPv6 address in another spelling', ipAddress, 'FD00:0:0::1', 'fd00::1'],
  ['a prefix with host bits', cidr, '10.0.0.7/8', '10.0.0.0/8'],
  ['a bare address as a prefix', cidr, '10.0.0.7', '10.0.0.7/32'],
  ['everybody', cidr, '0.0.0.0/0', '0.0.0.0/0'],
  ['an HTTP version as text', numberOneOf([1, 1.1], 1), '1.1', 1.1],
  ['headers with booleans', textMap, { 'X-Forwarded-For': true }, new Map([['X-Forwarded-For', 'true']])],
  ['characters beyond the BMP count once', text({ max: 2 }), '🚰🚰', '🚰🚰'],
]

test.each(accepted)('accepts %s', (_, type, value, read) => {
  expect(type.read(value, at)).toEqual(read)
})

const refused: readonly [unknown, WireType<unknown>, string][] = [
  [0, integer(1, 65535), 'Value should be greater or equal to 1'],
  [65536, integer(1, 65535), 'Value should be lower or equal to 65535'],
  ['eighty', integer(), "invalid literal for int() with base 10: 'eighty'"],
  ['', integer(), "invalid literal for int() with base 10: ''"],
  [[1], integer(), 'invalid literal for int() with base 10: [1]'],
  [7, text(), 'Value should be string'],
  ['x'.repeat(256), text({ max: 255 }), 'Value should have a maximum character requirement of 255'],
  ['', text({ min: 1 }), 'Value should have a minimum character requirement of 1'],
  ['a b', text({ pattern: /^\S+$/ }), 'Value should match the pattern ^\\S+$'],
  ['perhaps', boolean, 'Value not an unambiguous boolean: perhaps'],
  ['nope', uuid, 'Value should be UUID format'],
  [7, uuid, 'Value should be UUID format'],
  ['010.0.0.1', ipAddress, 'Value should be IPv4 or IPv6 format'],
  ['10.0.0.0/33', cidr, 'Value should be IPv4 or IPv6 CIDR format'],
  ['QUIC', oneOf(['TCP', 'UDP']), 'Value should be one of: TCP, UDP'],
  [2, numberOneOf([1, 1.1], 1), 'Value should be one of: 1.0, 1.1'],
  ['a', list(text()), 'Value not a valid list: a'],
  [['a', 7], list(text()), 'Value should be string'],
  [['a', 'b'], list(text(), 1), 'Value should have at most 1 items'],
  [[], textMap, 'Value not a valid dict: []'],
]

test.each(refused)('refuses %j', (value, type, message) => {
  expect(() => type.read(value, at)).toThrow(new ValueRefused(message))
})

describe('whatever JSON arrives', () => {
  const types = { integer: integer(), boolean, uuid, ipAddress, cidr, text: text(), textMap, list: list(text()) }
  test.each(Object.entries(types))('%s reads it or refuses it with a message', (_, type) => {
    fc.assert(
      fc.property(
        fc.jsonValue().filter((value) => value !== null),
        (value) => {
          try {
            type.read(value, at)
          } catch (error) {
            expect(error).toBeInstanceOf(ValueRefused)
          }
        },
      ),
    )
  })
})

test.each([
  [null, 'None'],
  [true, 'True'],
  ['it', 'it'],
  [['it', null, 1.5], "['it', None, 1.5]"],
  [["it's"], '["it\'s"]'],
  [{ a: { b: false } }, "{'a': {'b': False}}"],
  ['x'.repeat(300), `${'x'.repeat(255)}...`],
])('prints %j as Python does', (value, printed) => {
  expect(pythonText(value)).toBe(printed)
})
