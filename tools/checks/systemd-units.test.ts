import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type CommandLine, readCommandLine } from '@spout/runtime/command-line'
import { INSTALLED_AT, productUnit } from '@spout/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agentConfig } from '../../apps/agent/src/config.ts'
import { controlPlaneConfig } from '../../apps/control-plane/src/config.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const UNITS = path.join(ROOT, 'deploy', 'systemd')
const control = productUnit('control-plane')
const agent = productUnit('agent')

const here = (file: string): string => file.replace(INSTALLED_AT, ROOT)
const settingOf = ({ settings }: typeof agent, name: string): string | undefined =>
  settings.findLast(([known]) => known === name)?.[1]

describe.each([
  ['control-plane', control],
  ['agent', agent],
] as const)('%s', (app, unit) => {
  test('its program is in the repository', () => {
    const [node, ...rest] = unit.command
    expect(existsSync(here(node ?? ''))).toBe(true)
    expect(rest).toEqual([
      ...unit.nodeOptions,
      `${INSTALLED_AT}/apps/${app}/src/main.ts`,
      '--config',
      `/etc/spout/${app}.yaml`,
    ])
    expect(existsSync(here(rest[unit.nodeOptions.length] ?? ''))).toBe(true)
    const documented = readFileSync(unit.file, 'utf8').match(/^Documentation=file:(.*)$/m)?.[1] ?? ''
    expect(existsSync(here(documented))).toBe(true)
  })

  test('it is started again for as long as it takes, but not with wrong settings', () => {
    expect(settingOf(unit, 'Restart')).toBe('always')
    expect(readFileSync(unit.file, 'utf8')).toContain('\nStartLimitIntervalSec=0\n')
    // Both programs exit with this code for wrong settings.
    expect(settingOf(unit, 'RestartPreventExitStatus')).toBe('2')
  })
})

test('both are run alike, an agent with a smaller young generation', () => {
  expect(agent.nodeOptions).toEqual(['--max-semi-space-size=1', ...control.nodeOptions.slice(1)])
  expect(agent.environment.MALLOC_ARENA_MAX).toBe(control.environment.MALLOC_ARENA_MAX)
  for (const unit of [agent, control])
    expect(unit.environment.NODE_COMPILE_CACHE).toBe(`/var/cache/${settingOf(unit, 'CacheDirectory')}`)
  const page = readFileSync(path.join(ROOT, 'docs', 'operations.md'), 'utf8')
  expect(page).toContain(`\`node ${control.nodeOptions.join(' ')}\``)
  expect(page).toContain(`\`${agent.nodeOptions[0]}\``)
  expect(page).toContain(`\`MALLOC_ARENA_MAX=${agent.environment.MALLOC_ARENA_MAX}\``)
})

test('the example settings are accepted, and the directories are those that the units make', () => {
  const file = (name: string) => ['--config', path.join(UNITS, name)]
  const settings = <T>(asked: CommandLine<T>): T => {
    if (asked.print !== null) throw new Error(asked.print)
    return asked.config
  }
  const agentSettings = settings(readCommandLine(agentConfig, 'SPOUT_AGENT', file('agent.yaml'), {}))
  expect(agentSettings.stateDirectory).toBe(`/var/lib/${settingOf(agent, 'StateDirectory')}`)
  const { haproxy, vrrp, bgp, flows } = agentSettings
  for (const directory of [haproxy.runDirectory, vrrp.directory, bgp.directory, flows.directory])
    expect(path.dirname(directory)).toBe(`/run/${settingOf(agent, 'RuntimeDirectory')}`)
  const config = settings(readCommandLine(controlPlaneConfig, 'SPOUT', file('control-plane.yaml'), {}))
  expect(config.stateDirectory).toBe(`/var/lib/${settingOf(control, 'StateDirectory')}`)
  expect(config.agentLink.names).toContain(new URL(agentSettings.server.url).hostname)
  expect(config.agentLink.port).toBe(Number(new URL(agentSettings.server.url).port))
  expect(Object.keys(agentSettings.segments)).toContain(config.network.defaultPhysicalNetwork)
})

test('processes that the agent started outlive it', () => {
  expect(settingOf(agent, 'KillMode')).toBe('process')
  expect(settingOf(agent, 'RuntimeDirectoryPreserve')).toBe('yes')
  expect(settingOf(agent, 'OOMPolicy')).toBe('continue')
})

test('the agent has the mounts of the machine: names of namespaces are mounts', () => {
  const ownMounts =
    /^(Protect(System|Home|Proc|KernelTunables|KernelModules|KernelLogs|ControlGroups)|Private\w+|ProcSubset|DynamicUser|Mount\w+|Root\w+|TemporaryFileSystem|(ReadWrite|ReadOnly|Inaccessible|Exec|NoExec|BindReadOnly|Bind)Paths)$/
  expect(agent.settings.map(([name]) => name).filter((name) => ownMounts.test(name))).toEqual([])
  expect(control.settings.map(([name]) => name).filter((name) => ownMounts.test(name))).not.toEqual([])
})

const hasTool = spawnSync('systemd-analyze', ['--version']).status === 0

test.skipIf(!hasTool)('systemd knows every setting', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'spout-units-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const files = [control, agent].map(({ file }) => {
    const copy = path.join(directory, path.basename(file))
    writeFileSync(copy, readFileSync(file, 'utf8').replaceAll(INSTALLED_AT, ROOT))
    return copy
  })
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files])
  expect(`${stdout}${stderr}`).toBe('')
  expect(status).toBe(0)
})
