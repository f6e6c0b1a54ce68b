import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleEntry, sampleMember, samplePool, sampleService } from '../../../testing/haproxy/sample-entry.ts'
import { renderEntry } from '../rendering/render.ts'
import { type Command, commandText, refusal } from './command.ts'

const files = {
  map: (map: string): string => `/run/d7/${map}.map`,
  tls: { certificate: (contentId: string): string => `/run/certificates/${contentId}.pem` },
}
const server = {
  name: 'm0011223344556677',
  id: 9,
  address: '10.0.0.1',
  port: 80,
  weight: 5,
  proxyProtocol: 'none',
  ready: true,
} as const

describe('commandText', () => {
  it.each<[Command, string]>([
    [
      { do: 'add-server', backend: 3, server },
      'add server b3/m0011223344556677 10.0.0.1:80 id 9 weight 5 pool-purge-delay 5s pool-max-conn -1\n',
    ],
    [
      { do: 'add-server', backend: 3, server: { ...server, address: 'fd00::1', proxyProtocol: 'v2' } },
      'add server b3/m0011223344556677 [fd00::1]:80 id 9 weight 5 send-proxy-v2 pool-purge-delay 5s pool-max-conn -1\n',
    ],
    [{ do: 'set-weight', backend: 3, server: 'm1', weight: 0 }, 'set server b3/m1 weight 0\n'],
    [{ do: 'set-ready', backend: 3, server: 'm1', ready: true }, 'set server b3/m1 state ready\n'],
    [{ do: 'set-ready', backend: 3, server: 'm1', ready: false }, 'set server b3/m1 state maint\n'],
    [{ do: 'set-drain', backend: 3, server: 'm1' }, 'set server b3/m1 state drain\n'],
    [{ do: 'del-server', backend: 3, server: 'm1' }, 'del server b3/m1\n'],
    [{ do: 'shutdown-sessions', backend: 3, server: 'm1' }, 'shutdown sessions server b3/m1\n'],
    [{ do: 'add-map', map: 'backend', frontend: 2, value: 'b3' }, 'add map /run/d7/backend.map <<\nf2 b3\n\n'],
    [{ do: 'set-map', map: 'backend', frontend: 2, value: 'b4' }, 'set map /run/d7/backend.map f2 b4\n'],
    [{ do: 'del-map', map: 'backend', frontend: 2 }, 'del map /run/d7/backend.map f2\n'],
    [
      { do: 'set-map', map: 'hosts', frontend: 2, value: 'a.example,*.b.example' },
      'set map /run/d7/hosts.map f2 a.example,*.b.example\n',
    ],
  ])('%o', (command, text) => expect(commandText(command as Parameters<typeof commandText>[0], files)).toBe(text))

  it('refuses anything that could begin another command', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(';', '\n', '\\', '"', '<<', '#', '\r', '\0'), (text, evil) => {
        const value = `b1${evil}${text}`
        expect(() => commandText({ do: 'set-map', map: 'backend', frontend: 1, value }, files)).toThrow(RangeError)
        expect(() => commandText({ do: 'add-map', map: 'backend', frontend: 1, value }, files)).toThrow(RangeError)
        expect(() => commandText({ do: 'del-server', backend: 1, server: value }, files)).toThrow(RangeError)
      }),
    )
  })
})

describe('renderEntry', () => {
  it('contains no tenant text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12 }), (text) => {
        const entry = sampleEntry(
          'web',
          [sampleService('web-80')],
          [samplePool(1, { id: text, members: [sampleMember(1, { id: text })] })],
        )
        expect(JSON.stringify(renderEntry({ entry, down: new Set() }))).not.toContain(JSON.stringify(text).slice(1, -1))
      }),
    )
  })

  it("names a server by its endpoint, whatever its member's id", () => {
    const named = (id: string) =>
      renderEntry({
        entry: sampleEntry('web', [sampleService('web-80')], [samplePool(1, { members: [sampleMember(1, { id })] })]),
        down: new Set(),
      }).backends
    expect(named('one')).toEqual(named('two'))
  })
})

describe('refusal', () => {
  it('distinguishes success and refusal of each command', () => {
    const add: Command = { do: 'add-server', backend: 1, server }
    expect(refusal(add, 'New server registered.')).toBeNull()
    expect(refusal(add, 'Already exists a server with the same name in backend.')).toContain('Already exists')
    expect(refusal(add, '')).toBe('no answer')
    expect(refusal({ do: 'del-server', backend: 1, server: 'm1' }, 'Server deleted.')).toBeNull()
    expect(refusal({ do: 'set-weight', backend: 1, server: 'm1', weight: 1 }, '')).toBeNull()
  })

  it.each<[Command, string, boolean]>([
    [{ do: 'del-map', map: 'backend', frontend: 1 }, 'Key not found.', true],
    [{ do: 'del-server', backend: 1, server: 'm1' }, 'No such server.', true],
    [{ do: 'set-ready', backend: 1, server: 'm1', ready: false }, 'No such server.', true],
    [{ do: 'set-ready', backend: 1, server: 'm1', ready: true }, 'No such server.', false],
    [{ do: 'set-map', map: 'backend', frontend: 1, value: 'b1' }, 'Key not found.', false],
  ])('of %o for what is absent (%s): done is %s', (command, reply, done) =>
    expect(refusal(command, reply) === null).toBe(done),
  )
})
