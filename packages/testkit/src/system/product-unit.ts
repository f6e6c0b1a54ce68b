import { readFileSync } from 'node:fs'
import path from 'node:path'
import { THIS_CHECKOUT } from './checkout.ts'

/** Where the units expect this repository. */
export const INSTALLED_AT = '/opt/spout'

/** A unit of `deploy/systemd/`, with the parts that are the same on every machine. */
export interface ProductUnit {
  readonly file: string
  /** Settings of section `Service`, in order; a name may occur twice. */
  readonly settings: readonly (readonly [name: string, value: string])[]
  /** The words of `ExecStart`. */
  readonly command: readonly string[]
  /** Options of Node.js. */
  readonly nodeOptions: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Names of `CapabilityBoundingSet`, such as `CAP_NET_ADMIN`. */
  readonly capabilities: readonly string[]
  /** Values of `SystemCallFilter`, in their order. */
  readonly systemCalls: readonly string[]
}

/** Reads `spout-<app>.service` of a checkout, which alone defines how the product's processes are run. */
export function productUnit(app: 'control-plane' | 'agent', checkout = THIS_CHECKOUT): ProductUnit {
  const file = path.join(checkout, 'deploy', 'systemd', `spout-${app}.service`)
  const settings = serviceSettings(readFileSync(file, 'utf8'))
  const all = (wanted: string): readonly string[] =>
    settings.flatMap(([name, value]) => (name === wanted ? value.split(' ').filter((word) => word !== '') : []))
  const command = all('ExecStart')
  return {
    file,
    settings,
    command,
    nodeOptions: command.slice(
      1,
      command.findIndex((word) => word.endsWith('.ts')),
    ),
    environment: Object.fromEntries(all('Environment').map((word) => word.split(/=(.*)/s).slice(0, 2))),
    capabilities: all('CapabilityBoundingSet'),
    systemCalls: settings.flatMap(([name, value]) => (name === 'SystemCallFilter' ? [value] : [])),
  }
}

function serviceSettings(text: string): readonly (readonly [string, string])[] {
  let section = ''
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('[')) section = line
    const at = line.indexOf('=')
    return section !== '[Service]' || line.startsWith('#') || at === -1
      ? []
      : [[line.slice(0, at), line.slice(at + 1)] as const]
  })
}
