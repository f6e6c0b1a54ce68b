import { codePoint } from '@spout/testkit/code-point'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accessLog } from './access-log.ts'
import { ACCESS_LOG_FIELDS, type FormatPart, NAMED_FORMATS, parseAccessLogFormat } from './access-log-format.ts'

const printed = (parts: readonly FormatPart[]): string =>
  parts.map((part) => (typeof part === 'string' ? part.replace(/[{}]/g, '$&$&') : `{${part.field}}`)).join('')

describe('a format of lines', () => {
  test('is text and fields', () => {
    expect(parseAccessLogFormat('{client} {{"{uri}"}}')).toEqual([
      ...[{ field: 'client' }, ' ', '{', '"', { field: 'uri' }, '"', '}'],
    ])
    for (const format of Object.values(NAMED_FORMATS)) expect(typeof parseAccessLogFormat(format)).toBe('object')
  })

  test('means what it prints as', () => {
    const part = fc.oneof(
      fc.constantFrom(...ACCESS_LOG_FIELDS).map((field) => ({ field })),
      fc.string({ minLength: 1, maxLength: 8 }).map((text) => text.replace(/[^ -~]/g, '')),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const format = printed([{ field: 'time' }, ...parts])
        const read = parseAccessLogFormat(format)
        expect(typeof read === 'string' ? read : printed(read)).toBe(format)
      }),
    )
  })

  test('is never more than its fields and its printable text, whatever is sent', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 600 }), (format) => {
        const read = parseAccessLogFormat(format)
        if (typeof read === 'string') return
        expect(format).toMatch(/^[ -~]{1,512}$/)
        expect(printed(read)).toBe(format)
      }),
    )
  })

  test.each([
    ['{client', 'belongs to no field'],
    ['client}', 'belongs to no field'],
    ['{__proto__}', 'no field named "__proto__"'],
    ['{}', 'no field named ""'],
    ['%h %l', 'names no field'],
    ['', 'names no field'],
    ['{time}\n', 'other than printable ASCII'],
    ['{time}\u001b[2J', 'other than printable ASCII'],
    [`{time}${'x'.repeat(600)}`, 'is longer than 512'],
    ['constructor', 'names no field'],
  ])('%j is refused: %s', (format, why) => {
    expect(parseAccessLogFormat(format)).toContain(why)
    expect(accessLog.safeParse({ format }).error?.issues[0]?.message).toContain(why)
  })

  test('is JSON by default', () => expect(accessLog.parse({})).toEqual({ format: 'json', syslog: null }))
})

describe('a syslog receiver', () => {
  const CA = '00000000-0000-4000-8000-0000000000ca'
  const read = (own: object) => accessLog.safeParse({ syslog: { address: '10.0.0.9', ...own } })

  test('is reached over UDP and the port of syslog by default', () => {
    expect(read({}).data?.syslog).toEqual({ address: '10.0.0.9', port: 514, transport: 'udp' })
    expect(read({ address: 'FD10:0::9', port: 601, transport: 'tcp' }).data?.syslog).toMatchObject({
      ...{ address: 'fd10::9', port: 601, transport: 'tcp' },
    })
  })

  test('is known over TLS by its authority, and by its address unless it has a name', () => {
    expect(read({ port: 6514, transport: 'tls', tls: { caCertificateId: CA } }).data?.syslog).toMatchObject({
      tls: { caCertificateId: CA, serverName: null, clientCertificateId: null },
    })
  })

  test.each([
    [{ address: '169.254.169.254' }, 'syslog.address'],
    [{ address: '127.0.0.1' }, 'syslog.address'],
    [{ address: 'logs.example.org' }, 'syslog.address'],
    [{ address: '10.0.0.9\n' }, 'syslog.address'],
    [{ port: 0 }, 'syslog.port'],
    [{ port: 65_536 }, 'syslog.port'],
    [{ transport: 'dtls' }, 'syslog.transport'],
    [{ transport: 'tls' }, 'syslog.tls'],
    [{ transport: 'tcp', tls: { caCertificateId: CA } }, 'syslog.tls'],
    [{ transport: 'tls', tls: {} }, 'syslog.tls.caCertificateId'],
    [{ transport: 'tls', tls: { caCertificateId: CA, serverName: 'a b' } }, 'syslog.tls.serverName'],
    [{ facility: 'local1' }, 'syslog'],
  ])('%j is refused', (own, field) => {
    expect(read(own).error?.issues[0]?.path.join('.')).toBe(field)
  })
})
