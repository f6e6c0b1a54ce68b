import { METALLB_GROUP, METALLB_KINDS, type MetalLbKind, SPECS, type SpecOf } from './kinds.ts'
import { BadManifests, type Manifest, shown } from './manifest.ts'
import { isUnset } from './parsed.ts'

/** A part of the configuration without an equivalent, or with another meaning here. */
export interface Note {
  readonly where: string
  /** `IPAddressPool lan`. */
  readonly about: string
  /** Null when it is about the whole object. */
  readonly field: string | null
  readonly text: string
}

/** A MetalLB object that was read. */
export interface Source<K extends MetalLbKind> {
  readonly manifest: Manifest
  readonly spec: SpecOf<K>
}

export interface Sources {
  readonly of: <K extends MetalLbKind>(kind: K) => readonly Source<K>[]
  readonly notes: readonly Note[]
}

/** Fields without an entry in `SPECS`, each with a note of its own. */
const TOLD: Readonly<Partial<Record<MetalLbKind, Readonly<Record<string, string>>>>> = {
  BGPPeer: {
    password:
      'the secret is not carried over: make a template with it through the native API (spout bgp-peer create --template) and name it in spec.template',
    passwordSecret:
      'Spout reads no Secret: make a template with it through the native API (spout bgp-peer create --template) and name it in spec.template',
    sourceAddress: 'no equivalent: a node speaks from its address on the fabric',
    routerID: 'no equivalent: it is made from the address of the node',
    vrf: 'no equivalent: nodes speak BGP in the root namespace',
    localASN: 'no equivalent: the AS is that of the node group',
    disableMP: 'no equivalent: families are always negotiated; deprecated by MetalLB too',
  },
  BFDProfile: {
    echoInterval: 'no equivalent: there is no echo mode',
    echoMode: 'no equivalent: there is no echo mode',
    passiveMode: 'no equivalent: both sides begin',
    minimumTtl: 'no equivalent: what spec.hops of the peer says counts',
  },
}

/** Sorts the manifests by kind. @throws BadManifests naming file, document and field of every error */
export function sourcesOf(manifests: readonly Manifest[]): Sources {
  const byKind = new Map<MetalLbKind, Source<MetalLbKind>[]>(METALLB_KINDS.map((kind) => [kind, []]))
  const notes: Note[] = []
  const bad: string[] = []
  const seen = new Map<string, string>()
  for (const manifest of manifests) {
    const { where, kind, name, apiVersion } = manifest
    const about = `${shown(kind)} ${name}`
    const whole = (text: string) => notes.push({ where, about, field: null, text })
    if (!apiVersion.startsWith(`${METALLB_GROUP}/`)) {
      whole('is no configuration of MetalLB: left out')
      continue
    }
    if (!Object.hasOwn(SPECS, kind)) {
      whole('has no equivalent: left out')
      continue
    }
    const before = seen.get(`${kind}/${name}`)
    seen.set(`${kind}/${name}`, where)
    if (before !== undefined) {
      bad.push(`${where} (${about}): metadata.name: is that of another one, in ${before}`)
      continue
    }
    const result = SPECS[kind as MetalLbKind].safeParse(manifest.spec)
    if (!result.success) {
      for (const { path, message } of result.error.issues)
        bad.push(`${where} (${about}): ${fieldOf(path)}: ${shown(message)}`)
      continue
    }
    byKind.get(kind as MetalLbKind)?.push({ manifest, spec: result.data as SpecOf<MetalLbKind> })
    const told = TOLD[kind as MetalLbKind] ?? {}
    for (const [field, value] of Object.entries(result.data))
      if (!Object.hasOwn(SPECS[kind as MetalLbKind].shape, field) && !isUnset(value))
        notes.push({ where, about, field: `spec.${shown(field)}`, text: told[field] ?? 'is not known here: left out' })
  }
  if (bad.length > 0) throw new BadManifests(bad)
  return { of: (kind) => (byKind.get(kind) ?? []) as never, notes }
}

export const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${shown(String(step))}`),
    'spec',
  )

/** A note about a field of an object. */
export const noteOf = ({ manifest }: { readonly manifest: Manifest }, field: string | null, text: string): Note => ({
  where: manifest.where,
  about: `${manifest.kind} ${manifest.name}`,
  field,
  text,
})
