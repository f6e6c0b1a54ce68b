import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * The folders of a package, lowest first: a file may import from its own folder and from those before it. Folders in
 * one row are neighbours and import nothing of each other. A listed subfolder is a room of its own in its folder; `/*`
 * makes every subfolder a room. A large room may have a list of its own. Files next to the folders, such as `index.ts`,
 * combine the folders and may import from each. Of C, what a file includes is read.
 */
type Rooms = readonly (string | readonly string[])[]

export const ROOMS: Readonly<Record<string, Rooms>> = {
  'native/helper': ['loop', 'requests', ['interfaces', 'netfilter', 'neighbours', 'probes']],
  'apps/cli/src/commands': [
    'connections',
    ['nouns', 'nodes', 'explain', 'imports', 'plan', 'top', 'checks', 'doctor', 'completion', 'store', 'upgrade'],
  ],
  'apps/dashboard/src': [
    'style',
    'api',
    'parts',
    'session',
    'live',
    ['explain', 'load-balancers', 'project'],
    ['certificates', 'operators'],
    'shell',
  ],
  'packages/admission/src': [
    'contract',
    'view',
    'indexes',
    'pem',
    'claims',
    'certificates',
    'nodes',
    'networks',
    'domains',
    'projects',
    'offers',
    'load-balancers',
  ],
  'packages/controllers/src': [
    'node-states',
    'indexes',
    'liveness',
    'reports',
    'shards',
    'figures',
    'publishing',
    'planning',
    'node-status',
    'withdrawals',
    'status',
    'adoption',
    'clean-up',
    'dns',
    'domains',
    'leadership',
  ],
  'packages/dataplane/src': [
    ['contracts', 'nft'],
    'domain',
    'announcers',
    ['announcers/*', 'checks', 'drivers/*', 'flow-cuts', 'flows', 'second-chance', 'steering', 'syslog'],
    'group',
  ],
  'packages/dataplane/src/drivers/haproxy': [
    'place',
    'sections',
    'requests',
    'routes',
    'rendering',
    'certificates',
    'commands',
    'configuration',
    'processes',
  ],
  'packages/intents/gateway/src': [
    'objects',
    'to-model/fields',
    'to-model/backends',
    'to-model/rules',
    'route-kinds',
    'to-model/listeners',
    'to-model/attachment',
    'to-model/gateways',
    'write-back',
    'controller',
    ['kubernetes', 'tenancy'],
  ],
  'packages/intents/octavia/src': [
    'wire',
    'terms',
    'conversion',
    'snapshots',
    'resources',
    'to-model',
    'write-back',
    'access',
    'routes',
  ],
  'packages/model/src': [
    'regex',
    'diff',
    'parsing',
    'scalars',
    'reports',
    'announcers',
    'health-checks',
    'certificates',
    'networks',
    'nodes',
    'routes',
    'load-balancers',
    'projects',
    'node-state',
  ],
  'packages/runtime/src': [
    'clock',
    'telemetry',
    'retries',
    'concurrency',
    'json',
    'secrets',
    'configuration',
    'process',
    'findings',
  ],
  'packages/server/src': [
    'authn',
    'audit',
    'turns',
    'http',
    'limits',
    'openid',
    ['identity', 'key-manager', 'keystone', 'link', 'native', 'ui'],
    ['network', 'peers'],
  ],
  'packages/server/src/native': [
    'live',
    'operations',
    'watches',
    'explain',
    'drafts',
    ['load-balancers', 'networks', 'nodes', 'overview', 'projects'],
  ],
}

/** The folder for labs and test doubles in every package. */
const TESTING = /(^|\/)testing\//
const isTest = (file: string): boolean => TESTING.test(file) || /\.(test|fixture)\.ts$/.test(file)

/** Every import that goes up or sideways, and every folder that is in no list, as `file: reason`. */
export function roomViolations(root: string, rooms: Readonly<Record<string, Rooms>>): readonly string[] {
  return Object.entries(rooms).flatMap(([source, order]) =>
    globSync('*/**/*.{ts,tsx,c,h}', { cwd: path.join(root, source) })
      .filter((file) => !isTest(file))
      .flatMap((file) => {
        const room = roomOf(order, file)
        if (room === undefined) return [`${source}/${file}: ${file.split('/')[0]} is not a room of ${source}`]
        return (
          importsOf(path.join(root, source, file))
            .map((imported) => path.join(path.dirname(file), imported))
            // Files outside are checked by the list of an enclosing folder.
            .filter((target) => !target.startsWith('..'))
            .map((target) => roomOf(order, target) ?? { name: target, row: Number.POSITIVE_INFINITY })
            .filter((other) => other.name !== room.name && other.row >= room.row)
            .map((other) => `${source}/${file}: ${room.name} imports from ${other.name}, which does not come before it`)
        )
      }),
  )
}

/** Every product file that imports test code, as `file: reason`. */
export function testingViolations(root: string): readonly string[] {
  return globSync('{packages/*,packages/intents/*,apps/*}/src/**/*.{ts,tsx}', { cwd: root })
    .filter((file) => !isTest(file) && !file.startsWith('packages/testkit/'))
    .flatMap((file) =>
      importsOf(path.join(root, file))
        .filter((imported) => TESTING.test(imported))
        .map((imported) => `${file}: imports ${imported}, which is for tests`),
    )
}

/** The innermost room of a file; undefined when it is in none. */
const roomOf = (order: Rooms, file: string): { readonly name: string; readonly row: number } | undefined =>
  order
    .flatMap((names, row) => [names].flat().map((name) => ({ name: enclosing(name, file), row })))
    .filter(({ name }) => name !== '')
    .sort((a, b) => b.name.length - a.name.length)[0]

/** The folder of `file` that a name in a row matches; empty when it matches none. */
const enclosing = (name: string, file: string): string =>
  new RegExp(`^${name.replace('*', '[^/]+')}(?=/)`).exec(file)?.[0] ?? ''

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']*)'/g
const INCLUDE = /^#include "(.+)"/gm

const importsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(/\.tsx?$/.test(file) ? IMPORT : INCLUDE)].map((match) => match[1] ?? '')
