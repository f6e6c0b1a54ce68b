import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { completionsAt } from './completions-at.ts'
import { DOCUMENT_SCHEMA } from './document-schema.ts'
import { type Nameable, NOTHING_NAMEABLE } from './nameable.ts'
import { atCursor } from './testing/cursor.ts'

const NAMEABLE: Nameable = {
  ...NOTHING_NAMEABLE,
  pool: [
    { id: '4a1f', name: 'web', note: 'http' },
    { id: undefined, name: 'web two', note: 'tcp' },
    { id: '9c20', name: '80', note: 'http' },
    { id: '5b00', name: '', note: 'tcp' },
    { id: '77e1', name: 'web', note: 'udp' },
  ],
  keyed: [{ id: 'c1', name: 'shop', note: 'shop.example' }],
  users: [{ id: 'u1', name: 'staff', note: '' }],
  subnet: [{ id: 's1', name: 'inner', note: '10.0.0.0/24' }],
}

const at = (marked: string) => completionsAt(...atCursor(marked), DOCUMENT_SCHEMA, NAMEABLE).items
const labels = (marked: string): readonly string[] => at(marked).map(({ label }) => label)
const item = (marked: string, label: string) => at(marked).find((one) => one.label === label)
/** The text after the first completion was taken, with the cursor in it. */
function taken(marked: string, label?: string): string {
  const [text, offset] = atCursor(marked)
  const { from, to, items } = completionsAt(text, offset, DOCUMENT_SCHEMA, NAMEABLE)
  const { insert = '' } = items.find((one) => one.label === (label ?? one.label)) ?? {}
  return `${text.slice(0, from)}${insert}^${text.slice(to)}`
}

describe('fields', () => {
  it('are those that may stand there, what is needed first', () => {
    expect(labels('^')).toEqual(expect.arrayContaining(['name', 'listeners', 'pools', 'dnsNames']))
    expect(labels('listeners:\n  - ^').slice(0, 2).toSorted()).toEqual(['port', 'protocol'])
    expect(labels('pools:\n  - members:\n      - ^').slice(0, 2).toSorted()).toEqual(['address', 'port'])
    expect(labels('listeners:\n  - tls:\n      min^')).toEqual(['minVersion'])
    expect(labels('nothing:\n  ^')).toEqual([])
  })

  it('are not those that are there already, nor what the server sets', () => {
    expect(labels('pools:\n  - protocol: http\n    ^\n    members: []')).not.toContain('members')
    expect(labels('^')).not.toContain('generation')
    expect(labels('pools:\n  - ^')).not.toContain('createdAt')
  })

  it('say what they may be, what they are when left out, and what they are for', () => {
    expect(item('pools:\n  - members:\n      - we^', 'weight')).toMatchObject({
      detail: 'whole number 0 to 256, default 1',
      description: expect.stringContaining('Share of new connections'),
    })
    expect(item('pools:\n  - prot^', 'protocol')?.detail).toBe('required, one of 7 words')
    expect(item('pools:\n  - algo^', 'algorithm')?.detail).toContain('default round-robin')
  })

  it('fit the kind of object that stands there', () => {
    const actions = (type: string) =>
      labels(`listeners:\n  - routes:\n      - action:\n          type: ${type}\n          ^`)
    expect(actions('forward')).toContain('pools')
    expect(actions('forward')).not.toContain('host')
    expect(actions('redirect')).toContain('host')
    expect(actions('redirect')).not.toContain('pools')
  })

  it('are written with what follows them', () => {
    expect(taken('na^')).toBe('name: ^')
    expect(taken('na^me: shop')).toBe('name^: shop')
    expect(taken('poo^')).toBe('pools:\n  - ^')
    expect(taken('listeners:\n  - tl^')).toBe('listeners:\n  - tls:\n      ^')
    expect(taken('pools:\n  ^', 'protocol')).toBe('pools:\n  - protocol: ^')
  })
})

describe('values', () => {
  it('are the words that a field may be', () => {
    expect(labels('pools:\n  - algorithm: ^')).toEqual([
      ...['round-robin', 'least-connections', 'source-ip', 'source-ip-port'],
    ])
    expect(labels('pools:\n  - algorithm: source^')).toEqual(['source-ip', 'source-ip-port'])
    expect(labels('enabled: ^')).toEqual(['true', 'false'])
    expect(labels('listeners:\n  - insertHeaders:\n      - x-real^')).toEqual(['x-real-ip'])
    expect(labels('pools:\n  - panicThreshold: ^')).toEqual([])
  })

  it('a text that looks like a number is quoted', () => {
    expect(taken('listeners:\n  - tls:\n      minVersion: 1.^', '1.3')).toContain('minVersion: "1.3"^')
  })
})

