import { expect, test } from 'vitest'
import { parseAs } from '../parsing/parse.ts'
import { sessionPersistence } from './pool.ts'

const parsed = (networks: unknown) => parseAs(sessionPersistence, { type: 'source-ip', networks }, 'persistence')

test.each([{ ipv4Prefix: 24 }, { ipv4Prefix: 32, ipv6Prefix: 128 }, { ipv6Prefix: 56 }])(
  'networks of clients, accepted: %j',
  (networks) => expect(parsed(networks)).toEqual({ type: 'source-ip', timeoutSeconds: null, networks }),
)

test('without any said, none are stored: earlier versions do not know the field', () =>
  expect(JSON.stringify(parsed(undefined))).not.toContain('networks'))

test.each<readonly [unknown, string]>([
  [{}, 'must name ipv4Prefix or ipv6Prefix'],
  [{ ipv4Prefix: 0 }, 'persistence.networks.ipv4Prefix'],
  [{ ipv4Prefix: 33 }, 'persistence.networks.ipv4Prefix'],
  [{ ipv4Prefix: 24.5 }, 'persistence.networks.ipv4Prefix'],
  [{ ipv4Prefix: '24' }, 'persistence.networks.ipv4Prefix'],
  [{ ipv6Prefix: 57 }, 'must be a multiple of 4 from 4 to 64, or 128'],
  [{ ipv6Prefix: 68 }, 'must be a multiple of 4 from 4 to 64, or 128'],
  [{ ipv6prefix: 56 }, 'ipv6prefix'],
])('networks of clients, refused: %j', (networks, why) => expect(() => parsed(networks)).toThrow(why))
