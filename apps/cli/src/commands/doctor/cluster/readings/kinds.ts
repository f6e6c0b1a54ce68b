import { customResourceDefinitions } from '@spout/custom-resources'
import { type Condition, CUSTOM_RESOURCE_DEFINITIONS, type CustomResourceDefinition } from '@spout/kube'
import { readInstallation } from '../installation.ts'
import type { ClusterPlace } from '../place.ts'

export interface InstalledKind {
  readonly name: string
  /** Null where the cluster has it not. */
  readonly installed: {
    /** Why the API server does not serve it; null if it does. */
    readonly unserved: string | null
    /** Fields of this command's definition that the cluster's lacks, such as `v1alpha1 spec.subnet`. */
    readonly lacking: readonly string[]
  } | null
}

/** Our kinds; none where nothing of ours needs them. */
export async function readKinds(place: ClusterPlace): Promise<readonly InstalledKind[]> {
  const present = new Map((await place.list(CUSTOM_RESOURCE_DEFINITIONS)).map((one) => [one.metadata.name, one]))
  const wanted = customResourceDefinitions()
  const needed = (await readInstallation(place)) !== null || wanted.some(({ metadata }) => present.has(metadata.name))
  if (!needed) return []
  return wanted.map((definition) => {
    const own = present.get(definition.metadata.name)
    return {
      name: definition.metadata.name,
      installed: own === undefined ? null : { unserved: unserved(own), lacking: lackingFields(definition, own) },
    }
  })
}

function unserved(definition: CustomResourceDefinition): string | null {
  const { conditions = [] } =
    (definition as { readonly status?: { readonly conditions?: readonly Condition[] } }).status ?? {}
  const wrong = conditions.find(
    ({ type, status }) => ['NamesAccepted', 'Established'].includes(type) && status !== 'True',
  )
  return wrong === undefined ? null : `${wrong.reason}: ${wrong.message}`
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
}
interface Version {
  readonly name: string
  readonly schema?: { readonly openAPIV3Schema?: Schema }
}

/** What the cluster's definition lacks, in the order of ours. */
export function lackingFields(ours: CustomResourceDefinition, theirs: CustomResourceDefinition): readonly string[] {
  const has = new Set(fieldsOf(theirs))
  return fieldsOf(ours).filter((field) => !has.has(field))
}

const fieldsOf = ({ spec }: CustomResourceDefinition): readonly string[] =>
  ((spec['versions'] ?? []) as readonly Version[]).flatMap(({ name, schema }) => [
    name,
    ...pathsOf(schema?.openAPIV3Schema ?? {}).map((path) => `${name} ${path}`),
  ])

const pathsOf = ({ properties = {}, items, additionalProperties }: Schema): readonly string[] => [
  ...Object.entries(properties).flatMap(([name, inner]) => [name, ...pathsOf(inner).map((path) => `${name}.${path}`)]),
  ...[items, additionalProperties].flatMap((inner) => (inner === undefined ? [] : pathsOf(inner))),
]
