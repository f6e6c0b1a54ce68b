import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readCommandLine } from '@spout/runtime/command-line'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import type { z } from 'zod'
import { agentConfig } from '../../../../apps/agent/src/config.ts'
import { connectorConfig } from '../../../../apps/connector/src/config.ts'
import { controlPlaneConfig } from '../../../../apps/control-plane/src/config.ts'
import { NAMESPACE } from '../namespace.ts'
import {
  ACCOUNTS,
  AGENT,
  AGENT_STATE_DIRECTORY,
  AUDIENCE,
  CONFIGURATION,
  CONNECTOR,
  CONTROL_PLANE,
  CONTROL_PLANE_STATUS_PORT,
  STATE_DIRECTORY,
  STATUS_PORT,
  STATUS_TOKEN_FILE,
} from './names.ts'
import { SETTINGS } from './settings.ts'

/** The settings as the program reads them. */
function read<S extends z.ZodType>(schema: S, program: keyof typeof SETTINGS): z.output<S> {
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-settings-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = path.join(directory, `${program}.yaml`)
  writeFileSync(file, SETTINGS[program])
  const asked = readCommandLine(schema as never, 'SPOUT', ['--config', file], {})
  if (asked.print !== null) throw new Error(asked.print)
  return asked.config as z.output<S>
}

it('settings are accepted, and agree with each other and with the objects around them', () => {
  const controlPlane = read(controlPlaneConfig, CONTROL_PLANE)
  const agent = read(agentConfig, AGENT)
  const connector = read(connectorConfig, CONNECTOR)
  const configuration = read(connectorConfig, CONFIGURATION)
  const { kubernetes, agentLink, api } = controlPlane
  expect(controlPlane.stateDirectory).toBe(STATE_DIRECTORY)
  expect(agent.stateDirectory).toBe(AGENT_STATE_DIRECTORY)
  expect(kubernetes.audience).toBe(AUDIENCE)
  for (const { spout, http } of [connector, configuration]) {
    const [url = '', ...others] = spout.endpoint
    expect(others).toEqual([])
    expect(agentLink.names).toContain(new URL(url).hostname)
    expect(Number(new URL(url).port)).toBe(api.port)
    expect(url).toBe(api.publicUrl)
    expect(http).toEqual({ host: '::', port: STATUS_PORT, tokenFile: STATUS_TOKEN_FILE })
  }
  expect(controlPlane.status).toEqual({ host: '::', port: CONTROL_PLANE_STATUS_PORT, tokenFile: STATUS_TOKEN_FILE })
  expect(configuration.work).toBe('configuration')
  expect(agentLink.names).toContain(new URL(agent.server.url).hostname)
  expect(Number(new URL(agent.server.url).port)).toBe(agentLink.port)
  expect(agent.hostSegments).toEqual([kubernetes.network?.physicalNetwork])
  expect(connector.network.routers).toEqual(kubernetes.network?.links.map(({ router }) => router))
  expect(connector.network.name).toBe(kubernetes.network?.name)
  expect(configuration.configuration.project).toBe(kubernetes.network?.project)
  const accounts = new Map(kubernetes.accounts.map(({ account, role, project }) => [account, `${role} ${project}`]))
  expect([...accounts]).toEqual([
    [`${NAMESPACE}/${ACCOUNTS[CONNECTOR]}`, 'balancer cluster'],
    [`${NAMESPACE}/${ACCOUNTS[CONFIGURATION]}`, 'admin admin'],
  ])
  expect(kubernetes.agents).toBe(`${NAMESPACE}/${ACCOUNTS[AGENT]}`)
})

it('the shares of tenants that the agents’ settings show are the defaults of the program', () => {
  const { shares, haproxy, checks } = agentConfig.parse({})
  const shown = parse(SETTINGS[AGENT]) as Readonly<Record<'shares' | 'haproxy' | 'checks', object>>
  expect(shares).toEqual(shown.shares)
  expect(haproxy).toMatchObject(shown.haproxy)
  expect(checks).toMatchObject(shown.checks)
})

it('what takes a node out of use is, as the settings show it, the default of the program', () => {
  const { configuration } = parse(SETTINGS[CONFIGURATION]) as { readonly configuration: { readonly nodes: object } }
  expect(connectorConfig.parse({}).configuration.nodes).toMatchObject({ ...configuration.nodes, follow: false })
})
