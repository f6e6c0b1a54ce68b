import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readCommandLine } from './command-line.ts'

const schema = z.strictObject({ log: z.strictObject({ level: z.string() }).prefault({ level: 'info' }) })
const read = (...argv: readonly string[]) =>
  readCommandLine(schema, 'SPOUT_AGENT', argv, { SPOUT_AGENT_LOG_LEVEL: 'x' })

describe('readCommandLine', () => {
  it('returns settings, and prints nothing unless asked', () => {
    expect(read()).toEqual({ config: { log: { level: 'x' } }, print: null })
    expect(read('--set', 'log.level=debug')).toEqual({ config: { log: { level: 'debug' } }, print: null })
    expect(read('--print-config').print).toBe('log.level = "x"  # environment SPOUT_AGENT_LOG_LEVEL')
  })

  it('lists the options for --help, whatever else is given', () => {
    for (const asked of ['--help', '-h']) {
      const { print } = read(asked, '--config', '/nowhere')
      for (const option of ['--config FILE', '--set section.key=value', '--print-config', '--version'])
        expect(print).toContain(option)
      expect(print).toContain('SPOUT_AGENT_LOG_LEVEL')
    }
    expect(read('--version').print).toMatch(/^\d+\.\d+\.\d+$/)
  })

  it.each([
    [['--halp'], "Unknown option '--halp'; --help lists the options"],
    [['control-plane.yaml'], "Unexpected argument 'control-plane.yaml'"],
    [['--config'], "Option '--config <value>' argument missing"],
    [['--config', '/nowhere/a.yaml'], 'no such file'],
    [['--set', 'log.level'], 'log.level'],
  ])('refuses %j: %s', (argv, words) => {
    expect(() => read(...argv)).toThrow(words)
  })
})