describe('what is named', () => {
  const share = 'listeners:\n  - routes:\n      - action:\n          type: forward\n          pools:\n            - '

  it('are the pools of the document, by name or by id', () => {
    expect(labels('listeners:\n  - defaultPool: ^')).toEqual(['web', 'web two', '80'])
    expect(labels(`${share}pool: two^`)).toEqual(['web two'])
    expect(item(`${share}pool: ^`, 'web')?.detail).toBe('http')
    expect(at('listeners:\n  - defaultPoolId: ^').map(({ label, insert }) => [label, insert])).toEqual([
      ...[
        ['web', '4a1f'],
        ['80', '9c20'],
        ['5b00', '5b00'],
        ['web', '77e1'],
      ],
    ])
    expect(taken(`${share}poolId: we^`)).toBe(`${share}poolId: 4a1f^`)
    expect(taken(`${share}poolId: 77^`)).toBe(`${share}poolId: 77e1^`)
  })

  it('is written as YAML reads it', () => {
    expect(taken('listeners:\n  - defaultPool: ^', '80')).toContain('defaultPool: "80"^')
    expect(taken('listeners:\n  - defaultPool: two^')).toContain('defaultPool: web two^')
  })

  it('are the certificates that fit, and subnets', () => {
    const tls = 'listeners:\n  - tls:\n      '
    expect(at(`${tls}certificateIds:\n        - ^`)).toEqual([
      { label: 'shop', insert: 'c1', detail: 'shop.example', description: 'c1' },
    ])
    expect(labels(`${tls}clientCertificates:\n        caCertificateId: ^`)).toEqual([])
    expect(labels('pools:\n  - members:\n      - subnetId: ^')).toEqual(['inner'])
    expect(
      labels(`${share.replace('pools:\n            - ', 'basicAuthentication:\n            usersId: ')}^`),
    ).toEqual(['staff'])
  })

  it('is nothing where the field is not known', () => {
    expect(labels('vips:\n  - poolId: ^')).toEqual([])
    expect(labels('pools:\n  - pool: ^')).toEqual([])
    expect(labels('listeners:\n  - insertHeaders:\n      - ^')).not.toContain('web')
  })
})

describe('whatever is typed', () => {
  const piece = fc.constantFrom(
    ...['\n', '  ', '    ', '- ', '-', ': ', ':', '#', '"', "'", '|', '>', '[', '{', '\t', '\r\n', '__proto__'],
    ...['pools', 'members', 'listeners', 'routes', 'action', 'type', 'forward', 'constructor', 'tls', 'name', '1.2'],
    ...['defaultPool', 'certificateIds', 'web'],
  )
  const text = fc.oneof(
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
    fc.string({ maxLength: 80 }),
  )

  it('never throws, and replaces only the word at the cursor', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: -3, max: 200 }), (typed, offset) => {
        const { from, to, items } = completionsAt(typed, offset, DOCUMENT_SCHEMA, NAMEABLE)
        expect(Array.isArray(items)).toBe(true)
        if (items.length === 0) return
        expect(from).toBeLessThanOrEqual(to)
        expect(typed.slice(from, to)).toMatch(/^[\w./-]*$/)
      }),
      { numRuns: 2000 },
    )
  })

  const document = fc.record({
    name: fc.string({ maxLength: 8 }),
    pools: fc.array(
      fc.record({
        protocol: fc.constantFrom('http', 'tcp'),
        members: fc.array(fc.record({ address: fc.constant('10.0.0.1'), weight: fc.nat(256) }), { maxLength: 3 }),
        description: fc.string({ maxLength: 120 }),
      }),
      { maxLength: 3 },
    ),
  })

  it('every field of a document is among what is offered in its place', () => {
    fc.assert(
      fc.property(document, (value) => {
        const lines = stringify(value).split('\n')
        for (const [at, line] of lines.entries()) {
          const field = /^[ -]*(protocol|members|address|weight|pools)(?=:)/.exec(line)
          if (field === null) continue
          const start = lines.slice(0, at).join('\n').length + (at === 0 ? 0 : 1)
          const { items } = completionsAt(lines.join('\n'), start + field[0].length, DOCUMENT_SCHEMA)
          expect(items.map(({ label }) => label)).toContain(field[1])
        }
      }),
      { numRuns: 300 },
    )
  })

  it('what is taken is still YAML', () => {
    let marked = '^'
    for (const label of ['pools', 'protocol', 'http']) marked = taken(marked, label)
    expect(parse(marked.replace('^', ''))).toEqual({ pools: [{ protocol: 'http' }] })
  })
})
