import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The layer of every package: imports go downwards only (docs/design/0001-layers.md). */
const LAYERS: Readonly<Record<string, number>> = {
  net: 0,
  model: 1,
  plan: 2,
  runtime: 3,
  sys: 3,
  store: 4,
  client: 4,
  kube: 4,
  'octavia-client': 4,
  dns: 4,
  admission: 5,
  connector: 5,
  'custom-resources': 5,
  dataplane: 5,
  'kubernetes-manifests': 6,
  'metallb-import': 6,
  'octavia-conformance': 6,
  'octavia-import': 6,
  controllers: 6,
  server: 6,
  agent: 6,
  'app-control-plane': 7,
  'app-agent': 7,
  'app-cli': 7,
  'app-connector': 7,
  'app-dashboard': 7,
  testkit: 8,
}

const INTENT_LAYER = 6
const isIntent = (name: string): boolean => name.startsWith('intent-')
const layerOf = (name: string): number | undefined => (isIntent(name) ? INTENT_LAYER : LAYERS[name])

/** Pairs within a layer that may import, left from right. */
const SIBLINGS: ReadonlySet<string> = new Set(['sys<-runtime', 'store<-kube'])
/** Packages that the agent must not load, directly or indirectly, to stay small. It loads no intent either. */
const AGENT_NEVER = [
  'server',
  'store',
  'admission',
  'controllers',
  'kube',
  'connector',
  'custom-resources',
  'dns',
  'kubernetes-manifests',
  'metallb-import',
  'octavia-client',
  'octavia-conformance',
  'octavia-import',
]

const isTest = (file: string): boolean => /\.test\.ts$|conformance\.ts$|\/(bench|testing)\/|\.fixture\.ts$/.test(file)

/** Every import that violates the table, as `file: reason`. */
export function layerViolations(root: string): readonly string[] {
  const violations: string[] = []
  for (const manifest of globSync('{packages/*,packages/intents/*,apps/*}/package.json', { cwd: root })) {
    const directory = path.dirname(path.join(root, manifest))
    const own = (JSON.parse(readFileSync(path.join(root, manifest), 'utf8')) as { name: string }).name.slice(
      '@spout/'.length,
    )
    const layer = layerOf(own)
    if (layer === undefined) violations.push(`${manifest}: ${own} has no layer`)
    for (const file of globSync('**/*.{ts,tsx}', { cwd: directory, exclude: ['node_modules/**'] })) {
      if (isTest(`/${file}`)) continue
      for (const imported of importsOf(readFileSync(path.join(directory, file), 'utf8'))) {
        const other = layerOf(imported)
        const where = `${path.relative(root, path.join(directory, file))}: imports @spout/${imported}`
        if (other === undefined || layer === undefined) violations.push(`${where}, which has no layer`)
        else if (other >= layer && imported !== own && !SIBLINGS.has(`${own}<-${imported}`))
          violations.push(`${where} (layer ${other}) from layer ${layer}`)
        else if ((own === 'agent' || own === 'app-agent') && (isIntent(imported) || AGENT_NEVER.includes(imported)))
          violations.push(`${where}: the agent must not load it`)
      }
    }
  }
  return violations
}

const importsOf = (source: string): readonly string[] =>
  [...source.matchAll(/(?:from|import)\s*\(?\s*'@spout\/([a-z-]+)/g)].map((match) => match[1] ?? '')
