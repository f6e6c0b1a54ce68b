import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ConfigError, loadConfig, secret } from './config.ts'

const schema = z.strictObject({
  api: z
    .strictObject({
      listenPort: z.number().int().min(0).max(65535).default(8080),
      host: z.string().default('127.0.0.1'),
    })
    .prefault({}),
  admin: z.strictObject({ password: secret.optional(), names: z.array(z.string()).default([]) }).prefault({}),
})

describe('loadConfig', () => {
  test('flags override the environment, which overrides the file, which overrides defaults', () => {
    const sources = {
      file: { name: 'spout.yaml', text: 'api:\n  listenPort: 1\n  host: "::1"\n' },
      environment: { prefix: 'SPOUT', variables: { SPOUT_API_LISTEN_PORT: '2' } },
    }
    expect(loadConfig(schema, {}).config.api).toEqual({ listenPort: 8080, host: '127.0.0.1' })
    expect(loadConfig(schema, { file: sources.file }).config.api).toEqual({ listenPort: 1, host: '::1' })
    expect(loadConfig(schema, sources).config.api.listenPort).toBe(2)
    expect(loadConfig(schema, { ...sources, set: ['api.listenPort=3'] }).config.api.listenPort).toBe(3)
  })

  test('text settings stay text, others are YAML', () => {
    const { config } = loadConfig(schema, { set: ['admin.password=0123', 'admin.names=[a, b]'] })
    expect(config.admin.password?.reveal()).toBe('0123')
    expect(config.admin.names).toEqual(['a', 'b'])
  })

  test('print names the origin of each value and no secret', () => {
    const loaded = loadConfig(schema, {
      file: { name: 'spout.yaml', text: 'admin:\n  names: [x]\n' },
      environment: { prefix: 'SPOUT', variables: { SPOUT_ADMIN_PASSWORD: 'hunter2' } },
      set: ['api.host=::1'],
    })
    expect(loaded.print()).toBe(
      [
        'api.listenPort = 8080  # default',
        'api.host = "::1"  # --set api.host',
        'admin.password = [redacted]  # environment SPOUT_ADMIN_PASSWORD',
        'admin.names = ["x"]  # spout.yaml:2:10',
      ].join('\n'),
    )
    expect(JSON.stringify(loaded.config)).not.toContain('hunter2')
  })

  test.each([
    ['api:\n  listenPort: 70000\n', [], /^c\.yaml:2:15: api\.listenPort: Too big/],
    ['api:\n  lissenPort: 1\n', [], /^c\.yaml:2:15: api\.lissenPort: is not a known setting$/],
    ['apis: {}\n', [], /^c\.yaml:1:7: apis: is not a known setting$/],
    ['api: 7\n', [], /^c\.yaml:1:6: api: Invalid input/],
    ['api: [\n', [], /^c\.yaml:\d+:\d+: /],
    ['- 1\n', [], /^c\.yaml:1:1: \(document\): must be a mapping/],
    ['', ['api.port=1'], /^--set api\.port: api\.port: is not a known setting$/],
    ['', ['api.listenPort=x'], /^--set api\.listenPort: api\.listenPort: Invalid input/],
    ['', ['nonsense'], /must read section\.key=value/],
    ['', ['__proto__.x=1'], /is not a known setting/],
    ['__proto__:\n  polluted: 1\n', [], /is not a known setting/],
  ])('%j %j is refused', (text, set, message) => {
    const load = () => loadConfig(schema, { file: { name: 'c.yaml', text }, set })
    expect(load).toThrow(ConfigError)
    expect(load).toThrow(message)
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })
})
