import { readFileSync } from 'node:fs'
import path from 'node:path'
import { loadConfig } from '@spout/runtime/config'
import { expect, test } from 'vitest'
import { agentConfig } from '../../apps/agent/src/config.ts'
import { connectorConfig } from '../../apps/connector/src/config.ts'
import { controlPlaneConfig } from '../../apps/control-plane/src/config.ts'

const PAGE = readFileSync(path.resolve(import.meta.dirname, '../../docs/configuration.md'), 'utf8')

/** Names of settings as their program prints them, `section.key = value  # origin`. */
const settingsOf = (schema: Parameters<typeof loadConfig>[0]): readonly string[] =>
  loadConfig(schema, {})
    .print()
    .split('\n')
    .map((line) => line.slice(0, line.indexOf(' = ')))

test.each([
  ['Control plane', controlPlaneConfig],
  ['Agent', agentConfig],
  ['Connector', connectorConfig],
] as const)('%s: every setting has a row', (heading, schema) => {
  const section = PAGE.split('\n## ').find((text) => text.startsWith(`${heading}\n`)) ?? ''
  const named = new Set(
    [...section.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    ),
  )
  const settings = settingsOf(schema)
  expect(settings.length).toBeGreaterThan(10)
  expect(settings.filter((setting) => !named.has(setting))).toEqual([])
})
